"""The demo from its start to its end, small; and each of its checks sees what it is there to see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.resources import files

import pytest
from pgclaim import LostClaim, Worker, client
from pgclaim.worker.held import HeldJob
from psycopg_pool import ConnectionPool

from tests.demo import checks, corpus
from tests.service import ingest, producer
from tests.service.producer import KIND, Episode
from tests.service.standin import StandIn
from tests.tools.database import OPTIONS, ROOT

LONG = "word " * 40
EPISODES = [
    Episode(
        "blue/1",
        n,
        "Ann" if n % 2 else "Bob",
        LONG if n == 3 else f"sentence {n} of שלום 你好",
        None,
    )
    for n in range(1, 13)
]
NAMES = [check.name for check in checks.CHECKS]


def demo(db, *options, **environment):
    # INPUT is the caller's, not the test's.
    env = {name: text for name, text in os.environ.items() if name != "INPUT"} | environment
    command = [
        sys.executable,
        "-m",
        "tests.demo",
        "--dsn",
        db.dsn,
        "--lease",
        "2",
        # Nothing here may depend on the speed of the machine: these only end a demo that hangs.
        "--allowance",
        "3600",
        "--limit",
        "600",
        *options,
    ]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def jsonl(path, episodes):
    path.write_text(
        "".join(json.dumps(vars(episode)) + "\n" for episode in episodes),
        encoding="utf-8",
    )
    return str(path)


def test_the_demo_ends_well(empty_db, tmp_path):
    episodes = [
        Episode(
            f"{name}/{part}",
            n,
            f"{name} {n % 2}",
            LONG if n == 4 else f"{name} says {n} {'é' * n}",
        )
        for name in ("red", "green", "blue", "white")
        for part in (1, 2)
        for n in range(1, 7)
    ]
    done = demo(
        empty_db,
        "--episodes",
        "80",
        "--latency",
        "0.02",
        "--adding",
        "2",
        INPUT=jsonl(tmp_path / "chats.jsonl", episodes),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"all {len(NAMES)} checks hold" in done.stdout
    assert "48 of the input's 48 episodes" in done.stdout
    assert "SIGKILL" in done.stdout
    assert "SIGSTOP" in done.stdout
    for name in NAMES:
        assert f"ok    {name}:" in done.stdout
    assert [result.holds for result in checks.examine(empty_db.connect())] == [True] * len(NAMES)


# -- a small world made by hand, in which all holds ----------


def held(job, pool):
    """The job as its handler sees it."""
    found = HeldJob(**vars(job))
    found.pool = pool
    return found


@pytest.fixture
def world(db, monkeypatch):
    """One worker that died, one that came too late, and one that did all the work. The clock is the test's."""
    conn = db.connect(options=f"{OPTIONS} -c jit=off")
    with (
        StandIn(latency=0, failing=0.2, hanging=0) as model,
        ConnectionPool(db.dsn, min_size=0, max_size=2, kwargs={"autocommit": True}, open=True) as pool,
    ):
        monkeypatch.setenv("LLM_URL", model.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        db.stop_clock()
        producer.install(conn, lease=30)
        conn.execute(files("tests.demo").joinpath("schema.sql").read_bytes())
        conn.execute(
            "insert into demo.run (episodes, lease, allowance, longest) values (%s, '30 s', '10 s', %s)",
            [len(EPISODES), model.longest],
        )
        for episode in EPISODES:
            producer.add_episodes(conn, [episode])
        db.advance(1)
        (killed,) = client.claim(conn, [KIND], worker="killed")
        conn.execute(
            "insert into demo.orphan values ('killed', %s, %s, %s, %s)",
            [killed.key, killed.token, killed.epoch, killed.claimed_until],
        )
        conn.execute("insert into demo.killed values ('killed', jobs.clock())")
        (late,) = client.claim(conn, [KIND], worker="late")
        db.advance(31)
        model.spare([(late.worker, late.key, late.epoch)])
        with pytest.raises(LostClaim):
            ingest.ingest(held(late, pool))
        work(db)
        conn.execute("update demo.run set llm_calls = %s", [model.counts["calls"]])
    return conn


def work(db):
    """Everything is worked off; the clock jumps over each backoff."""
    conn, end = db.connect(), time.monotonic() + 60
    while client.next_due(conn, [KIND]) is not None:
        assert time.monotonic() < end
        Worker(ingest.registry, db.dsn, concurrency=2, name="good").run(drain=True)
        db.advance(3)


FAULTS = [
    (
        "ingested",
        "update semantic_message set ingested_at = null where ctid = (select min(ctid) from semantic_message)",
    ),
    (
        "ingested",
        "delete from semantic_message where ctid = (select min(ctid) from semantic_message)",
    ),
    ("ingested", "update demo.run set episodes = episodes + 1"),
    ("once", "delete from feature where id = (select min(id) from feature)"),
    (
        "once",
        "insert into feature (set_id, episode_id, digest, words, token) select set_id, episode_id, digest, 1, token from feature limit 1",
    ),
    (
        "once",
        "update feature set digest = md5('something else') where id = (select min(id) from feature)",
    ),
    (
        "once",
        "update feature set set_id = 'nowhere' where id = (select min(id) from feature)",
    ),
    ("once", "update semantic_message set skipped = null where skipped is not null"),
    ("once", "update semantic_message set skipped = 'no' where skipped is null"),
    (
        "fenced",
        "update feature set token = gen_random_uuid() where id = (select min(id) from feature)",
    ),
    (
        "fenced",
        "delete from fenced_write where ctid = (select min(ctid) from fenced_write)",
    ),
    (
        "fenced",
        "insert into fenced_write select * from fenced_write where messages > 0 limit 1",
    ),
    (
        "fenced",
        "insert into fenced_write select set_id, token, epoch, worker, 0, claimed_at, written_at from fenced_write limit 1",
    ),
    (
        "alone",
        "update fenced_write set claimed_at = claimed_at - interval '1 day' where set_id = 'organisation'",
    ),
    ("alone", "update fenced_write set epoch = 1 where set_id = 'organisation'"),
    ("alone", "update fenced_write set written_at = claimed_at - interval '1 ms'"),
    ("late", "delete from refused_write"),
    (
        "late",
        "update refused_write set token = (select token from fenced_write limit 1)",
    ),
    ("late", "update refused_write set token = (select token from feature limit 1)"),
    (
        "failed",
        "insert into jobs.job (kind, state, run_after, created_at, finished_at, last_error)"
        " values ('semantic.ingest', 'failed', now(), now(), now(), 'an error')",
    ),
    ("empty", "select jobs.enqueue('semantic.ingest', 'organisation')"),
    (
        "empty",
        "insert into jobs.trigger (kind, key, run_after, on_conflict, created_at) values ('k', 'a', now(), 'keep', now())",
    ),
    ("recovery", "delete from demo.orphan"),
    ("recovery", "delete from attempt where set_id = (select set_id from demo.orphan)"),
    ("recovery", "update attempt set worker = 'killed'"),
    (
        "recovery",
        "update demo.orphan set claimed_until = claimed_until + interval '1 day'",
    ),
    ("recovery", "update demo.killed set killed_at = killed_at - interval '1 day'"),
    ("recovery", "update demo.run set allowance = '0 s', lease = '1 s'"),
    ("calls", "update demo.run set llm_calls = llm_calls + 1000"),
    ("calls", "update demo.run set llm_calls = 1"),
    ("calls", "update demo.run set llm_calls = null"),
]


def test_all_holds_until_something_is_tampered_with(world):
    assert [(r.check.name, r.detail) for r in checks.examine(world) if not r.holds] == []
    assert {name for name, _ in FAULTS} == set(NAMES)
    unseen = []
    for name, fault in FAULTS:
        with world.transaction(force_rollback=True):
            assert world.execute(fault).rowcount > 0, fault
            if name not in {r.check.name for r in checks.examine(world) if not r.holds}:
                unseen.append((name, fault))
    assert unseen == []
    assert [(r.check.name, r.detail) for r in checks.examine(world) if not r.holds] == []


def test_nothing_holds_where_nothing_ran(db):
    conn = db.connect()
    producer.install(conn, lease=30)
    conn.execute(files("tests.demo").joinpath("schema.sql").read_bytes())
    holding = {r.check.name for r in checks.examine(conn) if r.holds}
    assert holding == {"fenced", "failed", "empty"}


# -- the input ----------


def test_the_default_input_needs_nothing_from_outside():
    """It was installed by `make setup`: conversations in many languages, each session's episodes numbered from one."""
    episodes = corpus.load(None)
    assert len(episodes) > 10_000
    assert len({episode.session.split("/")[0] for episode in episodes}) > 20
    assert {episode.position for episode in episodes if episode.session == episodes[0].session} == set(
        range(1, 1 + sum(episode.session == episodes[0].session for episode in episodes))
    )


def test_a_bad_line_is_named(tmp_path):
    path = tmp_path / "chats.jsonl"
    good = json.dumps(vars(EPISODES[0]))
    for bad, why in (
        ("{", "JSONDecodeError"),
        ('{"session": "a"}', "KeyError"),
        ("[1]", "not an episode"),
        ('{"session": "a", "position": 1, "speaker": "s", "text": "\\u0000"}', "NUL"),
        (
            '{"session": "a", "position": 1, "speaker": "s", "text": "\\ud800"}',
            "surrogates",
        ),
        (good, "as in line 1"),
    ):
        path.write_text(f"{good}\n{bad}\n")
        with pytest.raises(corpus.BadInput, match="line 2") as caught:
            corpus.load(str(path))
        assert why in str(caught.value)


def test_an_input_that_is_missing_or_empty_is_refused(tmp_path):
    with pytest.raises(corpus.BadInput, match=r"nothing\.jsonl"):
        corpus.load(str(tmp_path / "nothing.jsonl"))
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(corpus.BadInput, match="no episode"):
        corpus.load(str(tmp_path / "empty.jsonl"))


def test_the_part_is_spread_over_the_conversations():
    episodes = [Episode(f"{name}/1", n, "s", "t") for name in "abcde" for n in range(100)]
    taken = corpus.part(episodes, 250)
    assert len(taken) == 250
    assert {sum(e.session.startswith(name) for e in taken) for name in "abcde"} == {50}
    assert len(corpus.part(episodes, 30)) == 30
    assert corpus.part(episodes[:7], 30) == episodes[:7]
    assert len(corpus.adds(episodes[:5])) == 5
    with pytest.raises(corpus.BadInput, match="4 episodes are too few"):
        corpus.adds(episodes[:4])
    added = corpus.adds(taken)
    assert sorted((e.session, e.position) for add in added for e in add) == [(e.session, e.position) for e in taken]
    assert max(map(len, added)) == 5
    assert all(len({e.session for e in add}) == 1 for add in added)
