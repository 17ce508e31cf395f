"""What the service does on request: each function is one transaction, or joins the caller's; jobs commit with the rows they are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import psycopg
from pgclaim import client

from .sessions import DELETE, PROVISION, PURGE_COLLECTION, PURGE_SEGMENTS

KIND = "semantic.ingest"
DEBOUNCE = 0.1
"""Seconds that a set waits for more messages."""

KINDS = (KIND, PROVISION, DELETE, PURGE_COLLECTION, PURGE_SEGMENTS)


@dataclass(frozen=True)
class Episode:
    session: str
    position: int
    speaker: str
    text: str
    at: str | None = None

    @property
    def sets(self) -> tuple[str, str, str]:
        """The sets that this episode is a message of."""
        return (
            f"conversation/{self.session.split('/')[0]}",
            f"speaker/{self.speaker}",
            "organisation",
        )


class NoSession(Exception):
    """There is no such session, or it is going."""


def install(conn: psycopg.Connection[Any], *, lease: float) -> None:
    """Make the service's tables and say how its jobs are to be treated."""
    with conn.transaction():
        conn.execute(files(__package__).joinpath("tables.sql").read_bytes())
        for kind in KINDS:
            client.define(conn, kind, lease=lease, backoff_base=0.2, backoff_max=2)


def create_session(conn: psycopg.Connection[Any], name: str) -> int:
    """A new session; the id of this life of it."""
    with conn.transaction():
        row = conn.execute("insert into session (name, status) values (%s, 'provisioning') returning id", [name]).fetchone()
        assert row is not None
        session = int(row[0])
        conn.execute("insert into collection (name, session_id, state) values (%s, %s, 'creating')", [f"session-{session}", session])
        conn.execute("insert into session_log (session_id, name) values (%s, %s)", [session, name])
        client.enqueue(conn, PROVISION, str(session))
    return session


def delete_session(conn: psycopg.Connection[Any], name: str) -> int:
    """From now on the session takes no episode, and its name is free; the rest is done by jobs."""
    with conn.transaction():
        session = find_session(conn, name, "for update")
        conn.execute("update session set status = 'deleting' where id = %s", [session])
        conn.execute("update session_log set deleted = true where session_id = %s", [session])
        client.enqueue(conn, DELETE, str(session))
    return session


def find_session(conn: psycopg.Connection[Any], name: str, lock: str) -> int:
    """The id of the life that this name has now."""
    row = conn.execute(f"select id from session where name = %s and status <> 'deleting' {lock}".encode(), [name]).fetchone()
    if row is None:
        raise NoSession(name)
    return int(row[0])


def add_episodes(conn: psycopg.Connection[Any], episodes: Sequence[Episode]) -> None:
    """Store episodes and trigger the sets they belong to, in one transaction. A session that is not there is made."""
    with conn.transaction():
        for episode in episodes:
            conn.execute("insert into session (name, status) values (%s, 'ready') on conflict do nothing", [episode.session])
            row = conn.execute(
                "insert into episode (session_id, position, speaker, text, said_at) values (%s, %s, %s, %s, %s) returning id",
                [find_session(conn, episode.session, "for key share"), episode.position, episode.speaker, episode.text, episode.at],
            ).fetchone()
            assert row is not None
            note_messages(conn, [(set_id, row[0]) for set_id in episode.sets])


def note_messages(conn: psycopg.Connection[Any], messages: Sequence[tuple[str, int]]) -> None:
    """Messages of sets, and the jobs that will read them.

    "earliest" and not "reset": a set that gets messages all the time must not be put off for ever.
    """
    for set_id, episode in messages:
        conn.execute("insert into semantic_message (set_id, episode_id) values (%s, %s)", [set_id, episode])
    for set_id in sorted({set_id for set_id, _ in messages}):
        client.enqueue(conn, KIND, set_id, delay=DEBOUNCE, on_conflict="earliest")
