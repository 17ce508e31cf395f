"""The service in one process, for tests that say who acts when: claims are taken and handlers called by hand, nothing happens by itself."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
from pgclaim import Fail, HeldJob, LostClaim, Snooze, client
from psycopg_pool import ConnectionPool

from tests.tools.database import OPTIONS, Database

from . import producer, purge
from .__main__ import CONSUMERS
from .registry import registry
from .sessions import PURGE_SEGMENTS
from .standin import StandIn

LEASE = 30.0
PATIENT = "-c lock_timeout=60s -c statement_timeout=120s"


def wait_for(condition: Callable[[], Any], what: str = "the condition") -> Any:
    """The condition's first true value; fails after a minute."""
    end = time.monotonic() + 60
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"{what} did not come true within a minute"
        time.sleep(0.02)


class Stage:
    def __init__(self, db: Database, model: StandIn, pool: Any) -> None:
        self.db, self.model, self.pool = db, model, pool
        self.conn = db.connect(options=f"{OPTIONS} -c jit=off")
        self._threads = ThreadPoolExecutor(4)

    def value(self, statement: str, *arguments: Any) -> Any:
        row = self.conn.execute(statement.encode(), arguments or None).fetchone()
        return row[0] if row else None

    def rows(self, statement: str, *arguments: Any) -> list[Any]:
        return self.conn.execute(statement.encode(), arguments or None).fetchall()

    def claim(self, kind: str, key: str | int | None = None, worker: str = "replica") -> HeldJob:
        """Take one job that must be there."""
        if key is None:
            found = client.claim(self.conn, [kind], worker=worker)
        else:
            found = client.claim_key(self.conn, kind, str(key), worker=worker)
        assert len(found) == 1, (kind, key, found)
        return self.held(found[0])

    def held(self, job: Any) -> HeldJob:
        held = HeldJob(**vars(job))
        held.pool = self.pool
        return held

    def run(self, job: HeldJob) -> str:
        """Run the handler of a claimed job and settle it, as a worker does."""
        try:
            registry.handlers[job.kind].function(job)
            if job.settled:
                return "settled"
            client.complete(self.conn, job.id, job.token)
            return "completed"
        except Snooze as snooze:
            client.release(self.conn, job.id, job.token, snooze.delay, snooze.progress)
            return "released"
        except LostClaim:
            return "lost"
        except Exception as error:
            final = isinstance(error, Fail) and error.final
            try:
                client.fail(self.conn, job.id, job.token, f"{type(error).__name__}: {error}", final=final)
            except LostClaim:
                return "lost"
            return "failed"

    def start(self, job: HeldJob) -> Future[str]:
        """Run it beside the test."""

        def run() -> str:
            other = Stage.__new__(Stage)
            other.db, other.model, other.pool = self.db, self.model, self.pool
            with psycopg.connect(self.db.dsn, autocommit=True, options=PATIENT) as other.conn:
                return other.run(job)

        return self._threads.submit(run)

    def purge(self, batch: int = 3) -> int:
        """Segment batches until none is due; how many."""
        batches = 0
        while purge.purge_segments(self.conn, batch):
            batches += 1
        return batches

    def work(self, turns: int = 200, worker: str = "replica", but: tuple[str, ...] = ()) -> None:
        """Do all that is due, move the clock over every wait, and go on until there is no job, or for so many turns."""
        kinds = [kind for kind in registry.handlers if kind not in but]
        for _ in range(turns):
            jobs = client.claim(self.conn, kinds, 100, worker=worker)
            for job in jobs:
                self.run(self.held(job))
            batches = self.purge()
            if not jobs and not batches:
                if client.next_due(self.conn, [*kinds, PURGE_SEGMENTS]) is None and not self.value("select 1 from jobs.trigger limit 1"):
                    return
                self.db.advance(3)

    def stored(self) -> dict[str, dict[int, str]]:
        """What stands in the vector store."""
        return {name: dict(c.vectors) for name, c in self.model.collections.items() if c.made or c.vectors}

    def close(self) -> None:
        self._threads.shutdown(wait=True)


@contextmanager
def staged(db: Database, monkeypatch: Any, **model: Any) -> Iterator[Stage]:
    """The service on a database of the test's own, whose clock stands still unless it is moved. No remote call fails by itself."""
    assert CONSUMERS
    options = {"latency": 0, "failing": 0, "hanging": 0} | model
    with (
        StandIn(**options) as remote,
        ConnectionPool(db.dsn, min_size=0, max_size=8, kwargs={"autocommit": True, "options": PATIENT}, open=True) as pool,
    ):
        for name, value in remote.environment.items():
            monkeypatch.setitem(os.environ, name, value)
        db.stop_clock()
        stage = Stage(db, remote, pool)
        producer.install(stage.conn, lease=LEASE)
        try:
            yield stage
        finally:
            remote.let_go()
            stage.close()
