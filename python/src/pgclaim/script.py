"""Runs the psql script sql/install.sql without psql: the same lines in the same order.

Of psql's commands it knows those that the script uses: \\ir, \\if, \\else, \\endif, \\gset, \\echo.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

_COMMAND = re.compile(r"^\s*\\(\w+)\s*(.*?)\s*$")
_GSET = re.compile(r"\\gset\s*;?\s*$")
_IGNORED = {"set", "unset", "pset", "timing", "encoding", "o", "q"}


@dataclass(frozen=True)
class Step:
    """A piece of a script: `sql` to run, or one of psql's commands with its argument."""

    what: str
    text: str
    path: Path


def directory() -> Path:
    """The SQL files: inside the wheel, or the repository's own."""
    here = Path(__file__).resolve()
    for place in (here.parent / "sql", *(parent / "sql" for parent in here.parents[2:4])):
        if (place / "install.sql").is_file():
            return place
    raise FileNotFoundError("the package's SQL files are missing")


def steps(path: Path) -> Iterator[Step]:
    """The script's pieces in order; included files are not opened."""
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        command = _COMMAND.match(line)
        if command is None and not _GSET.search(line):
            lines.append(line)
            continue
        if command is None:
            lines.append(_GSET.sub("", line))
        if "".join(lines).strip():
            yield Step("query" if command is None or command[1] == "gset" else "sql", "".join(lines), path)
        lines = []
        if command is not None and command[1] != "gset":
            yield Step(command[1], command[2], path)
    if "".join(lines).strip():
        yield Step("sql", "".join(lines), path)


def migrations(path: Path) -> list[int]:
    """The numbers of the migrations that the script includes."""
    names = (Path(step.text).name for step in steps(path) if step.what == "ir")
    return sorted(int(found[1]) for name in names if (found := re.match(r"(\d{4})_", name)))


def run(conn: psycopg.Connection[Any], path: Path, echo: Callable[[str], None] = lambda text: None) -> None:
    """Run a script on an autocommit connection; its own `begin` and `commit` make the transaction."""
    _Runner(conn, echo).run(path)


class _Runner:
    def __init__(self, conn: psycopg.Connection[Any], echo: Callable[[str], None]) -> None:
        self._conn, self._echo = conn, echo
        self._variables: dict[str, Any] = {}

    def run(self, path: Path) -> None:
        branches: list[bool] = []
        for step in steps(path):
            if step.what == "if":
                branches.append(self._is_true(step.text))
            elif step.what == "else":
                branches[-1] = not branches[-1]
            elif step.what == "endif":
                branches.pop()
            elif all(branches):
                self._do(step)

    def _do(self, step: Step) -> None:
        if step.what == "ir":
            self.run(step.path.parent / step.text.strip("'"))
        elif step.what == "echo":
            self._echo(step.text.strip("'"))
        elif step.what in ("sql", "query"):
            # No parameters: the simple protocol takes a whole file, and '%' has no meaning.
            with psycopg.Cursor(self._conn) as cursor:
                cursor.execute(step.text.encode())
                if step.what == "query":
                    self._remember(cursor)
        elif step.what not in _IGNORED:
            raise ValueError(f"{step.path.name}: \\{step.what} is unknown here")

    def _remember(self, cursor: psycopg.Cursor[Any]) -> None:
        while cursor.nextset():
            pass
        row = cursor.fetchone()
        if row is not None and cursor.description is not None:
            self._variables |= zip((column.name for column in cursor.description), row, strict=True)

    def _is_true(self, text: str) -> bool:
        value: object = self._variables[text[1:]] if text.startswith(":") else text
        return str(value).lower() in ("t", "true", "on", "1", "yes")
