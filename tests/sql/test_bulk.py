"""Two replicas with the same keys in opposite orders: no deadlock, one live job per key."""

from __future__ import annotations

import pytest

from tests.sql.play import run_all
from tests.sql.test_claims import together

KEYS = [f"key {n}" for n in range(1000)]


def assert_one_run_per_key(db, s, keys=KEYS, extra=()):
    db.advance(1)
    ran = run_all(db, s)
    assert sorted(job.key for job in ran) == sorted([*keys, *extra])
    assert s.value("select count(*) from jobs.job") == 0
    assert s.run("select 1 from jobs.trigger") == []


def singly(s, start, stop):
    step = 1 if stop >= start else -1
    return s.start(
        "select count(*) from generate_series(%s::int, %s::int, %s::int) as n cross join lateral jobs.enqueue('k', 'key ' || n)",
        start,
        stop,
        step,
    )


def bulk(s, keys):
    return s.starting("enqueue_many", kind="k", keys=keys)


@pytest.mark.parametrize("present", [False, True], ids=["new keys", "pending keys"])
@pytest.mark.parametrize("ends", ["commit commit", "rollback commit", "commit rollback"])
def test_one_by_one_in_opposite_orders(db, session, present, ends):
    """
    a                            b
    begin; keys 0 to 499
                                 begin; keys 999 to 500
    keys 500 to 999: at once
                                 keys 499 to 0: at once
    both end
    """
    a, b = session(), session()
    if present:
        bulk(a, KEYS).result()
    a.begin()
    b.begin()
    assert singly(a, 0, 499).result()[0][0] == 500
    assert singly(b, 999, 500).result()[0][0] == 500
    assert singly(a, 500, 999).result()[0][0] == 500
    assert singly(b, 499, 0).result()[0][0] == 500
    first, second = ends.split()
    getattr(a, first)()
    getattr(b, second)()
    assert_one_run_per_key(db, a)


@pytest.mark.parametrize("present", [False, True], ids=["new keys", "pending keys"])
@pytest.mark.parametrize("ends", ["commit commit", "rollback commit", "commit rollback"])
def test_in_bulk_in_opposite_orders(db, session, present, ends):
    """As above, each half in one call of enqueue_many. A call may wait for another bulk, but nobody is shot down."""
    a, b = session(patient=True), session(patient=True)
    if present:
        bulk(a, KEYS).result()
    a.begin()
    b.begin()
    bulk(a, KEYS[:500]).result()
    bulk(b, KEYS[:499:-1]).result()
    halves = bulk(a, KEYS[500:]), bulk(b, KEYS[499::-1])
    assert [half.result()[0][0] for half in halves] == [500, 500]
    first, second = ends.split()
    getattr(a, first)()
    getattr(b, second)()
    assert_one_run_per_key(db, a)


@pytest.mark.parametrize("how", ["singly", "bulk", "both"])
def test_at_the_same_time_in_opposite_orders(db, session, how):
    """Four sessions at once, two ascending, two descending, each in a transaction of its own, twice over."""
    sessions = [session(patient=True) for _ in range(4)]

    def replica(n):
        s = sessions[n]

        def run():
            for round in range(2):
                s.begin()
                if how == "singly" or (how == "both" and (n + round) % 2):
                    (singly(s, 0, 999) if n % 2 else singly(s, 999, 0)).result()
                else:
                    bulk(s, KEYS if n % 2 else KEYS[::-1]).result()
                s.commit()

        return run

    together([replica(n) for n in range(4)])
    assert_one_run_per_key(db, sessions[0])


def test_a_bulk_with_duplicates_among_all_kinds_of_jobs(db, session):
    """
    C04: keys twice in the call; a pending one, a running one, one in a handler's transaction, one locked by a producer, a failed one.
    handler: begin; claim_tx. producer: begin; enqueue. other: enqueue_many of all of them: at once; then all end, and each key runs.
    """
    worker, handler, producer, other = session(), session(), session(), session()
    other.enqueue("k", "pending", delay="1 hour")
    other.enqueue("k", "failed")
    worker.fail(worker.take(), final=True)
    other.enqueue("k", "running")
    running = worker.take()
    other.enqueue("k", "held")
    handler.begin()
    (held,) = handler.call("claim_tx")
    producer.begin()
    producer.enqueue("k", "locked")
    producer.enqueue("k", "pending", on_conflict="keep")
    keys = ["pending", "running", "held", "locked", "failed", "new", "new", "running", "pending"]
    assert other.one("enqueue_many", kind="k", keys=keys)[0] == 6
    producer.commit()
    handler.complete(held)
    handler.commit()
    assert worker.complete(running) == "pending"
    assert "failed" in [row.state for row in other.jobs("k") if row.key == "failed"]
    other.run("delete from jobs.job where state = 'failed'")
    assert_one_run_per_key(db, other, ["pending", "running", "held", "locked", "failed", "new"])


def test_a_bulk_with_raise_enqueues_all_or_nothing(db, session):
    """a: enqueue x. b: enqueue_many of w, x, y with raise: JB002 and neither w nor y; without x: both."""
    a, b = session(), session()
    a.enqueue("k", "x")
    answer = b.starting("enqueue_many", kind="k", keys=["w", "x", "y"], on_conflict="raise").future.exception(60)
    assert answer.sqlstate == "JB002"
    assert [row.key for row in a.jobs("k")] == ["x"]
    assert b.one("enqueue_many", kind="k", keys=["w", "y"], on_conflict="raise")[0] == 2
    assert_one_run_per_key(db, a, ["w", "x", "y"])
