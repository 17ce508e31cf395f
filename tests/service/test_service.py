"""The consumers one by one, each with the interleavings that matter to it. The clock is the test's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from pgclaim import LostClaim, client

from tests.service import llm, producer, purge, sessions, vectors
from tests.service.lock import lock
from tests.service.producer import KIND, SEGMENT, SUBSYSTEMS, Episode
from tests.service.sessions import DELETE, PROVISION, PURGE_COLLECTION, PURGE_SEGMENTS
from tests.service.stage import LEASE, Stage, staged, wait_for
from tests.tools.database import Database


@pytest.fixture
def stage(db: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with staged(db, monkeypatch) as made:
        yield made


def talk(session: str, first: int = 1, last: int = 3) -> list[Episode]:
    return [Episode(session, n, "Ann" if n % 2 else "Bob", f"{session} says {n}") for n in range(first, last + 1)]


def fill(stage: Stage, session: int, segments: int) -> None:
    stage.conn.execute(
        "insert into segment (session_id, episode_id, digest, token) select %s, g, 'x', gen_random_uuid() from generate_series(1, %s) as g",
        [session, segments],
    )


def say(stage: Stage, episodes: list[Episode]) -> None:
    """Add episodes, and let the subsystems take them up; the sets are not ingested yet."""
    if not stage.value("select 1 from session where name = %s and status <> 'deleting'", episodes[0].session):
        producer.create_session(stage.conn, episodes[0].session)
    producer.add(stage.conn, episodes)
    stage.work(but=(KIND,))


def steps(stage: Stage, session: int) -> list[str]:
    rows = stage.rows("select what from step where key in (%s, %s) order by id", str(session), f"session-{session}")
    return [row[0] for row in rows]


# -- 1. sessions ----------


def test_a_session_is_provisioned_used_and_deleted_to_the_last_row(stage: Stage) -> None:
    session = producer.create_session(stage.conn, "red/1")
    stage.work()
    assert stage.rows("select status from session") == [("ready",)]
    assert stage.stored() == {f"session-{session}": {}}
    say(stage, talk("red/1"))
    fill(stage, session, 25)
    stage.work()
    assert stage.value("select count(*) from feature") == 9

    producer.delete_session(stage.conn, "red/1")
    stage.work()

    left = ("session", "episode", "segment", "semantic_message", "feature", "collection", "jobs.job", "jobs.trigger")
    assert {table: stage.value(f"select count(*) from {table}") for table in left} == dict.fromkeys(left, 0)
    assert stage.stored() == {}
    assert steps(stage, session) == ["provisioned", "forgotten", "dropped", "deleted"]


def test_a_delete_cancels_a_running_provision(stage: Stage) -> None:
    """The provision's result comes late: nothing of it stays, neither in the tables nor in the vector store."""
    session = producer.create_session(stage.conn, "red/1")
    stage.model.hold()
    running = stage.start(stage.claim(PROVISION))
    wait_for(stage.model.waiting, "the provision's call")
    producer.delete_session(stage.conn, "red/1")
    assert stage.run(stage.claim(DELETE)) == "settled"
    stage.model.let_go()
    assert running.result(60) == "lost"
    assert stage.value("select count(*) from refused_step") == 1
    stage.work()
    assert steps(stage, session) == ["forgotten", "dropped", "deleted"]
    assert stage.stored() == {}
    assert stage.value("select count(*) from session") == 0


def test_a_provision_that_comes_to_the_store_after_the_drop_makes_nothing(stage: Stage) -> None:
    """The late call carries an older epoch than the drop: the store refuses it."""
    session = producer.create_session(stage.conn, "red/1")
    late = stage.claim(PROVISION)
    producer.delete_session(stage.conn, "red/1")
    stage.work()
    with pytest.raises(vectors.Stale):
        vectors.create(f"session-{session}", worker="late", epoch=late.epoch)
    assert stage.stored() == {}


def test_a_delete_waits_for_a_provision_that_is_writing(stage: Stage) -> None:
    """Its fence holds the job's row, so that the cancel finds it busy; the delete comes back, and the session ends deleted."""
    producer.create_session(stage.conn, "red/1")
    job = stage.claim(PROVISION)
    with stage.db.connect() as writer, writer.transaction():
        client.fence(writer, job.id, job.token)
        producer.delete_session(stage.conn, "red/1")
        assert stage.run(stage.claim(DELETE)) == "released"
        assert stage.value("select status from session") == "deleting"
    stage.work()
    assert stage.value("select count(*) from session") == 0


