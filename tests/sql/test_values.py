"""Odd values through a client's parameters: nothing is changed on the way, nothing is refused that the contract allows."""

from __future__ import annotations

import pytest
from psycopg.types.json import Jsonb

from tests.sql.play import refused, run_all

KEYS = {
    "quotes": "it's a \"key\" with `quotes` and ''two''",
    "percent": "100 % of %s and %(name)s, _like_ %",
    "backslash": "C:\\temp\\new \\' \\u0041 \\",
    "emoji": "🦑 naïve 漢字 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "dollar": '$1 $$ $tag$ {braces,"in"} (1,2)',
    "empty": "",
    "blanks": " \t leading, \r\n trailing \n ",
    "null": "NULL",
    "control": "\x01\x02\x7f\u200b\ufeff\u2028",
    "2000 characters": "k" * 2000,
    "2048 bytes": "漢" * 682 + "ab",
    "sql": "'); drop table jobs.job; --",
}


def test_a_key_of_odd_characters_lives_a_whole_life(db, session):
    """enqueue; meet it; claim_key; re-trigger; complete; fail; bulk; cancel_key: always the same key."""
    s, other = session(), session()
    for key in KEYS.values():
        live_with(db, s, other, key)


def live_with(db, s, other, key):
    assert s.enqueue("k", key).outcome == "inserted"
    assert other.enqueue("k", key).outcome in ("reset", "kept")
    (job,) = s.call("claim_key", kind="k", key=key, worker=key[:60])
    assert (job.key, job.worker) == (key, key[:60])
    assert other.enqueue("k", key).outcome == "retriggered"
    assert s.complete(job) == "pending"
    job = s.take("k")
    assert job.key == key
    s.fail(job, key, retry_in="0 s")
    assert s.jobs("k")[0].last_error == key
    other.begin()
    assert other.one("enqueue_many", kind="k", keys=[key, key])[0] == 1
    assert s.enqueue("k", key).outcome == "queued"
    other.commit()
    db.advance(1)
    assert [job.key for job in run_all(db, s)] == [key]
    assert other.one("enqueue_many", kind="k", keys=[key, key])[0] == 1
    assert s.one("cancel_key", kind="k", key=key)[0] == "cancelled"
    assert [(row.key, row.state) for row in s.jobs("k")] == [(key, "cancelled")]
    s.run("delete from jobs.job")


def test_keys_that_differ_in_anything_are_different_jobs(db, session):
    """Upper and lower case, composed and decomposed letters, trailing blanks: each is a key of its own; kinds too."""
    s = session()
    keys = ["a", "A", "a ", " a", "é", "e\u0301", "ß", "ss", "1", "01"]
    assert s.one("enqueue_many", kind="k", keys=keys)[0] == len(keys)
    for kind in ("K", "k ", "é", "e\u0301", "kind with 'quotes' and %s"):
        assert s.enqueue(kind, "a").outcome == "inserted"
        assert [job.kind for job in s.claim(kind)] == [kind]
    assert sorted(job.key for job in s.claim("k", batch=100)) == sorted(keys)


