"""README.md cannot rot: what it shows is run, what it draws is compared with what the functions do, what it names is there.

Blocks of the page, by the word behind the fence: `psql` is a transcript of one session, `console` a transcript of a shell, and a `python`
block that begins with a file's name is that file. All are run in the order of the page, in one fresh database.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.sql.play import Session
from tests.tools.database import ROOT, Database

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPTS = {"psql": re.compile(r"app(?:=\*?)> "), "console": re.compile(r"\$ ")}
END = "-- end of the answer --"

Exchange = tuple[str, str]
"""What is typed, and what is answered."""


def blocks(*words: str) -> list[tuple[str, str]]:
    return [(word, text) for word, text in BLOCK.findall(README) if word in words]


def exchanges(word: str, text: str) -> Iterator[Exchange]:
    """The parts of a transcript: each line with a prompt, and the lines behind it."""
    typed: str | None = None
    answer: list[str] = []
    for line in text.splitlines():
        prompt = PROMPTS[word].match(line)
        if prompt is None:
            assert typed is not None, f"a transcript begins with a prompt, not with: {line}"
            answer.append(line)
            continue
        if typed is not None:
            yield typed, "\n".join(answer)
        typed, answer = line[prompt.end() :], []
    if typed is not None:
        yield typed, "\n".join(answer)


def plain(text: str) -> str:
    """The text without what differs from run to run: tokens, instants, ages, and the widths that follow from them."""
    for pattern, replacement in (
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "(token)"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00", "(instant)"),
        (r"\d\d:\d\d:\d\d(\.\d+)?", "(time)"),
        (r"-{2,}", "--"),
        (r" +", " "),
    ):
        text = re.sub(pattern, replacement, text)
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def environment(db: Database) -> dict[str, str]:
    """That of a reader: the programs are on the path, and the variables of libpq name the database."""
    mine = {name: text for name, text in os.environ.items() if not name.startswith("PG") and name != "DATABASE_URL"}
    path = os.pathsep.join([str(Path(sys.executable).parent), str(db.cluster.bin), mine["PATH"]])
    database = {"PGHOST": db.cluster.host, "PGPORT": str(db.cluster.port), "PGUSER": db.cluster.user, "PGDATABASE": db.name}
    return mine | database | {"PATH": path, "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def answers(db: Database, word: str, typed: list[str], directory: Path) -> list[str]:
    """What psql or the shell answers to each line, errors among it."""
    if word == "psql":
        command = ["psql", "-X", "-v", "SHOW_CONTEXT=never"]
        script = "".join(f"{line}\n\\echo '{END}'\n" for line in typed)
    else:
        command = ["bash"]
        script = "".join(f"{line} </dev/null\necho '{END}'\n" for line in typed)
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment(db),
        input=script,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    return done.stdout.split(END)[: len(typed)]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A directory with what the commands of the page expect of a checkout."""
    (tmp_path / "sql").symlink_to(ROOT / "sql")
    return tmp_path


def test_what_the_page_shows_is_what_happens(empty_db: Database, desk: Path) -> None:
    ran = 0
    for word, text in blocks("psql", "console", "python"):
        if word == "python":
            name = re.match(r"# (\w+\.py)\n", text)
            assert name is not None, f"a block of Python begins with the file's name: {text}"
            (desk / name[1]).write_text(text, encoding="utf-8")
            continue
        shown = list(exchanges(word, text))
        got = answers(empty_db, word, [typed for typed, _ in shown], desk)
        assert [(typed, plain(answer)) for typed, answer in shown] == [
            (typed, plain(answer)) for (typed, _), answer in zip(shown, got, strict=True)
        ]
        ran += len(shown)
    assert ran > 40
    assert {path.name for path in desk.glob("*.py")} <= set(re.findall(r"\w+\.py", README))


def test_every_file_of_the_page_is_run() -> None:
    """A Python block whose file nothing runs or imports would be shown and not tried."""
    commands = "\n".join(text for _, text in blocks("console"))
    for _, text in blocks("python"):
        name = text.split("\n")[0].removeprefix("# ").removesuffix(".py")
        assert f"{name}.py" in commands or f"{name}:registry" in commands, name


# -- the states ----------


def drawn() -> set[tuple[str, str, str]]:
    ((_, diagram),) = blocks("mermaid")
    lines = [line.strip() for line in diagram.splitlines()]
    assert lines[0] == "stateDiagram-v2"
    edges = [re.fullmatch(r"(\S+) --> (\S+): (.+)", line) for line in lines[1:]]
    assert None not in edges, lines
    found = [(edge[1], edge[2], edge[3]) for edge in edges if edge]
    assert len(found) == len(set(found))
    return set(found)


