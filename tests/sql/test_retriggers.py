"""A trigger for a job that runs: exactly one more run, however the present one ends and whenever the trigger arrives."""

from __future__ import annotations

import pytest

from tests.sql.play import run_all

ENDS = ["complete", "done", "complete_many", "fail", "last", "final", "release", "expire", "expire_last", "cancel"]
WHEN = ["before", "open", "overlap", "open overlap"]


def end(how, db, who, job):
    if how in ("complete", "done"):
        who.complete(job)
    elif how == "complete_many":
        assert who.complete_many([job]) == [(job.id, True)]
    elif how in ("fail", "last"):
        who.fail(job)
    elif how == "final":
        who.fail(job, final=True)
    elif how == "release":
        who.release(job)
    elif how in ("expire", "expire_last"):
        db.advance(61)
        who.call("maintain")
    else:
        assert who.one("cancel", id=job.id)[0] == "cancelled"


@pytest.mark.parametrize("how", ENDS)
def test_exactly_one_more_run(db, session, how):
    """
    A03. worker: claim, then its run ends; producer: enqueues, five times.
    before:       enqueue and commit | end
    open:         begin; enqueue     | end       | commit of the producer
    overlap:      begin; end         | enqueue   | commit of the worker
    open overlap: begin; end | begin; enqueue | commit of the worker | commit of the producer
    """
    worker, producer, other = session(), session(), session()
    if how == "done":
        other.call("define", kind="k", keep_done="1 hour")
    for when in WHEN:
        producer.enqueue("k", when, payload={"n": 0}, max_attempts=1 if how in ("last", "expire_last") else None)
        job = worker.take("k")

        def triggers(key=when):
            outcomes = {producer.enqueue("k", key, payload={"n": n}).outcome for n in range(1, 6)}
            assert outcomes <= {"retriggered", "queued"}, outcomes

        if when == "before":
            triggers()
            end(how, db, worker, job)
        elif when == "open":
            producer.begin()
            triggers()
            end(how, db, worker, job)
            producer.commit()
        elif when == "overlap":
            worker.begin()
            end(how, db, worker, job)
            triggers()
            worker.commit()
        else:
            worker.begin()
            end(how, db, worker, job)
            producer.begin()
            triggers()
            worker.commit()
            producer.commit()
        db.advance(2)
        ran = run_all(db, other)
        assert [(job.key, job.payload) for job in ran] == [(when, {"n": 5})], when
        live = [row.state for row in other.jobs("k") if row.state in ("pending", "running")]
        assert live == [], when
        assert other.run("select 1 from jobs.trigger") == [], when


@pytest.mark.parametrize("how", ENDS)
def test_a_trigger_that_is_rolled_back_gives_no_run(db, session, how):
    """producer: begin; enqueue | worker: its run ends | producer: rollback. Only what the end itself asks for runs."""
    worker, producer, other = session(), session(), session()
    if how == "done":
        other.call("define", kind="k", keep_done="1 hour")
    producer.enqueue("k", "a", payload={"n": 0}, max_attempts=1 if how in ("last", "expire_last") else None)
    job = worker.take("k")
    producer.begin()
    producer.enqueue("k", "a", payload={"n": 1})
    end(how, db, worker, job)
    producer.rollback()
    db.advance(2)
    again = how in ("fail", "release", "expire")
    assert [job.payload for job in run_all(db, other)] == ([{"n": 0}] if again else [])


def test_a_thousand_triggers_during_one_run_give_one_more(db, session):
    """C08: four producers in turn, some in bulk, some in one transaction; keyed, so no copies without a key."""
    worker, producers = session(), [session() for _ in range(4)]
    producers[0].enqueue("k", "a")
    job = worker.take()
    for producer in producers[:3]:
        producer.run("select count(*) from generate_series(1, 300) as n cross join lateral jobs.enqueue('k', 'a')")
    producers[3].begin()
    for _ in range(100):
        assert producers[3].one("enqueue_many", kind="k", keys=["a", "a"])[0] == 1
    producers[3].commit()
    assert worker.complete(job) == "pending"
    assert len(run_all(db, worker)) == 1
    assert worker.jobs("k") == []
    assert worker.run("select 1 from jobs.trigger") == []


def test_each_run_that_is_triggered_again_runs_again(db, session):
    """claim; enqueue; complete: pending; claim; enqueue; complete: pending; …; the last one: deleted."""
    worker, producer = session(), session()
    producer.enqueue("k", "a")
    first = None
    for n in range(5):
        job = worker.take()
        first = first or job.id
        assert (job.id, job.attempts) == (first, 0)
        assert worker.claim() == []
        if n < 4:
            assert producer.enqueue("k", "a").outcome == "retriggered"
        assert worker.complete(job) == ("pending" if n < 4 else "deleted")


def test_a_trigger_for_later_does_not_run_now(db, session):
    """claim; enqueue with a delay of an hour; complete: pending, not due for an hour."""
    worker, producer = session(), session()
    db.stop_clock()
    producer.enqueue("k", "a")
    job = worker.take()
    producer.enqueue("k", "a", delay="1 hour")
    assert worker.complete(job) == "pending"
    assert worker.claim() == []
    db.advance(3599)
    assert worker.claim() == []
    db.advance(1)
    assert worker.complete(worker.take()) == "deleted"


def test_a_failed_attempt_waits_out_its_backoff_in_spite_of_a_trigger(db, session):
    """claim; enqueue; fail with an hour's wait: the trigger does not cut it short, and its payload is what runs."""
    worker, producer = session(), session()
    db.stop_clock()
    producer.enqueue("k", "a", payload={"n": 1})
    job = worker.take()
    producer.enqueue("k", "a", payload={"n": 2})
    assert worker.fail(job, retry_in="1 hour").state == "pending"
    db.advance(3599)
    assert worker.claim() == []
    db.advance(1)
    again = worker.take()
    assert (again.payload, again.attempts) == ({"n": 2}, 1)


def test_the_last_attempt_leaves_a_failed_job_and_a_fresh_one(db, session):
    """claim; enqueue; fail at the last attempt: failed, and beside it a pending job with no attempts."""
    worker, producer = session(), session()
    producer.enqueue("k", "a", max_attempts=1)
    job = worker.take()
    producer.enqueue("k", "a")
    assert worker.fail(job, "no more").state == "failed"
    db.advance(1)
    fresh = worker.take()
    assert (fresh.id == job.id, fresh.attempts) == (False, 0)
    assert [(row.state, row.last_error) for row in worker.jobs("k")] == [("failed", "no more"), ("running", None)]
