"""Waiting for conditions, workers in threads and in processes, and the table where handlers leave their traces."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pgclaim import Registry, Worker

HERE = Path(__file__).parent
LIMIT = 60.0


def wait_for(condition: Callable[[], Any], what: str = "the condition") -> Any:
    """The condition's first true value; fails after a minute."""
    end = time.monotonic() + LIMIT
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"{what} did not come true within {LIMIT:.0f} s"
        time.sleep(0.02)


def value(conn: Any, sql: str, *args: Any) -> Any:
    row = conn.execute(sql, args or None).fetchone()
    return None if row is None else row[0]


def rows(conn: Any, sql: str, *args: Any) -> list[Any]:
    return conn.execute(sql, args or None).fetchall()


def effects(db: Any) -> Any:
    """A connection, and the table `effect(job, what)` that handlers write."""
    conn = db.connect()
    conn.execute("create table effect (id bigint generated always as identity, job bigint, what text)")
    conn.execute("create table gate (name text primary key)")
    return conn


@contextmanager
def working(registry: Registry, dsn: str, **options: Any) -> Iterator[Worker]:
    """A worker in a thread of this process; stopped at the end, whatever its handlers do."""
    worker = Worker(registry, dsn, **{"poll": 0.05, "grace": 0, **options})
    died: list[BaseException] = []

    def run() -> None:
        try:
            worker.run()
        except BaseException as error:
            died.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield worker
    finally:
        worker.stop()
        thread.join(LIMIT)
    assert not thread.is_alive(), "the worker did not stop"
    assert not died, f"the worker died: {died}"


def environment() -> dict[str, str]:
    return {key: text for key, text in os.environ.items() if not key.startswith("PG") and key != "DATABASE_URL"}


def cli(*args: str, **extra: str) -> subprocess.CompletedProcess[str]:
    """`python -m pgclaim …`, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "pgclaim", *args],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        env=environment() | extra,
    )


class WorkerProcess:
    """`pgclaim work app:registry` in a process of its own."""

    def __init__(self, db: Any, *options: str) -> None:
        env = environment() | {"APP_DSN": db.dsn, "PYTHONPATH": str(HERE)}
        command = [
            sys.executable,
            "-m",
            "pgclaim",
            "work",
            "app:registry",
            "--dsn",
            db.dsn,
            "--poll",
            "0.05",
            *options,
        ]
        self._process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self) -> tuple[int, str]:
        """Exit code and what it wrote."""
        _, text = self._process.communicate(timeout=LIMIT)
        return self._process.returncode, text

    def alive(self) -> bool:
        return self._process.poll() is None

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.alive():
            self._process.kill()
        self._process.communicate()
