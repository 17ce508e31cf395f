"""A lock is a live job: whoever has claimed it holds the lock, until it ends or its lease does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from pgclaim import AlreadyLive, Job, LostClaim, client

KIND = "lock"


@contextmanager
def lock(conn: psycopg.Connection[Any], name: str, lease: float = 60, holder: str | None = None) -> Iterator[Job | None]:
    """Hold the lock `name` for the block, or yield None: another has it. Never waits; the connection is in autocommit mode.

    Who holds it writes in transactions that begin with `client.fence(conn, job.id, job.token)`, and goes on past the lease
    with `client.extend`.
    """
    with suppress(AlreadyLive):
        client.enqueue(conn, KIND, name, on_conflict="raise")
    held = next(iter(client.claim_key(conn, KIND, name, lease, holder)), None)
    try:
        yield held
    finally:
        if held is not None:
            with suppress(LostClaim):
                client.complete(conn, held.id, held.token)
