"""Sessions come and go: jobs named by the id of this life of the session, so that a late delete cannot eat a namesake."""

from __future__ import annotations

from typing import Any

import psycopg
from pgclaim import HeldJob, Snooze, client

from . import log, vectors
from .registry import registry

PROVISION = "session.provision"
DELETE = "session.delete"
PURGE_SEGMENTS = "segment.purge"
PURGE_COLLECTION = "collection.purge"

PATIENCE = 5
"""Seconds after which a delete looks again for itself whether the purges are done; the last of them wakes it."""


@registry.handler(PROVISION)
def provision(job: HeldJob) -> None:
    """Make the session's collection in the vector store, then say that the session is ready."""
    session = int(str(job.key))
    with job.pool.connection() as conn:
        row = conn.execute(
            "select c.name from session as s join collection as c on c.session_id = s.id where s.id = %s and s.status = 'provisioning'",
            [session],
        ).fetchone()
    if row is None:
        return  # done by an attempt that did not live to say so, or the session is going
    vectors.create(row[0], worker=job.worker, epoch=job.epoch)
    with log.refusals(job), job.transaction() as conn:
        if status(conn, session) in ("provisioning", "ready"):
            conn.execute("update session set status = 'ready' where id = %s", [session])
            conn.execute("update collection set state = 'active' where session_id = %s", [session])
            log.step(conn, job, "provisioned")


@registry.handler(DELETE)
def delete(job: HeldJob) -> None:
    """Stop the provision, forget the messages, let the purges run, and take the session itself away when all is gone."""
    session = int(str(job.key))
    with job.pool.connection() as conn:
        if client.cancel_key(conn, PROVISION, str(session)) == "busy":
            raise Snooze(0.1)  # it is writing right now
    with log.refusals(job), job.transaction() as conn:
        row = conn.execute("select name, state from collection where session_id = %s for update", [session]).fetchone()
        if row is not None and row[1] != "deleted":
            forget_messages(conn, session)
            conn.execute("update collection set state = 'deleted' where session_id = %s", [session])
            client.enqueue(conn, PURGE_COLLECTION, row[0])
            client.enqueue(conn, PURGE_SEGMENTS, str(session))
            log.step(conn, job, "forgotten")
            job.release(PATIENCE, progress=True, conn=conn)
        elif row is not None or conn.execute("select from segment where session_id = %s limit 1", [session]).fetchone():
            job.release(PATIENCE, progress=True, conn=conn)
        else:
            conn.execute("delete from episode where session_id = %s", [session])
            if conn.execute("delete from session where id = %s", [session]).rowcount:
                log.step(conn, job, "deleted")
            job.complete(conn=conn)


def status(conn: psycopg.Connection[Any], session: int) -> str | None:
    """What the session is, and will be until this transaction ends; None: it is gone."""
    row = conn.execute("select status from session where id = %s for no key update", [session]).fetchone()
    return None if row is None else str(row[0])


def forget_messages(conn: psycopg.Connection[Any], session: int) -> None:
    """Semantic memory of the session. Messages are locked in the order in which ingestion does, then their features are seen."""
    conn.execute(
        "delete from semantic_message as d using ("
        " select m.set_id, m.episode_id from semantic_message as m join episode as e on e.id = m.episode_id"
        " where e.session_id = %s order by m.set_id, m.episode_id for update of m) as x"
        " where d.set_id = x.set_id and d.episode_id = x.episode_id",
        [session],
    )
    conn.execute("delete from feature where episode_id in (select id from episode where session_id = %s)", [session])
