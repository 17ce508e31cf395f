"""The calls over a connection that the caller already has."""

from __future__ import annotations

import inspect
import math
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest
from pgclaim import (
    AlreadyLive,
    BadArgument,
    LostClaim,
    NotInstalled,
    WrongTransaction,
    aio,
    calls,
    client,
    errors,
)
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from support import rows, value

VERBS = """enqueue enqueue_many claim claim_key claim_tx complete complete_many fail release extend extend_many fence
holds next_due define pause resume cancel cancel_key retry maintain version overview
publish publish_many read advance subscribe""".split()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_stands_in_both_modules_with_its_text(verb):
    call = getattr(calls, verb)
    for module in (client, aio):
        assert getattr(module, verb).__doc__ == call.__doc__
        assert getattr(module, verb).__name__ == verb
    assert list(inspect.signature(getattr(client, verb)).parameters) == list(inspect.signature(call).parameters)


def test_a_job_from_enqueue_to_completion(db):
    conn = db.connect()
    job_id, outcome = client.enqueue(conn, "mail", key="ann", payload={"a": 1}, priority=-3, max_attempts=4)
    assert outcome == "inserted"
    assert client.enqueue(conn, "mail", key="ann").outcome == "reset"
    assert client.next_due(conn, ["mail"]) == 0
    [job] = client.claim(conn, ["mail"], batch=5, lease=timedelta(minutes=2), worker="me")
    assert (job.id, job.kind, job.key, job.payload, job.priority) == (
        job_id,
        "mail",
        "ann",
        {"a": 1},
        -3,
    )
    assert (job.worker, job.attempts, job.max_attempts, job.state) == (
        "me",
        0,
        4,
        "running",
    )
    assert job.claimed_until - job.claimed_at == timedelta(minutes=2)
    assert client.holds(conn, job.id, job.token) is True
    client.fence(conn, job.id, job.token)
    assert client.extend(conn, job.id, job.token, 300) > job.claimed_until
    [extended] = client.extend_many(conn, [job.id], [job.token], lease=600)
    assert (extended.id, extended.cancelled) == (job.id, False)
    assert client.complete(conn, job.id, job.token) == "deleted"
    assert client.next_due(conn, ["mail"]) is None
    with pytest.raises(LostClaim) as caught:
        client.complete(conn, job.id, job.token)
    assert caught.value.sqlstate == "JB001"


def test_fail_release_retry_and_cancel(db):
    conn = db.connect()
    first = client.enqueue(conn, "mail").id
    [job] = client.claim(conn)
    failed = client.fail(conn, job.id, job.token, "no", retry_in=0)
    assert failed.state == "pending"
    [job] = client.claim(conn)
    assert (job.attempts, job.last_error) == (1, "no")
    client.release(conn, job.id, job.token, delay=0)
    [job] = client.claim(conn)
    assert job.attempts == 1
    assert client.fail(conn, job.id, job.token, "never", final=True).state == "failed"
    assert client.retry(conn, first) == "retried"
    assert client.cancel(conn, first) == "cancelled"
    client.enqueue(conn, "mail", key="k")
    assert client.cancel_key(conn, "mail", "k") == "cancelled"
    assert set(map(type, client.maintain(conn).values())) <= {int}


def test_bulk_calls(db):
    conn = db.connect()
    soon = datetime.now(UTC) - timedelta(hours=1)
    assert client.enqueue_many(conn, "bulk", ["a", "b", None], [{"n": 1}, None, [1]], [soon, None, soon]) == 3
    jobs = client.claim(conn, batch=10)
    assert sorted(job.key or "" for job in jobs) == ["", "a", "b"]
    tokens = [jobs[0].token, uuid4(), jobs[2].token]
    assert client.complete_many(conn, [job.id for job in jobs], tokens) == [
        True,
        False,
        True,
    ]


def test_claim_by_key_and_by_transaction(db):
    conn = db.connect()
    client.enqueue(conn, "lock", key="a")
    [job] = client.claim_key(conn, "lock", "a", lease=30)
    assert client.claim_key(conn, "lock", "a") == []
    client.release(conn, job.id, job.token)
    with conn.transaction():
        [held] = client.claim_tx(conn, ["lock"])
        assert held.claimed_until is None
        client.fence(conn, held.id, held.token)
        assert client.extend(conn, held.id, held.token) is None
        assert client.complete(conn, held.id, held.token) == "deleted"
    assert value(conn, "select count(*) from jobs.job") == 0


