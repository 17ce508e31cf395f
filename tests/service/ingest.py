"""Semantic ingestion: one claim per set, five messages a round, one model call per message, one fenced transaction."""

from __future__ import annotations

from typing import Any

import psycopg
from pgclaim import HeldJob, LostClaim

from . import llm
from .llm import Feature
from .producer import KIND
from .registry import registry

ROUND = 5

Message = tuple[int, str]
Read = tuple[int, Feature | None, str | None]
"""Episode, what the model made of it, and why it was skipped."""


@registry.handler(KIND)
def ingest(job: HeldJob) -> None:
    """One round. No transaction is open while the model works; the whole round is computed before anything is written."""
    set_id = str(job.key)
    with job.pool.connection() as conn:
        conn.execute(
            "insert into attempt (set_id, token, epoch, worker, claimed_at) values (%s, %s, %s, %s, %s)",
            [set_id, job.token, job.epoch, job.worker, job.claimed_at],
        )
        messages = waiting(conn, set_id)
    round_ = [read(job, episode, text) for episode, text in messages]
    try:
        with job.transaction() as conn:
            write(conn, job, round_)
            if waiting(conn, set_id, 1):
                job.release(progress=True, conn=conn)
            else:
                job.complete(conn=conn)
    except LostClaim as error:
        with job.pool.connection() as conn:
            conn.execute(
                "insert into refused_write (set_id, token, epoch, worker, messages, reason, refused_at)"
                " values (%s, %s, %s, %s, %s, %s, jobs.clock())",
                [set_id, job.token, job.epoch, job.worker, len(round_), str(error)],
            )
        raise


def waiting(conn: psycopg.Connection[Any], set_id: str, limit: int = ROUND) -> list[Message]:
    """The set's next messages."""
    return conn.execute(
        "select m.episode_id, e.text from semantic_message as m join episode as e on e.id = m.episode_id"
        " where m.set_id = %s and m.ingested_at is null order by m.episode_id limit %s",
        [set_id, limit],
    ).fetchall()


def read(job: HeldJob, episode: int, text: str) -> Read:
    """Ask the model. A message it can never read is skipped; any other error fails the attempt, which is tried again."""
    try:
        return (
            episode,
            llm.understand(str(job.key), episode, text, worker=job.worker, epoch=job.epoch),
            None,
        )
    except llm.TooLong as error:
        return episode, None, f"too long: {error}"


def write(conn: psycopg.Connection[Any], job: HeldJob, round_: list[Read]) -> None:
    """Features, marks and the log of a round. A message that was forgotten meanwhile gets no feature."""
    for episode, feature, skipped in round_:
        still_there = conn.execute(
            "update semantic_message set ingested_at = jobs.clock(), skipped = %s where set_id = %s and episode_id = %s",
            [skipped, job.key, episode],
        ).rowcount
        if still_there and feature is not None:
            conn.execute(
                "insert into feature (set_id, episode_id, digest, words, token) values (%s, %s, %s, %s, %s)",
                [job.key, episode, feature.digest, feature.words, job.token],
            )
    conn.execute(
        "insert into fenced_write (set_id, token, epoch, worker, messages, claimed_at, written_at)"
        " values (%s, %s, %s, %s, %s, %s, jobs.clock())",
        [job.key, job.token, job.epoch, job.worker, len(round_), job.claimed_at],
    )