def test_a_delete_does_not_touch_a_namesake(stage: Stage) -> None:
    old = producer.create_session(stage.conn, "red/1")
    stage.work()
    say(stage, talk("red/1"))
    producer.delete_session(stage.conn, "red/1")
    new = producer.create_session(stage.conn, "red/1")
    say(stage, talk("red/1"))
    stage.work()
    assert stage.rows("select id, status from session") == [(new, "ready")]
    assert stage.rows("select distinct session_id from episode") == [(new,)]
    assert stage.value("select count(*) from feature") == 9
    assert list(stage.stored()) == [f"session-{new}"]
    assert old != new


def test_a_session_that_goes_takes_no_episode(stage: Stage) -> None:
    producer.create_session(stage.conn, "red/1")
    producer.delete_session(stage.conn, "red/1")
    with pytest.raises(producer.NoSession):
        producer.add(stage.conn, talk("red/1"))
    with pytest.raises(producer.NoSession):
        producer.delete_session(stage.conn, "red/1")


def test_a_provision_that_died_after_its_write_is_not_done_twice(stage: Stage) -> None:
    session = producer.create_session(stage.conn, "red/1")
    sessions.provision(stage.claim(PROVISION, worker="dies"))  # and never says so
    stage.db.advance(LEASE + 1)
    stage.work()
    assert steps(stage, session) == ["provisioned"]
    assert stage.value("select count(*) from jobs.job") == 0


def test_a_late_provision_is_refused(stage: Stage) -> None:
    session = producer.create_session(stage.conn, "red/1")
    stage.model.hold()
    late = stage.start(stage.claim(PROVISION, worker="late"))
    wait_for(stage.model.waiting, "the provision's call")
    stage.db.advance(LEASE + 1)
    good = stage.start(stage.claim(PROVISION, worker="good"))
    wait_for(lambda: len(stage.model.waiting()) == 2, "the second call")
    stage.model.let_go()
    assert good.result(60) == "completed"
    assert late.result(60) == "lost"
    assert stage.rows("select what, worker from step where key = %s", str(session)) == [("provisioned", "good")]


# -- 2. ingestion ----------


def test_five_messages_a_round_until_none_is_left(stage: Stage) -> None:
    say(stage, talk("red/1", 1, 12))
    stage.work()
    assert stage.rows("select messages from fenced_write where set_id = 'organisation' order by epoch") == [(5,), (5,), (2,)]
    assert stage.value("select count(*) from feature") == 36
    assert stage.value("select count(*) from jobs.job") == 0


