"""The rules of the house that no linter knows: what stands where, and what no file may say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.tools.database import ROOT

SQL = ROOT / "sql"
FUNCTIONS = sorted((SQL / "functions").rglob("*.sql"))
VIEWS = sorted((SQL / "views").glob("*.sql"))
CLOCK = SQL / "functions" / "internal" / "clock.sql"

TOP = {"sql", "python", "tests", "pgtap", "Makefile", "README.md", "LICENSE", "CHANGELOG.md"}

OTHER_CLOCKS = re.compile(
    r"\b(now\s*\(|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday"
    r"|current_(timestamp|date|time)\b|local(timestamp|time)\b)",
    re.IGNORECASE,
)
LITERAL = re.compile(r"'(?:[^']|'')*'")
COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tracked() -> list[str]:
    listed = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name]


def code(path: Path) -> str:
    """The file without literals and comments: what a server would do, not what it would say."""
    return COMMENT.sub("", LITERAL.sub("''", path.read_text()))


def test_the_top_level_holds_what_it_should() -> None:
    assert {name.split("/")[0] for name in tracked() if not name.startswith(".")} == TOP


def test_there_are_functions_and_views() -> None:
    assert CLOCK in FUNCTIONS
    assert VIEWS


def test_install_names_every_file_of_the_schema() -> None:
    included = re.findall(r"^\\ir (\S+)$", (SQL / "install.sql").read_text(), re.MULTILINE)
    present = [str(path.relative_to(SQL)) for path in SQL.rglob("*.sql") if path.parent != SQL] + ["grants.sql"]
    assert sorted(included) == sorted(present)


@pytest.mark.parametrize("path", FUNCTIONS, ids=relative)
def test_a_function_file(path: Path) -> None:
    text = path.read_text()
    name = path.stem
    assert text.startswith("-- "), "opens with a comment: promises, raises, locks"
    assert re.findall(r"create or replace function (\S+?)\(", text) == [f"jobs.{name}"], "one function, named like its file"
    assert re.search(rf"^comment on function jobs\.{name}\s*\(", text, re.MULTILINE), "has its COMMENT"
    if path != CLOCK:
        assert "set search_path = pg_catalog, pg_temp\n" in text, "pins its search_path"


@pytest.mark.parametrize("path", VIEWS, ids=relative)
def test_a_view_file(path: Path) -> None:
    text = path.read_text()
    assert re.findall(r"create or replace view (\S+)", text) == [f"jobs.{path.stem}"], "one view, named like its file"
    assert f"comment on view jobs.{path.stem} is" in text, "has its COMMENT"


@pytest.mark.parametrize("path", [p for p in FUNCTIONS + VIEWS if p != CLOCK], ids=relative)
def test_there_is_one_clock(path: Path) -> None:
    assert OTHER_CLOCKS.search(code(path)) is None


@pytest.mark.parametrize("path", FUNCTIONS + VIEWS, ids=relative)
def test_nothing_is_dynamic_and_nobody_sleeps(path: Path) -> None:
    assert re.search(r"\bexecute\b|\bpg_sleep|\bpg_notify\b|\bnotify\b", code(path), re.IGNORECASE) is None


def test_a_migration_holds_no_function_body() -> None:
    for path in (SQL / "migrations").glob("*.sql"):
        assert re.search(r"create\s+(or\s+replace\s+)?(function|procedure)", code(path), re.IGNORECASE) is None, path.name


def test_no_file_puts_anything_off() -> None:
    marks = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK")) + r")\b")
    found = [name for name in tracked() if (ROOT / name).is_file() and marks.search((ROOT / name).read_text(errors="replace"))]
    assert found == []


def test_python_holds_no_sql_of_its_own() -> None:
    """The package calls functions and reads views of schema jobs; it never touches a table."""
    names = "job|kind|trigger|tick|secret|outbox|subscription|watermark|unpruned"
    tables = re.compile(rf"\b(insert into|update|delete from|from|join)\s+jobs\.({names})\b(?!\s*\()", re.IGNORECASE)
    found = [relative(p) for p in (ROOT / "python" / "src").rglob("*.py") if tables.search(p.read_text())]
    assert found == []
