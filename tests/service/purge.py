"""What deleted sessions leave behind: their segments go batch by batch, their collection goes with one remote call."""

from __future__ import annotations

import logging
import threading
from typing import Any

import psycopg
from pgclaim import HeldJob, PgclaimError, client

from . import log, vectors
from .registry import registry
from .sessions import DELETE, PURGE_COLLECTION, PURGE_SEGMENTS

BATCH = 1000


def purge_segments(conn: psycopg.Connection[Any], batch: int = BATCH) -> bool:
    """One batch of one session in one transaction, whose lock is the claim; False if there was nothing to do."""
    with conn.transaction():
        found = client.claim_tx(conn, [PURGE_SEGMENTS])
        if not found:
            return False
        job = found[0]
        try:
            with conn.transaction():
                more = delete_batch(conn, int(str(job.key)), batch, job.token)
        except psycopg.Error as error:
            client.fail(conn, job.id, job.token, f"{type(error).__name__}: {error}")
            return True
        if more:
            client.release(conn, job.id, job.token, progress=True)
        else:
            client.enqueue(conn, DELETE, job.key, on_conflict="earliest")
            client.complete(conn, job.id, job.token)
    return True


def delete_batch(conn: psycopg.Connection[Any], session: int, batch: int, token: Any) -> bool:
    """Delete so many segments; are there more?"""
    gone = conn.execute(
        "delete from segment where id in (select id from segment where session_id = %s order by id limit %s)", [session, batch]
    ).rowcount
    if gone:
        conn.execute(
            "insert into purge_batch (session_id, rows, most, token, written_at) values (%s, %s, %s, %s, jobs.clock())",
            [session, gone, batch, token],
        )
    return conn.execute("select from segment where session_id = %s limit 1", [session]).fetchone() is not None


class Purger(threading.Thread):
    """Purges segments until it is stopped, over a connection of its own."""

    def __init__(self, dsn: str, name: str, *, poll: float = 0.5, batch: int = BATCH) -> None:
        super().__init__(name="purger", daemon=True)
        self._dsn, self._label, self._poll, self._batch = dsn, name, poll, batch
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        while not self._stopping.is_set():
            try:
                with psycopg.connect(self._dsn, autocommit=True, application_name=f"pgclaim {self._label} purger") as conn:
                    while not self._stopping.is_set():
                        if not purge_segments(conn, self._batch):
                            self._stopping.wait(self._poll)
            except (psycopg.Error, PgclaimError) as error:
                logging.getLogger(__name__).warning("purger: trying again: %s", error)
                self._stopping.wait(self._poll)


@registry.handler(PURGE_COLLECTION)
def purge_collection(job: HeldJob) -> None:
    """Drop a collection of the vector store. The remote call stands between two transactions, never in one."""
    name = str(job.key)
    with job.pool.connection() as conn:
        row = conn.execute("select session_id from collection where name = %s and state = 'deleted'", [name]).fetchone()
    if row is None:
        return
    vectors.drop(name, worker=job.worker, epoch=job.epoch)
    with log.refusals(job), job.transaction() as conn:
        conn.execute("delete from collection where name = %s", [name])
        client.enqueue(conn, DELETE, str(row[0]), on_conflict="earliest")
        log.step(conn, job, "dropped")
        job.complete(conn=conn)
