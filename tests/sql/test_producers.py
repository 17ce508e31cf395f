"""Producers: they wait for nobody, and what they asked for is never lost and never doubled."""

from __future__ import annotations

import itertools

import pytest

from tests.sql.play import refused, run_all


def test_no_claim_sees_neither_the_trigger_nor_the_rows(db, session):
    """
    producer                                   worker
    begin; insert row; enqueue (the job is pending and due: nothing changes)
                                               claim: nothing, for the job must not run without the row
    commit
                                               claim; reads the row; complete
    """
    producer, worker = session(), session()
    worker.run("create table item (n int)")
    for n, on_conflict in enumerate(("reset", "earliest", "keep"), 1):
        worker.enqueue("k", "a")
        producer.begin()
        producer.run("insert into item values (1)")
        assert producer.enqueue("k", "a", on_conflict=on_conflict).outcome in ("reset", "kept")
        assert worker.claim() == []
        assert worker.call("claim_key", kind="k", key="a") == []
        worker.begin()
        assert worker.call("claim_tx") == []
        worker.rollback()
        producer.commit()
        job = worker.take()
        assert worker.value("select count(*) from item") == n
        assert worker.complete(job) == "deleted"


def test_a_bulk_that_changes_nothing_holds_its_jobs_too(db, session):
    """As above with enqueue_many: begin; enqueue_many; worker claims nothing; commit; worker claims."""
    producer, worker = session(), session()
    for on_conflict in ("reset", "earliest", "keep"):
        for key in ("a", "b"):
            worker.enqueue(on_conflict, key)
        producer.begin()
        assert producer.one("enqueue_many", kind=on_conflict, keys=["b", "a"], on_conflict=on_conflict)[0] == 2
        assert worker.claim(batch=5) == []
        producer.commit()
        assert len(worker.claim(batch=5)) == 2
    assert worker.run("select 1 from jobs.trigger") == []


def test_a_second_producer_whose_rows_come_late_gets_a_run_of_its_own(db, session):
    """
    first                 second                              worker
    begin; enqueue
                          begin; insert row; enqueue: queued
    commit
                                                              claim; does not see the row; complete
                          commit
                                                              claim; sees the row
    """
    first, second, worker = session(), session(), session()
    worker.run("create table item (n int)")
    first.begin()
    assert first.enqueue("k", "a").outcome == "inserted"
    second.begin()
    second.run("insert into item values (1)")
    assert second.enqueue("k", "a").outcome == "queued"
    first.commit()
    job = worker.take()
    assert worker.run("select n from item") == []
    worker.complete(job)
    second.commit()
    job = worker.take()
    assert worker.run("select n from item") == [(1,)]
    assert worker.complete(job) == "deleted"
    assert worker.claim() == []


def test_two_transactions_enqueue_one_key_and_end_in_any_way(db, session):
    """
    C06
    first                  second
    begin; enqueue
                           begin; enqueue: queued, at once
    then both end, in either order, by commit or rollback: one run if any of them committed, with its payload
    """
    first, second, worker = session(), session(), session()
    for case in itertools.product(["commit", "rollback"], ["commit", "rollback"], ["first first", "second first"]):
        end_first, end_second, order = case
        first.begin()
        assert first.enqueue("k", "a", payload={"by": "first"}).outcome == "inserted"
        second.begin()
        assert second.enqueue("k", "a", payload={"by": "second"}).outcome == "queued"
        ends = [(first, end_first), (second, end_second)]
        for who, end in ends if order == "first first" else reversed(ends):
            getattr(who, end)()
        db.advance(1)
        ran = run_all(db, worker)
        expected = ["second"] if end_second == "commit" else ["first"] if end_first == "commit" else []
        assert [job.payload["by"] for job in ran] == expected, case
        assert worker.jobs("k") == [], case
        assert worker.run("select 1 from jobs.trigger") == [], case


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"key": "a"}, {"key": "a"}),
        ({"key": "a"}, {"key": "b"}),
        ({"key": "a", "priority": -5}, {"key": "b", "priority": -5}),
        ({}, {}),
        ({"key": "a"}, {}),
    ],
    ids=["same key", "new kind", "new priority", "no keys", "key and none"],
)
def test_a_producer_waits_for_no_other_producer(db, session, one, other):
    """
    first                       second
    begin; enqueue, enqueue_many
                                enqueue, enqueue_many: at once
    commit or rollback
    every key that was asked for by a committed transaction runs once
    """
    first, second, worker = session(), session(), session()
    for end in ("commit", "rollback"):
        first.begin()
        first.enqueue(end, **one)
        first.one("enqueue_many", kind=f"bulk {end}", keys=[one.get("key")])
        second.enqueue(end, **other)
        second.one("enqueue_many", kind=f"bulk {end}", keys=[other.get("key")])
        getattr(first, end)()
        db.advance(1)
        ran = run_all(db, worker)
        wanted = ([one] if end == "commit" else []) + [other]
        keys = sorted({w["key"] for w in wanted if w.get("key")}) + [None for w in wanted if not w.get("key")]
        for kind in (end, f"bulk {end}"):
            assert sorted((job.key for job in ran if job.kind == kind), key=lambda k: (k is None, k)) == keys


