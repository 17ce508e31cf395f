"""What the consumers note for the checks: each fenced transaction, and each result that came too late."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from pgclaim import HeldJob, LostClaim


def step(conn: psycopg.Connection[Any], job: HeldJob, what: str) -> None:
    """Note a fenced transaction, in it."""
    conn.execute(
        "insert into step (kind, key, what, token, epoch, worker, claimed_at, written_at)"
        " values (%s, %s, %s, %s, %s, %s, %s, jobs.clock())",
        [job.kind, job.key, what, job.token, job.epoch, job.worker, job.claimed_at],
    )


@contextmanager
def refusals(job: HeldJob) -> Iterator[None]:
    """Note that the block was refused because the claim is lost."""
    try:
        yield
    except LostClaim as error:
        with job.pool.connection() as conn:
            conn.execute(
                "insert into refused_step (kind, key, token, epoch, worker, reason, refused_at)"
                " values (%s, %s, %s, %s, %s, %s, jobs.clock())",
                [job.kind, job.key, job.token, job.epoch, job.worker, str(error)],
            )
        raise