def test_kinds_are_defined_paused_and_shown(db):
    conn = db.connect()
    client.define(conn, "mail", max_attempts=3, lease=5, keep_done=timedelta(days=1))
    client.enqueue(conn, "mail")
    client.pause(conn, "mail")
    assert client.claim(conn) == []
    [row] = client.overview(conn)
    assert (row["kind"], row["due"], row["paused"]) == ("mail", 1, True)
    client.resume(conn, "mail")
    [job] = client.claim(conn)
    assert client.complete(conn, job.id, job.token, {"ok": True}) == "done"
    assert value(conn, "select result from jobs.job") == {"ok": True}
    assert client.version(conn) == "0.1.0"


def test_a_stream_is_published_read_and_advanced(db):
    """The handler's write and the advance share one transaction: rolled back, the rows come again; committed, they do not."""
    conn = db.connect()
    client.subscribe(conn, "episodes", "segments")
    first = client.publish(conn, "episodes", "ann", {"text": "hello"})
    rest = client.publish_many(conn, "episodes", ["ann", "bob", "ann"], [None, [1], "text"])
    assert [first, *rest] == sorted([first, *rest])
    [job] = client.claim_key(conn, "segments", "ann")
    read = client.read(conn, job.id, job.token, batch=2)
    assert [(row.seq, row.stream, row.key, row.payload) for row in read] == [
        (first, "episodes", "ann", {"text": "hello"}),
        (rest[0], "episodes", "ann", None),
    ]
    assert read[0].published_at.utcoffset() is not None
    conn.execute("create table written (seq bigint)")
    with conn.transaction(force_rollback=True):
        conn.execute("insert into written values (%s)", (rest[0],))
        assert client.advance(conn, job.id, job.token, rest[0]) is True
    assert client.read(conn, job.id, job.token, batch=2) == read
    with conn.transaction():
        conn.execute("insert into written values (%s)", (rest[0],))
        assert client.advance(conn, job.id, job.token, upto=rest[0]) is True
    assert [row.payload for row in client.read(conn, job.id, job.token)] == ["text"]
    assert client.complete(conn, job.id, job.token) == "pending"
    assert rows(conn, "select seq from written") == [(rest[0],)]


def test_the_outbox_refuses_what_it_cannot_hold_and_what_is_lost(db):
    conn = db.connect()
    db.stop_clock()
    client.subscribe(conn, "episodes", "segments", from_start=False)
    with pytest.raises(BadArgument, match="payload"):
        client.publish(conn, "episodes", "ann", math.nan)
    with pytest.raises(BadArgument, match="payloads"):
        client.publish_many(conn, "episodes", ["ann"], ["nul \0"])
    with pytest.raises(BadArgument, match="stream"):
        client.publish(conn, "", "ann", 1)
    with pytest.raises(BadArgument, match="replays"):
        client.subscribe(conn, "other", "segments")
    seq = client.publish(conn, "episodes", "ann", 1)
    [job] = client.claim(conn, ["segments"], lease=10)
    db.advance(10)
    with pytest.raises(LostClaim):
        client.read(conn, job.id, job.token)
    with pytest.raises(LostClaim):
        client.advance(conn, job.id, job.token, seq)


def test_no_kinds_claim_nothing(db):
    """A08"""
    conn = db.connect()
    client.enqueue(conn, "mail")
    assert client.claim(conn, []) == []


def test_the_connections_own_factories_do_not_matter(db):
    conn = db.connect(row_factory=dict_row, cursor_factory=psycopg.RawCursor)
    client.enqueue(conn, "mail", payload="text")
    [job] = client.claim(conn)
    assert job.payload == "text"


def test_the_callers_transaction_is_joined(db):
    conn, other = db.connect(autocommit=False), db.connect()
    client.enqueue(conn, "mail")
    assert value(other, "select count(*) from jobs.job") == 0
    conn.rollback()
    assert value(other, "select count(*) from jobs.job") == 0
    client.enqueue(conn, "mail")
    conn.commit()
    assert value(other, "select count(*) from jobs.job") == 1


def test_an_object_is_stored_as_an_object(db):
    """A16"""
    conn = db.connect()
    client.enqueue(conn, "mail", payload={"a": 1})
    assert value(conn, "select jsonb_typeof(payload) from jobs.job") == "object"


@pytest.mark.parametrize(
    "payload",
    [
        math.nan,
        {"a": math.inf},
        {1, 2},
        "nul \0",
        ["\\\\\0"],
        "lone \ud800",
        {"\udc00": 1},
    ],
    ids=repr,
)
def test_what_jsonb_cannot_hold_is_refused_and_the_transaction_stays_usable(db, payload):
    """A16, C34"""
    conn = db.connect(autocommit=False)
    client.enqueue(conn, "mail", payload="before")
    with pytest.raises(BadArgument, match="payload"):
        client.enqueue(conn, "mail", payload=payload)
    assert conn.info.transaction_status == TransactionStatus.INTRANS
    conn.commit()
    assert value(conn, "select count(*) from jobs.job") == 1