def test_a_producer_does_not_wait_for_a_kind_that_is_being_defined(db, session):
    """operator: begin; define, pause (of a new kind), open. producer: enqueue of that kind, at once. worker: claim, at once."""
    operator, producer, worker = session(), session(), session()
    operator.begin()
    operator.call("define", kind="k", max_attempts=3)
    operator.call("pause", kind="k2")
    assert producer.enqueue("k", "a").outcome == "inserted"
    assert producer.enqueue("k2", "a").outcome == "inserted"
    assert producer.one("enqueue_many", kind="k", keys=["b"])[0] == 1
    assert len(worker.claim(batch=5)) == 3
    operator.commit()


OPEN = ["claim", "claim_key", "claim_tx", "complete", "done", "complete_many", "complete_tx", "fail", "fail_final", "fail_tx"] + [
    "release",
    "release_tx",
    "extend",
    "fence",
    "cancel",
    "cancel_pending",
    "retry",
    "maintain",
    "enqueue",
    "enqueue_many",
]


@pytest.mark.parametrize("verb", OPEN)
def test_a_producer_waits_for_no_transaction_that_touched_its_job(db, session, verb):
    """
    worker                                   producers
    (claim)
    begin; the verb
                                             enqueue, enqueue_many: at once; committed
    commit, or rollback
    the newest payload runs after that, and nothing is left over
    """
    operator, producer = session(), session()
    for end in ("commit", "rollback"):
        worker = session()
        kind = f"{verb} {end}"
        if verb == "done":
            operator.call("define", kind=kind, keep_done="1 hour")
        operator.enqueue(kind, "a", payload={"n": 1})
        job = None
        if verb not in (
            "claim",
            "claim_key",
            "claim_tx",
            "complete_tx",
            "fail_tx",
            "release_tx",
            "cancel_pending",
            "enqueue",
            "enqueue_many",
        ):
            job = worker.take(kind)
        if verb == "retry":
            worker.fail(job, final=True)
        if verb == "maintain":
            db.advance(61)
        worker.begin()
        if verb in ("claim", "claim_tx", "complete_tx", "fail_tx", "release_tx"):
            (job,) = worker.call("claim" if verb == "claim" else "claim_tx", kinds=[kind])
        elif verb == "claim_key":
            worker.one("claim_key", kind=kind, key="a")
        elif verb in ("cancel", "cancel_pending"):
            assert worker.one("cancel_key", kind=kind, key="a")[0] == "cancelled"
        elif verb == "retry":
            assert worker.one("retry", id=job.id)[0] == "retried"
        elif verb == "maintain":
            worker.call("maintain")
        elif verb == "enqueue":
            worker.enqueue(kind, "a")
        elif verb == "enqueue_many":
            worker.one("enqueue_many", kind=kind, keys=["a"])
        elif verb == "complete_many":
            assert worker.complete_many([job]) == [(job.id, True)]
        if verb in ("complete", "done", "complete_tx"):
            worker.complete(job)
        elif verb in ("fail", "fail_tx"):
            worker.fail(job)
        elif verb == "fail_final":
            worker.fail(job, final=True)
        elif verb in ("release", "release_tx"):
            worker.release(job)
        elif verb == "extend":
            worker.extend(job)
        elif verb == "fence":
            worker.fence(job)
        assert producer.enqueue(kind, "a", payload={"n": 2}).outcome in ("queued", "retriggered", "inserted")
        bulk = "insert into bulk_payload values (1)"
        assert (
            bulk
            and producer.value(
                "select jobs.enqueue_many(%s, array['a', 'b'], array[jsonb_build_object('n', 3), jsonb_build_object('n', 3)])", kind
            )
            == 2
        )
        getattr(worker, end)()
        worker.close()
        db.advance(1)
        ran = run_all(db, operator, kind)
        assert [job.payload["n"] for job in ran if job.key == "a"][-1] == 3
        assert [job.payload["n"] for job in ran if job.key == "b"] == [3]
        assert [job.state for job in operator.jobs(kind) if job.state in ("pending", "running")] == []
        assert operator.run("select 1 from jobs.trigger") == []