class Actor:
    """One job of a kind of its own, and what can happen to it. Each deed says whether it was done."""

    def __init__(self, db: Database, session: Session, kind: str) -> None:
        self.db, self.session, self.kind = db, session, kind
        self.job: Any = None

    def state(self) -> str:
        if self.job is None:
            return "[*]"
        row = self.session.run("select state from jobs.job where id = %s", self.job.id)
        return str(row[0].state) if row else "[*]"

    def become(self, state: str) -> None:
        if state == "[*]":
            return
        self.job = self.session.enqueue(self.kind, "key")
        if state == "pending":
            return
        (self.job,) = self.session.call("claim_key", kind=self.kind, key="key")
        if state == "done":
            self.session.one("define", kind=self.kind, keep_done="1 day")
            self.session.complete(self.job)
        elif state == "failed":
            self.session.fail(self.job, final=True)
        elif state == "cancelled":
            self.session.one("cancel", id=self.job.id)
        assert self.state() == state

    def holder(self, verb: str, **named: Any) -> bool:
        """A verb of the holder of a claim."""
        if self.job is None:
            return False
        token = getattr(self.job, "claimed_by", None) or "00000000-0000-0000-0000-000000000000"
        try:
            self.session.one(verb, id=self.job.id, token=token, **named)
        except psycopg.Error as error:
            assert error.sqlstate == "JB001"
            return False
        return True

    def enqueue(self) -> bool:
        if self.state() != "[*]":
            return False
        self.job = self.session.enqueue(self.kind, "key")
        return True

    def enqueue_again(self) -> bool:
        return self.state() != "[*]" and self.session.enqueue(self.kind, "key").outcome in ("reset", "kept", "retriggered")

    def claim(self) -> bool:
        claimed = self.session.call("claim_key", kind=self.kind, key="key")
        return bool(claimed)

    def operator(self, verb: str, answer: str) -> bool:
        return self.job is not None and self.session.one(verb, id=self.job.id)[0] == answer

    def complete_with_history(self) -> bool:
        self.session.one("define", kind=self.kind, keep_done="1 day")
        return self.holder("complete")

    def complete_enqueued_again(self) -> bool:
        if self.state() == "running":
            self.session.enqueue(self.kind, "key")
        return self.holder("complete")

    def time(self, seconds: float) -> bool:
        before = self.state()
        self.db.advance(seconds)
        self.session.call("maintain")
        return self.state() != before

    def last_attempt(self, deed: Callable[[], bool]) -> bool:
        self.session.one("define", kind=self.kind, max_attempts=1)
        return deed()

    def last_failure(self) -> bool:
        """Final and last attempt come to the same."""
        return self.last_attempt(lambda: self.holder("fail", error="e", final=False))

    def lease_ends(self) -> bool:
        return self.state() == "running" and self.time(61)

    def kept_long_enough(self) -> bool:
        return self.state() in ("done", "failed", "cancelled") and self.time(15 * 86400)


DEEDS: dict[str, Callable[[Actor], bool]] = {
    "enqueue": Actor.enqueue,
    "enqueue again": Actor.enqueue_again,
    "claim": Actor.claim,
    "cancel": lambda actor: actor.operator("cancel", "cancelled") if actor.state() in ("pending", "running") else False,
    "retry": lambda actor: actor.operator("retry", "retried"),
    "extend": lambda actor: actor.holder("extend"),
    "complete": lambda actor: actor.holder("complete"),
    "complete, history is kept": Actor.complete_with_history,
    "complete, was enqueued again": Actor.complete_enqueued_again,
    "release": lambda actor: actor.holder("release"),
    "fail": lambda actor: actor.holder("fail", error="e"),
    "fail, final or last attempt": Actor.last_failure,
    "lease ends": Actor.lease_ends,
    "lease ends, last attempt": lambda actor: actor.last_attempt(actor.lease_ends),
    "kept long enough": Actor.kept_long_enough,
}


def test_the_drawn_states_are_those_of_the_functions(db: Database) -> None:
    """Every deed in every state: the page draws a line where something is done, leads it to what comes of it, and draws no other."""
    db.stop_clock()
    session = Session(db)
    found = set()
    for state in ("[*]", "pending", "running", "done", "failed", "cancelled"):
        for number, (label, deed) in enumerate(DEEDS.items()):
            actor = Actor(db, session, f"{state} {number}")
            actor.become(state)
            if deed(actor):
                found.add((state, actor.state(), label))
    session.close()
    assert found == drawn()


# -- what the page names ----------


def test_every_link_leads_to_a_file() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) > 30
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_file_of_the_schema_that_is_named_is_the_one_it_says() -> None:
    for name, path in re.findall(r"\[([^\]]+)\]\(sql/([^)]+)\)", README):
        assert name in (path, Path(path).stem)


def test_every_promise_names_a_test_that_there_is() -> None:
    table = re.search(r"^## What is promised\n(.*?)^## ", README, re.MULTILINE | re.DOTALL)
    assert table is not None
    rows = [line for line in table[1].splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    for row in rows:
        where = None
        named = re.findall(r"\]\((tests/[^)]+)\)|`(test_\w+)`", row)
        assert named, row
        for file, test in named:
            if file:
                where = (ROOT / file).read_text(encoding="utf-8")
                continue
            assert where is not None, row
            assert re.search(rf"^def {test}\(", where, re.MULTILINE), f"no such test: {test}"


def test_every_target_of_make_is_there() -> None:
    named = set(
        re.findall(r"\bmake ([a-z][a-z-]*)", "\n".join(text for _, text in blocks("sh")) + "".join(re.findall(r"`[^`\n]+`", README)))
    )
    there = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"test", "demo"} <= named <= there


def test_every_function_that_is_named_is_there(db: Database) -> None:
    there = {row[0] for row in db.query("select proname from pg_proc where pronamespace = 'jobs'::regnamespace")}
    there |= {row[0] for row in db.query("select relname from pg_class where relnamespace = 'jobs'::regnamespace")}
    assert set(re.findall(r"\bjobs\.(\w+)", README)) - there == set()
