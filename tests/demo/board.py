"""The live board: a table on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import psycopg
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from .replicas import Replica

NUMBERS = """
select coalesce(o.due, 0), coalesce(o.scheduled, 0), coalesce(o.running, 0), coalesce(o.failed, 0),
       coalesce(extract(epoch from o.oldest_due_age), 0)::float8,
       (select count(*) from semantic_message where ingested_at is not null),
       (select count(*) from refused_write)
from (select) as one left join jobs.overview as o on o.kind = 'semantic.ingest'
"""


class Board:
    def __init__(self, console: Console, messages: int, replicas: Sequence[Replica]) -> None:
        self._console, self._messages, self._replicas = console, messages, replicas
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None
        self._events: list[str] = []
        self._started = self._printed = time.monotonic()

    def __enter__(self) -> Board:
        if self._live:
            self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.__exit__(kind, error, trace)

    def event(self, text: str) -> None:
        """Something happened; it stays on the board."""
        line = f"{time.monotonic() - self._started:5.1f} s  {text}"
        if self._live:
            self._events.append(line)
        else:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def show(self, conn: psycopg.Connection[Any]) -> int:
        """Draw; returns how many messages are ingested."""
        row = conn.execute(NUMBERS.encode()).fetchone()
        assert row is not None
        due, scheduled, running, failed, oldest, done, refused = row
        if self._live:
            self._live.update(self._table(row), refresh=True)
        elif time.monotonic() >= self._printed + 2:
            self._printed = time.monotonic()
            self.event(
                f"due {due}, scheduled {scheduled}, running {running}, done {done}/{self._messages}, failed {failed},"
                f" refused late writes {refused}, oldest due {oldest:.1f} s"
            )
        return int(done)

    def _table(self, row: tuple[Any, ...]) -> Group:
        due, scheduled, running, failed, oldest, done, refused = row
        table = Table(title=f"semantic ingestion, {time.monotonic() - self._started:.0f} s")
        for name in (
            "due",
            "scheduled",
            "running",
            "done (messages)",
            "failed",
            "refused late writes",
            "oldest due",
        ):
            table.add_column(name, justify="right", min_width=7)
        numbers = [str(value) for value in (due, scheduled, running)]
        table.add_row(
            *numbers,
            f"{done}/{self._messages}",
            str(failed),
            str(refused),
            f"{oldest:.1f} s",
        )
        colours = {"working": "green", "paused": "yellow", "killed": "red"}
        states = Text("  ").join(Text(f"{r.name} {r.state}", colours[r.state]) for r in self._replicas)
        return Group(table, states, *map(Text, self._events))