def test_an_open_transaction_that_enqueued_delays_nobody(db, session):
    """
    C17
    slow                                other
    begin; enqueue a, b; enqueue_many
                                        enqueue c; claim; complete; define; maintain; commit each: at once
    commit
    """
    slow, other = session(), session()
    slow.begin()
    for key in ("a", "b", None):
        slow.enqueue("k", key)
    slow.one("enqueue_many", kind="k", keys=[f"x{n}" for n in range(500)])
    other.begin()
    other.enqueue("k2", "c")
    other.commit()
    other.begin()
    job = other.take()
    other.complete(job)
    other.commit()
    other.call("define", kind="k", max_attempts=3)
    other.call("maintain")
    slow.commit()
    assert len(other.claim("k", batch=1000)) == 503


def test_raise_is_answered_by_what_is_committed(db, session):
    """
    first                    second
    begin; enqueue
                             enqueue 'raise': not refused yet, for the first may roll back: stored
    commit
                             enqueue 'raise': JB002, and enqueue_many 'raise': JB002 with nothing enqueued
                             claim
                             enqueue 'raise' of a running job: JB002
    """
    first, second = session(), session()
    first.begin()
    first.enqueue("k", "a")
    assert second.enqueue("k", "a", on_conflict="raise").outcome == "queued"
    first.commit()
    with refused("JB002"):
        second.enqueue("k", "a", on_conflict="raise")
    with refused("JB002"):
        second.call("enqueue_many", kind="k", keys=["x", "a", "y"], on_conflict="raise")
    db.advance(1)
    job = second.take()
    with refused("JB002"):
        second.enqueue("k", "a", on_conflict="raise")
    assert second.complete(job) == "deleted"
    assert run_all(db, second) == []


def test_earliest_is_not_put_off_for_ever_and_reset_can_be(db, session):
    """A04: a trigger every 0.5 s, each with a delay of 2 s. The commits come from two sessions in turn."""
    producers, worker = (session(), session()), session()
    db.stop_clock()
    started: dict[str, float] = {}
    for n in range(20):
        for kind in ("earliest", "reset"):
            producers[n % 2].enqueue(kind, "a", delay="2 s", on_conflict=kind)
            if kind not in started and worker.claim(kind):
                started[kind] = n * 0.5
        db.advance(0.5)
    assert started == {"earliest": 2.0}
    db.advance(1.5)
    worker.take("reset")


def test_a_transaction_that_rolls_back_to_a_savepoint_forgets_its_enqueue(db, session):
    """
    first                                             second
    begin; savepoint; enqueue; rollback to savepoint
                                                      enqueue: inserted, nothing is held any more
    commit
    """
    first, second = session(), session()
    first.begin()
    first.savepoint("s")
    first.enqueue("k", "a")
    first.rollback_to("s")
    assert second.enqueue("k", "a").outcome == "inserted"
    first.commit()
    assert len(run_all(db, second)) == 1


def test_a_failed_job_does_not_stand_in_the_way(db, session):
    """fail (final); enqueue: a fresh job beside it; both from different sessions."""
    worker, producer = session(), session()
    producer.enqueue("k", "a")
    job = worker.take()
    worker.fail(job, final=True)
    new = producer.enqueue("k", "a")
    assert (new.outcome, new.id == job.id) == ("inserted", False)
    assert [j.state for j in producer.jobs("k")] == ["failed", "pending"]
