"""Not-yet-ingested episodes: each subsystem replays a session's episodes in order, from where it stands, and sees each of them once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import psycopg
from pgclaim import HeldJob, OutboxRow, Snooze, client

from . import log, vectors
from .producer import SEGMENT, SEMANTIC, note_messages, sets_of
from .registry import registry

BATCH = 20

Row = tuple[int, str, str, str]
"""Episode, session's name, speaker, text."""


@registry.handler(SEMANTIC)
def replay_semantic(job: HeldJob) -> None:
    """Episodes become messages of their sets. Reading, writing and advancing are one transaction."""
    with log.refusals(job), job.transaction() as conn:
        rows = client.read(conn, job.id, job.token, BATCH)
        found = episodes(conn, rows) if rows and lives(conn, job) else []
        note_messages(conn, [(set_id, episode) for episode, session, speaker, _ in found for set_id in sets_of(session, speaker)])
        go_on(conn, job, rows, written=bool(found))


@registry.handler(SEGMENT)
def replay_segment(job: HeldJob) -> None:
    """Episodes become segments, their vectors go to the vector store: a call between two transactions."""
    with job.pool.connection() as conn, conn.transaction():
        rows = client.read(conn, job.id, job.token, BATCH)
        state = conn.execute("select name, state from collection where session_id = %s", [job.key]).fetchone()
        found = episodes(conn, rows) if state is not None and state[1] == "active" else []
    if state is not None and state[1] == "creating":
        raise Snooze(0.2)  # the session is being provisioned, or was deleted before it was
    if found:
        assert state is not None
        vectors.put(state[0], {episode: digest(text) for episode, _, _, text in found}, worker=job.worker, epoch=job.epoch)
    with log.refusals(job), job.transaction() as conn:
        written = bool(found) and lives(conn, job)
        if written:
            for episode, _, _, text in found:
                conn.execute(
                    "insert into segment (session_id, episode_id, digest, token) values (%s, %s, %s, %s)",
                    [job.key, episode, digest(text), job.token],
                )
        go_on(conn, job, rows, written=written)


def go_on(conn: psycopg.Connection[Any], job: HeldJob, rows: Sequence[OutboxRow], *, written: bool) -> None:
    """Move the watermark in the transaction of the writes, and say whether there is more."""
    for row in rows:
        conn.execute(
            "insert into applied (kind, session_id, seq, written, token) values (%s, %s, %s, %s, %s)",
            [job.kind, job.key, row.seq, written, job.token],
        )
    if rows and client.advance(conn, job.id, job.token, rows[-1].seq):
        job.release(progress=True, conn=conn)
    else:
        job.complete(conn=conn)


def lives(conn: psycopg.Connection[Any], job: HeldJob) -> bool:
    """Does the session live, and will it until this transaction ends?"""
    return conn.execute("select from session where id = %s and status <> 'deleting' for key share", [job.key]).fetchone() is not None


def episodes(conn: psycopg.Connection[Any], rows: Sequence[OutboxRow]) -> list[Row]:
    """The episodes that the rows speak of, in their order; none if the session is gone."""
    return conn.execute(
        "select e.id, s.name, e.speaker, e.text from unnest(%s::bigint[]) with ordinality as r (id, place)"
        " join episode as e on e.id = r.id join session as s on s.id = e.session_id order by r.place",
        [[row.payload["episode"] for row in rows]],
    ).fetchall()


def digest(text: str) -> str:
    """Where the vector would stand."""
    return hashlib.md5(text.encode()).hexdigest()
