"""Adds episodes: the rows and the jobs that will read them commit together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import psycopg
from pgclaim import client

KIND = "semantic.ingest"
DEBOUNCE = 0.1
"""Seconds that a set waits for more messages."""


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


def install(conn: psycopg.Connection[Any], *, lease: float) -> None:
    """Make the service's tables and say how its jobs are to be treated."""
    with conn.transaction():
        conn.execute(files(__package__).joinpath("schema.sql").read_bytes())
        client.define(conn, KIND, lease=lease, backoff_base=0.2, backoff_max=2)


def add_episodes(conn: psycopg.Connection[Any], episodes: Sequence[Episode]) -> None:
    """Store episodes and trigger the sets they belong to, in one transaction.

    "earliest" and not "reset": a set that gets messages all the time must not be put off for ever.
    """
    with conn.transaction():
        for episode in episodes:
            conn.execute(
                "insert into session (id) values (%s) on conflict do nothing",
                [episode.session],
            )
            row = conn.execute(
                "insert into episode (session_id, position, speaker, text, said_at) values (%s, %s, %s, %s, %s) returning id",
                [
                    episode.session,
                    episode.position,
                    episode.speaker,
                    episode.text,
                    episode.at,
                ],
            ).fetchone()
            assert row is not None
            for set_id in episode.sets:
                conn.execute(
                    "insert into semantic_message (set_id, episode_id) values (%s, %s)",
                    [set_id, row[0]],
                )
        for set_id in sorted({set_id for episode in episodes for set_id in episode.sets}):
            client.enqueue(conn, KIND, set_id, delay=DEBOUNCE, on_conflict="earliest")