@pytest.mark.parametrize("size", [1 << 20, 10 << 20], ids=["1 MB", "10 MB"])
def test_a_large_payload_comes_back_as_it_was(db, session, size):
    """A14"""
    s, other = session(), session()
    payload = {"text": "añ🦑" * (size // 8), "list": list(range(1000))}
    s.enqueue("k", "a", payload=payload)
    job = other.take()
    assert job.payload == payload
    s.enqueue("k", "a", payload={"n": 1})
    s.enqueue("k", "a", payload=payload)
    assert other.complete(job) == "pending"
    again = s.take()
    assert again.payload == payload
    s.call("define", kind="k", keep_done="1 hour")
    assert s.complete(again, result=payload) == "done"
    assert other.jobs("k")[0].result == payload


def test_a_payload_is_stored_as_what_it_is(db, session):
    """A16: objects stay objects, from parameters and from literals; JSON null and no payload differ."""
    s = session()
    s.run("select jobs.enqueue('k', 'literal', '{\"a\": 1}')")
    s.run("select jobs.enqueue('k', 'parameter', %s)", Jsonb({"a": 1}))
    s.run("select jobs.enqueue('k', 'text', '\"{}\"')")
    s.run("select jobs.enqueue('k', 'json null', 'null')")
    s.run("select jobs.enqueue('k', 'none')")
    assert s.run("select key, jsonb_typeof(payload) from jobs.job order by key") == [
        ("json null", "null"),
        ("literal", "object"),
        ("none", None),
        ("parameter", "object"),
        ("text", "string"),
    ]
    for bad in ("NaN", "Infinity", "{'a': 1}", '"\\u0000"', '"\\ud800"'):
        s.begin()
        s.savepoint("s")
        with pytest.raises(Exception) as caught:
            s.run("select jobs.enqueue('k', 'bad', %s::jsonb)", bad)
        assert caught.value.sqlstate in ("22P02", "22P05"), bad
        s.rollback_to("s")
        assert s.enqueue("k", "good").id is not None
        s.rollback()


@pytest.mark.parametrize("text", ["x" * (10 << 20), "漢🦑" * (1 << 20)], ids=["10 MB", "many bytes"])
def test_an_enormous_error_is_kept_short_and_says_so(db, session, text):
    """An error text of 10 MB: fail passes, the beginning is kept, 8,000 characters at most, and it says that it was cut."""
    s, other = session(), session()
    for final in (False, True):
        s.enqueue("k", "a")
        job = s.take()
        s.fail(job, text, final=final)
        (error,) = (row.last_error for row in other.jobs("k"))
        assert len(error) <= 8000
        assert error[:7000] == text[:7000]
        assert str(len(text)) in error
        db.advance(7200)


@pytest.mark.parametrize("length", [7999, 8000])
def test_an_error_that_fits_is_kept_whole(db, session, length):
    s = session()
    s.enqueue("k", "a")
    s.fail(s.take(), "e" * length)
    assert s.jobs("k")[0].last_error == "e" * length


def test_an_error_with_every_character_that_text_can_hold(db, session):
    """C34: whatever a client can send as text is recorded as it is; null and '' do not fail either."""
    s = session()
    for error in ("".join(map(chr, range(1, 256))), "\ufffd\ufffe\U0010ffff", "%s %(x)s {0} \\", "", None):
        s.enqueue("k", "a")
        assert s.fail(s.take(), error, retry_in="0 s").state == "pending"
        if error is not None:
            assert s.jobs("k")[0].last_error == error


def test_what_text_cannot_hold_is_refused_before_anything_is_changed(db, session):
    """C34: invalid UTF-8 sent as bytes: a clear error, the job still held; the cleaned text is then recorded."""
    s = session()
    s.enqueue("k", "a")
    job = s.take()
    for raw in (b"\xff\xfe", b"\xed\xa0\x80", b"a\x00b"):
        with pytest.raises(Exception) as caught:
            s.run("select jobs.fail(%s, %s, convert_from(%s, 'UTF8'))", job.id, job.claimed_by, raw)
        assert caught.value.sqlstate == "22021"
    assert s.holds(job) is True
    assert s.fail(job, b"\xff".decode(errors="replace")).state == "pending"


BAD = [
    ("kind", "k" * 129),
    ("kind", "漢" * 43),
    ("kind", ""),
    ("kind", None),
    ("key", "k" * 2049),
    ("key", "漢" * 683),
    ("priority", 32768),
    ("priority", -32769),
    ("max_attempts", -1),
    ("on_conflict", "replace"),
    ("on_conflict", None),
    ("run_after", "infinity"),
    ("run_after", "-infinity"),
]


def test_a_bad_argument_is_named_and_nothing_is_stored(db, session):
    """A30: 22023 with the argument's name."""
    s = session()
    for field, value in BAD:
        with refused("22023", field):
            s.call("enqueue", **{"kind": "k", field: value})
    assert s.run("select 1 from jobs.job") == []


def test_a_batch_out_of_bounds_is_refused(db, session):
    s = session()
    s.enqueue("k")
    for batch in (0, -1, None, 1001, 2147483647):
        for verb in ("claim", "claim_tx"):
            with refused("22023", "batch"):
                s.call(verb, batch=batch)
    assert s.take().attempts == 0


def test_kinds_that_are_empty_unknown_repeated_or_null(db, session):
    """A08"""
    s = session()
    s.enqueue("k", "a")
    for kinds in ([], ["unknown"], [None], ["unknown", None]):
        assert s.call("claim", kinds=kinds) == []
        s.begin()
        assert s.call("claim_tx", kinds=kinds) == []
        s.rollback()
        assert s.call("next_due", kinds=kinds) == [(None,)]
    assert len(s.call("claim", kinds=["k", "k", "unknown", None, "k"], batch=5)) == 1
