"""Worker processes, and what is done to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from types import TracebackType
from typing import IO, Any

import psycopg

from tests.tools.database import ROOT


class Replica:
    """`pgclaim work tests.service.ingest:registry` in a process of its own."""

    def __init__(self, name: str, dsn: str, llm_url: str, *, concurrency: int) -> None:
        self.name = name
        self.state = "working"
        self._log: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115
        clean = {key: text for key, text in os.environ.items() if not key.startswith("PG") and key != "DATABASE_URL"}
        no_proxy = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        options = [
            "--dsn",
            dsn,
            "--name",
            name,
            "--concurrency",
            str(concurrency),
            "--poll",
            "0.2",
            "--grace",
            "5",
        ]
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "pgclaim",
                "work",
                "tests.service.ingest:registry",
                *options,
            ],
            cwd=ROOT,
            env=clean | no_proxy | {"LLM_URL": llm_url},
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    def backends(self, conn: psycopg.Connection[Any]) -> list[str]:
        """What its sessions are doing."""
        rows = conn.execute(
            "select coalesce(state, '') from pg_stat_activity where application_name = %s and datname = current_database()",
            [f"pgclaim {self.name}"],
        )
        return [row[0] for row in rows]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.state = "killed"

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        self.state = "paused"

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.state = "working"

    @property
    def died(self) -> bool:
        """Ended by itself."""
        return self.state != "killed" and self.process.poll() is not None

    @property
    def output(self) -> str:
        self._log.seek(0)
        return self._log.read()


class Replicas(list[Replica]):
    """Those of one run; ended with it, whatever state they are in."""

    def __enter__(self) -> Replicas:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for replica in self:
            if replica.process.poll() is None:
                if replica.state == "paused":
                    replica.go_on()
                replica.process.terminate()
        for replica in self:
            try:
                replica.process.wait(30)
            except subprocess.TimeoutExpired:
                replica.process.kill()
                replica.process.wait()