def test_an_escaped_backslash_is_not_a_nul(db):
    conn = db.connect()
    client.enqueue(conn, "mail", payload="\\u0000")
    assert client.claim(conn)[0].payload == "\\u0000"


@pytest.mark.parametrize("key", ["nul \0", "lone \ud800"], ids=repr)
def test_a_key_that_is_no_text_is_refused_and_the_transaction_stays_usable(db, key):
    """C34"""
    conn = db.connect(autocommit=False)
    client.enqueue(conn, "mail")
    with pytest.raises(BadArgument):
        client.enqueue(conn, "mail", key=key)
    conn.commit()
    assert value(conn, "select count(*) from jobs.job") == 1


@pytest.mark.parametrize(
    "text",
    ["nul \0 here", "lone \ud800 here", "x" * 20_000],
    ids=["nul", "surrogate", "long"],
)
def test_any_error_text_can_be_reported(db, text):
    """C34"""
    conn = db.connect()
    client.enqueue(conn, "mail")
    [job] = client.claim(conn)
    client.fail(conn, job.id, job.token, text)
    stored = value(conn, "select last_error from jobs.job")
    assert stored == text[:8000].replace("\0", "\\x00").replace("\ud800", "\\ud800")


def test_errors_are_chosen_by_sqlstate(db):
    conn = db.connect()
    client.enqueue(conn, "mail", key="k")
    with pytest.raises(AlreadyLive):
        client.enqueue(conn, "mail", key="k", on_conflict="raise")
    with pytest.raises(BadArgument) as caught:
        client.claim(conn, lease=0)
    assert caught.value.sqlstate == "22023"
    conn.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
    with pytest.raises(WrongTransaction), conn.transaction():
        client.claim(conn)


def test_other_database_errors_stay_the_drivers(db):
    conn = db.connect()
    conn.execute("set default_transaction_read_only = on")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        client.enqueue(conn, "mail")


def test_a_database_without_the_schema_says_so(empty_db):
    with pytest.raises(NotInstalled):
        client.version(empty_db.connect())


@pytest.mark.parametrize("length", [math.nan, math.inf, 1e30, True, "5"], ids=repr)
def test_a_length_of_time_must_be_one(length):
    with pytest.raises(BadArgument, match="delay"):
        calls.enqueue("mail", delay=length)


def test_an_instant_needs_its_zone():
    """C33"""
    with pytest.raises(BadArgument, match="run_after"):
        calls.enqueue("mail", run_after=datetime(2030, 1, 1))


def test_an_infinite_instant_can_be_read(db):
    """A30"""
    conn = db.connect()
    client.enqueue(conn, "mail")
    conn.execute("update jobs.job set created_at = '-infinity', finished_at = 'infinity'")
    [job] = client.claim(conn)
    assert job.created_at == datetime.min.replace(tzinfo=UTC)
    assert rows(conn, "select state from jobs.job") == [("running",)]


def test_a_claim_that_is_rolled_back_leaves_nothing(db):
    """C26"""
    conn = db.connect()
    client.enqueue(conn, "mail")
    with pytest.raises(psycopg.errors.QueryCanceled), conn.transaction():
        assert len(client.claim(conn)) == 1
        conn.execute("set local statement_timeout = 1")
        conn.execute("select pg_sleep(60)")
    assert value(conn, "select state from jobs.job") == "pending"
    assert len(client.claim(conn)) == 1


def test_a_late_complete_takes_the_transactions_writes_with_it(db):
    """C25"""
    conn = db.connect()
    db.stop_clock()
    conn.execute("create table written (n int)")
    client.enqueue(conn, "mail")
    [job] = client.claim(conn, lease=10)
    db.advance(10)
    with pytest.raises(LostClaim), conn.transaction():
        conn.execute("insert into written values (1)")
        client.complete(conn, job.id, job.token)
    assert value(conn, "select count(*) from written") == 0


def test_a_fence_at_commit_time_catches_a_refusal_that_a_savepoint_swallowed(db):
    """C25"""
    conn = db.connect()
    db.stop_clock()
    conn.execute("create table written (n int)")
    client.enqueue(conn, "mail")
    [job] = client.claim(conn, lease=10)
    db.advance(10)
    with pytest.raises(LostClaim), conn.transaction():
        conn.execute("insert into written values (1)")
        with pytest.raises(LostClaim), conn.transaction():
            client.complete(conn, job.id, job.token)
        client.fence(conn, job.id, job.token)
    assert value(conn, "select count(*) from written") == 0


def test_a_description_is_always_possible():
    class Unreadable(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert errors.describe(Unreadable()) == "Unreadable: (the exception has no readable text)"
    assert errors.describe(ValueError("a\0b")) == "ValueError: a\\x00b"
