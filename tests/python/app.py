"""Handlers for the worker processes of the tests. `gate` holds a handler until the test opens it."""

from __future__ import annotations

import os
import time

import psycopg
from pgclaim import HeldJob, Registry

registry = Registry()


def note(job: HeldJob, what: str) -> None:
    with psycopg.connect(os.environ["APP_DSN"], autocommit=True) as conn:
        conn.execute("insert into effect (job, what) values (%s, %s)", [job.id, what])


@registry.handler("plain")
def plain(job: HeldJob) -> None:
    with job.transaction() as conn:
        conn.execute("insert into effect (job, what) values (%s, 'done')", [job.id])
        job.complete(conn=conn)


@registry.handler("gated")
def gated(job: HeldJob) -> None:
    note(job, "started")
    with psycopg.connect(os.environ["APP_DSN"], autocommit=True) as conn:
        while conn.execute("select from gate").fetchone() is None:
            time.sleep(0.02)
    plain(job)
