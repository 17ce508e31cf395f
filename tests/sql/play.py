"""Several sessions on one stage: each has a connection and a thread of its own, the test says who acts when."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.pq import ExecStatus
from psycopg.rows import namedtuple_row
from psycopg.types.json import Jsonb

from tests.tools.database import Database

LIMIT = 60.0
IMPATIENT = "-c lock_timeout=5s -c statement_timeout=60s"
PATIENT = "-c lock_timeout=0 -c statement_timeout=120s"
ARRAYS = {"ids": "bigint[]", "tokens": "uuid[]", "kinds": "text[]", "keys": "text[]", "payloads": "jsonb[]", "run_after": "timestamptz[]"}


def wait_for(condition: Callable[[], Any], what: str = "the condition") -> Any:
    """The first true value of the condition; fails after a minute."""
    end = time.monotonic() + LIMIT
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"{what} did not come true within {LIMIT:.0f} s"
        time.sleep(0.02)


@contextmanager
def refused(sqlstate: str, match: str | None = None) -> Iterator[pytest.ExceptionInfo[psycopg.Error]]:
    """The block must raise an error of this SQLSTATE."""
    with pytest.raises(psycopg.Error, match=match) as caught:
        yield caught
    assert caught.value.sqlstate == sqlstate, f"{caught.value.sqlstate}: {caught.value}"


class Pending:
    """A statement that was sent and whose answer is not awaited yet."""

    def __init__(self, session: Session, future: Future[list[Any]]) -> None:
        self.session = session
        self.future = future

    def waiting(self) -> Pending:
        """Return when the statement waits for a lock of another session; fail if it answers instead."""

        def blocked() -> bool:
            assert not self.future.done(), f"did not wait but answered: {self.future}, {self.future.result()}"
            return bool(self.session.db.query("select cardinality(pg_blocking_pids(%s)) > 0", (self.session.pid,))[0][0])

        wait_for(blocked, "waiting for a lock")
        return self

    def answered_or_waiting(self) -> Pending:
        """Return when the statement has its answer or waits for another session."""
        blocked = "select cardinality(pg_blocking_pids(%s)) > 0"
        wait_for(lambda: self.future.done() or self.session.db.query(blocked, (self.session.pid,))[0][0], "an answer")
        return self

    def result(self, timeout: float = LIMIT) -> list[Any]:
        return self.future.result(timeout)


class Session:
    """A connection with a thread of its own. It waits at most 5 s for a lock, unless it is patient."""

    def __init__(self, db: Database, *, patient: bool = False, user: str | None = None, **settings: str) -> None:
        self.db = db
        login = {} if user is None else {"user": user}
        self.connection: psycopg.Connection[Any] = db.connect(
            options=PATIENT if patient else IMPATIENT, row_factory=namedtuple_row, **login
        )
        self.pid = self.connection.info.backend_pid
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._last: Future[list[Any]] | None = None
        for name, value in settings.items():
            self.run("select set_config(%s, %s, false)", name, value)

    def start(self, sql: str, *args: Any) -> Pending:
        self._last = self._thread.submit(self._execute, sql, args)
        return Pending(self, self._last)

    def run(self, sql: str, *args: Any) -> list[Any]:
        return self.start(sql, *args).result(130)

    def value(self, sql: str, *args: Any) -> Any:
        rows = self.run(sql, *args)
        assert len(rows) == 1, rows
        return rows[0][0]

    def _execute(self, sql: str, args: Sequence[Any]) -> list[Any]:
        cursor = self.connection.execute(sql.encode(), args or None)
        if cursor.pgresult is None or cursor.pgresult.status != ExecStatus.TUPLES_OK:
            return []
        assert cursor.pgresult.nfields, f"rows without a column cannot be counted: {sql}"
        return cursor.fetchall()

    def begin(self, isolation: str = "read committed") -> None:
        self.run(f"begin isolation level {isolation}")

    def commit(self) -> None:
        self.run("commit")

    def rollback(self) -> None:
        self.run("rollback")

    def savepoint(self, name: str) -> None:
        self.run(f"savepoint {name}")

    def rollback_to(self, name: str) -> None:
        self.run(f"rollback to savepoint {name}")

    def die(self) -> None:
        """The server ends this session, as it does when its client is gone."""
        self.db.query("select pg_terminate_backend(%s)", (self.pid,))
        wait_for(lambda: not self.db.query("select 1 from pg_stat_activity where pid = %s", (self.pid,)), "the end of a session")
        self.close()

    def close(self) -> None:
        if self._last is not None and not self._last.done():
            self.connection.cancel_safe()
        self._thread.shutdown(wait=True)
        self.connection.close()

    # The functions of the schema, by name.

    def starting(self, function: str, **named: Any) -> Pending:
        marks = []
        for name, value in named.items():
            marks.append(f"{name} => %s::{ARRAYS[name]}" if isinstance(value, list) else f"{name} => %s")
        values = [Jsonb(value) if isinstance(value, dict) else value for value in named.values()]
        return self.start(f"select * from jobs.{function}({', '.join(marks)})", *values)

    def call(self, function: str, **named: Any) -> list[Any]:
        return self.starting(function, **named).result(130)

    def one(self, function: str, **named: Any) -> Any:
        rows = self.call(function, **named)
        assert len(rows) == 1, rows
        return rows[0]

    def enqueue(self, kind: str, key: str | None = None, **named: Any) -> Any:
        """(id, outcome)"""
        return self.one("enqueue", kind=kind, key=key, **named)

    def claim(self, *kinds: str, **named: Any) -> list[Any]:
        return self.call("claim", **({"kinds": list(kinds)} if kinds else {}), **named)

    def take(self, *kinds: str, **named: Any) -> Any:
        """Claim one job that must be there."""
        jobs = self.claim(*kinds, **named)
        assert len(jobs) == 1, jobs
        return jobs[0]

    def complete(self, job: Any, **named: Any) -> Any:
        return self.one("complete", id=job.id, token=job.claimed_by, **named)[0]

    def fail(self, job: Any, error: str = "it broke", **named: Any) -> Any:
        """(state, run_after)"""
        return self.one("fail", id=job.id, token=job.claimed_by, error=error, **named)

    def release(self, job: Any, **named: Any) -> None:
        self.one("release", id=job.id, token=job.claimed_by, **named)

    def extend(self, job: Any, lease: str | None = None) -> Any:
        return self.one("extend", id=job.id, token=job.claimed_by, lease=lease)[0]

    def fence(self, job: Any) -> None:
        self.one("fence", id=job.id, token=job.claimed_by)

    def holds(self, job: Any) -> Any:
        return self.one("holds", id=job.id, token=job.claimed_by)[0]

    def complete_many(self, jobs: Sequence[Any]) -> list[Any]:
        return self.call("complete_many", ids=[job.id for job in jobs], tokens=[job.claimed_by for job in jobs])

    def row(self, job: Any) -> str | None:
        """The job's whole row as text, None if it is gone."""
        rows = self.run("select j::text from jobs.job as j where id = %s", job.id)
        return rows[0][0] if rows else None

    def jobs(self, kind: str) -> list[Any]:
        return self.run("select * from jobs.job where kind = %s order by id", kind)


def run_all(db: Database, worker: Session, *kinds: str) -> list[Any]:
    """Claim and complete until nothing is left, now or later (the clock is moved over every backoff and lease)."""
    ran: list[Any] = []
    idle = 0
    while idle < 2:
        jobs = worker.claim(*kinds, batch=1000)
        if not jobs:
            idle += 1
            db.advance(7200)
            continue
        idle = 0
        assert all(answer.completed for answer in worker.complete_many(jobs))
        ran += jobs
        assert len(ran) < 20_000, "jobs run again and again"
    return ran