def test_one_sets_failure_delays_that_set_only(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    understand = llm.understand

    def fails_for_bob(set_id: str, *args: Any, **named: Any) -> llm.Feature:
        if set_id == "speaker/Bob":
            raise OSError("the model is down")
        return understand(set_id, *args, **named)

    say(stage, talk("red/1"))
    monkeypatch.setattr(llm, "understand", fails_for_bob)
    stage.work(turns=20)
    assert stage.rows("select set_id, count(*) from feature group by 1 order by 1") == [
        ("conversation/red", 3),
        ("organisation", 3),
        ("speaker/Ann", 2),
    ]
    assert [row[0] for row in stage.rows("select key from jobs.job where attempts > 0")] == ["speaker/Bob"]


def test_a_message_that_is_too_long_is_skipped_and_not_its_set(stage: Stage) -> None:
    say(stage, [Episode("red/1", 1, "Ann", "word " * 40), *talk("red/1", 2, 3)])
    stage.work()
    assert stage.value("select count(*) from feature") == 6
    assert stage.value("select count(*) from semantic_message where skipped like 'too long%%'") == 3
    assert stage.value("select count(*) from jobs.job") == 0


def test_a_message_forgotten_in_the_middle_of_its_round_gets_no_feature(stage: Stage) -> None:
    session = producer.create_session(stage.conn, "red/1")
    stage.work()
    say(stage, talk("red/1"))
    stage.db.advance(1)
    stage.model.hold()
    running = stage.start(stage.claim(KIND, "organisation"))
    wait_for(stage.model.waiting, "the call of the model")
    producer.delete_session(stage.conn, "red/1")
    stage.model.let_go()
    stage.model.hold()
    assert stage.run(stage.claim(DELETE, session)) == "settled"
    stage.model.let_go()
    assert running.result(60) == "settled"
    stage.work()
    assert stage.value("select count(*) from feature") == 0
    assert stage.value("select count(*) from session") == 0


# -- 3. purges ----------


def deleted(stage: Stage, segments: int) -> int:
    """A session with so many segments whose purges wait."""
    session = producer.create_session(stage.conn, "red/1")
    stage.work()
    fill(stage, session, segments)
    producer.delete_session(stage.conn, "red/1")
    assert stage.run(stage.claim(DELETE)) == "settled"
    return session


def test_segments_go_batch_by_batch_each_in_its_own_transaction(stage: Stage) -> None:
    session = deleted(stage, 25)
    assert stage.purge(10) == 3
    assert stage.rows("select rows from purge_batch where session_id = %s order by id", session) == [(10,), (10,), (5,)]
    assert stage.value("select count(distinct xid) from purge_batch") == 3
    assert stage.value("select count(*) from segment") == 0


def test_a_batch_that_dies_leaves_nothing_half_done_and_others_go_on_at_once(stage: Stage) -> None:
    session = deleted(stage, 15)
    dying = stage.db.connect()
    with dying.transaction(force_rollback=True):
        (job,) = client.claim_tx(dying, [PURGE_SEGMENTS])
        assert purge.delete_batch(dying, session, 10, job.token)
        assert not purge.purge_segments(stage.conn, 10)  # held: nobody else gets it
        assert stage.value("select count(*) from segment") == 15
    assert stage.value("select count(*) from segment") == 15
    assert stage.value("select count(*) from purge_batch") == 0
    assert stage.purge(10) == 2
    assert stage.value("select count(*) from segment") == 0


def test_a_batch_that_fails_is_tried_again(stage: Stage) -> None:
    deleted(stage, 3)
    stage.conn.execute("create function bad() returns trigger language plpgsql as $$begin raise exception 'no'; end$$")
    stage.conn.execute("create trigger bad before delete on segment execute function bad()")
    assert stage.purge() == 1
    ((attempts, error),) = stage.rows("select attempts, last_error from jobs.job where kind = %s", PURGE_SEGMENTS)
    assert attempts == 1
    assert error.startswith("RaiseException: no")
    stage.conn.execute("drop trigger bad on segment")
    stage.work()
    assert stage.value("select count(*) from session") == 0


def test_no_transaction_is_open_while_the_collection_is_dropped(stage: Stage) -> None:
    deleted(stage, 0)
    open_then: list[int] = []
    stage.model.on_drop = lambda worker: open_then.append(
        stage.db.query(
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
            " and (backend_xid is not null or backend_xmin is not null or state like 'idle in transaction%%')",
            (),
        )[0][0]
    )
    assert stage.run(stage.claim(PURGE_COLLECTION)) == "settled"
    assert open_then == [0]
    assert stage.value("select count(*) from collection") == 0


def test_the_last_purge_wakes_the_delete(stage: Stage) -> None:
    """No clock is moved: without the wake-up the session would still be there."""
    deleted(stage, 5)
    stage.purge()
    assert stage.run(stage.claim(PURGE_COLLECTION)) == "settled"
    assert stage.run(stage.claim(DELETE)) == "settled"
    assert stage.value("select count(*) from session") == 0


# -- 4. replay ----------


def watermarks(stage: Stage) -> dict[tuple[str, str], int]:
    return {(kind, key): seq for kind, key, seq in stage.rows("select kind, key, seq from jobs.watermark")}


def applied(stage: Stage, kind: str, session: int) -> list[tuple[int, bool]]:
    return stage.rows("select seq, written from applied where kind = %s and session_id = %s order by id", kind, session)


def test_every_subsystem_sees_every_episode_once_and_in_order(stage: Stage) -> None:
    red, blue = producer.create_session(stage.conn, "red/1"), producer.create_session(stage.conn, "blue/1")
    heads = {}
    for n in range(1, 31):
        for session, name in ((red, "red/1"), (blue, "blue/1")):
            (heads[session],) = producer.add(stage.conn, talk(name, n, n))
    stage.work()
    assert watermarks(stage) == {(kind, str(session)): heads[session] for kind in SUBSYSTEMS for session in (red, blue)}
    published = stage.rows("select seq from published where session_id = %s order by seq", red)
    for kind in SUBSYSTEMS:
        assert applied(stage, kind, red) == [(seq, True) for (seq,) in published]
    assert stage.rows("select session_id, count(*), count(distinct episode_id) from segment group by 1 order by 1") == [
        (red, 30, 30),
        (blue, 30, 30),
    ]
    assert {name: len(vectors) for name, vectors in stage.stored().items()} == {f"session-{red}": 30, f"session-{blue}": 30}
    assert stage.value("select count(*) from feature") == 180
    assert stage.value("select count(*) from jobs.job") == 0


def test_a_producer_that_commits_late_is_not_passed_over(stage: Stage) -> None:
    session = producer.create_session(stage.conn, "red/1")
    stage.work()
    (safe,) = producer.add(stage.conn, talk("red/1", 1, 1))
    replays = [stage.claim(kind, session) for kind in SUBSYSTEMS]
    late = stage.db.connect()
    with late.transaction():
        (first,) = producer.add(late, talk("red/1", 2, 2))
        (second,) = producer.add(stage.conn, talk("red/1", 3, 3))
        assert [stage.run(job) for job in replays] == ["settled", "settled"]
        assert safe < first < second
        assert watermarks(stage) == {(kind, str(session)): safe for kind in SUBSYSTEMS}
    stage.work()
    for kind in SUBSYSTEMS:
        assert applied(stage, kind, session) == [(safe, True), (first, True), (second, True)]


def test_a_replay_that_dies_between_two_stores_is_taken_up_again(stage: Stage) -> None:
    """The vectors were stored, the segments were not; the next replica does both, and the vectors are the same ones."""
    session = producer.create_session(stage.conn, "red/1")
    stage.work()
    producer.add(stage.conn, talk("red/1"))
    dying = stage.claim(SEGMENT)
    vectors.put(f"session-{session}", {1: "half done"}, worker="dies", epoch=dying.epoch)
    stage.db.advance(LEASE + 1)
    stage.work()
    digests = dict(stage.rows("select episode_id, digest from segment"))
    assert len(digests) == 3
    assert stage.stored() == {f"session-{session}": digests}


def test_a_late_replay_is_refused_by_the_tables_and_by_the_store(stage: Stage) -> None:
    session = producer.create_session(stage.conn, "red/1")
    stage.work()
    producer.add(stage.conn, talk("red/1"))
    stage.model.hold()
    late = stage.start(stage.claim(SEGMENT, worker="late"))
    wait_for(stage.model.waiting, "the late call")
    stage.db.advance(LEASE + 1)
    good = stage.start(stage.claim(SEGMENT, worker="good"))
    wait_for(lambda: len(stage.model.waiting()) == 2, "the good call")
    stage.model.let_go()
    assert good.result(60) == "settled"
    assert late.result(60) == "lost"
    stage.work()
    assert stage.value("select count(*) from segment") == 3
    assert [written for _, written in applied(stage, SEGMENT, session)] == [True] * 3


def test_what_a_deleted_session_published_is_passed_over(stage: Stage) -> None:
    session = producer.create_session(stage.conn, "red/1")
    stage.work()
    head = producer.add(stage.conn, talk("red/1"))[-1]
    producer.delete_session(stage.conn, "red/1")
    stage.work()
    assert watermarks(stage) == {(kind, str(session)): head for kind in SUBSYSTEMS}
    for kind in SUBSYSTEMS:
        assert [written for _, written in applied(stage, kind, session)] == [False] * 3
    assert stage.value("select count(*) from session") == 0
    assert stage.value("select count(*) from jobs.job") == 0


def test_a_subsystem_added_later_starts_at_the_beginning(stage: Stage) -> None:
    session = producer.create_session(stage.conn, "red/1")
    published = producer.add(stage.conn, talk("red/1"))
    client.subscribe(stage.conn, producer.STREAM, "replay.audit")
    stage.work()
    job = stage.claim("replay.audit", session)
    assert [row.seq for row in client.read(stage.conn, job.id, job.token)] == published


# -- 5. a lock ----------


def test_one_holds_the_lock_and_the_other_does_not_wait(stage: Stage) -> None:
    other = stage.db.connect()
    with lock(stage.conn, "report") as mine:
        assert mine is not None
        with lock(other, "report") as theirs:
            assert theirs is None
        with lock(other, "another") as theirs:
            assert theirs is not None
    with lock(other, "report") as theirs:
        assert theirs is not None
    assert stage.value("select count(*) from jobs.job") == 0


def test_a_lock_outlived_is_lost_and_its_writes_are_refused(stage: Stage) -> None:
    other = stage.db.connect()
    with lock(stage.conn, "report", lease=10) as mine:
        assert mine is not None
        stage.db.advance(11)
        with lock(other, "report") as theirs:
            assert theirs is not None
            with pytest.raises(LostClaim), stage.conn.transaction():
                client.fence(stage.conn, mine.id, mine.token)
            with other.transaction():
                client.fence(other, theirs.id, theirs.token)
    assert stage.value("select count(*) from jobs.job") == 0


def test_a_lock_is_free_when_its_block_raises(stage: Stage) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero), lock(stage.conn, "report"):
        stage.conn.execute("select 1 / 0")
    with lock(stage.conn, "report") as mine:
        assert mine is not None
