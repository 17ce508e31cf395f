"""Between a fence and the commit: nobody takes the job, and nobody who does not want it waits."""

from __future__ import annotations

import pytest

from tests.sql.play import refused


def effects(s):
    s.run("create table if not exists effect (job bigint, what text)")


@pytest.mark.parametrize("after", [0, 61], ids=["live", "expired"])
def test_nobody_takes_a_job_between_fence_and_commit(db, session, after):
    """
    worker                          clock       other
    claim
    begin; insert; fence
                                    (+ 61 s)
                                                claim, claim_key, claim_tx, maintain: nothing
                                                cancel: busy, retry: busy or running
    commit
                                                only now, and only if it expired, the job can be taken
    """
    worker, other = session(), session()
    effects(other)
    other.enqueue("k", "a")
    job = worker.take()
    worker.begin()
    worker.run("insert into effect values (%s, 'done')", job.id)
    worker.fence(job)
    db.advance(after)
    assert other.claim() == []
    assert other.call("claim_key", kind="k", key="a") == []
    other.begin()
    assert other.call("claim_tx") == []
    other.commit()
    other.call("maintain")
    assert other.one("cancel", id=job.id)[0] == "busy"
    assert other.one("cancel_key", kind="k", key="a")[0] == "busy"
    assert other.one("retry", id=job.id)[0] in ("busy", "running")
    (row,) = other.jobs("k")
    assert (row.state, row.claimed_by, row.attempts) == ("running", job.claimed_by, 0)
    worker.commit()
    assert other.value("select count(*) from effect") == 1
    db.advance(1)
    if after:
        taken = other.take()
        assert taken.attempts == 1
        with refused("JB001"):
            worker.complete(job)
    else:
        assert other.claim() == []
        assert worker.complete(job) == "deleted"


def test_heartbeats_and_triggers_pass_a_fence_at_once(db, session):
    """
    worker (handler)        worker (heartbeat)                producers
    claim
    begin; fence
                            extend, extend_many, holds: pass
                                                              enqueue, enqueue_many: retriggered
    complete; commit
    """
    worker, beat, producer = session(), session(), session()
    producer.enqueue("k", "a")
    job = worker.take()
    worker.begin()
    worker.fence(job)
    db.advance(30)
    until = beat.extend(job)
    assert until is not None
    beats = beat.call("extend_many", ids=[job.id], tokens=[job.claimed_by], lease="60 s")
    assert [(b.id, b.cancelled) for b in beats] == [(job.id, False)]
    assert beats[0].claimed_until >= until
    assert beat.holds(job) is True
    assert producer.enqueue("k", "a").outcome == "retriggered"
    assert producer.one("enqueue_many", kind="k", keys=["a"])[0] == 1
    db.advance(40)
    worker.fence(job)
    assert worker.complete(job) == "pending"
    worker.commit()
    assert producer.complete(producer.take()) == "deleted"
    assert producer.jobs("k") == []


def test_a_fenced_write_of_a_lost_claim_leaves_nothing(db, session):
    """
    old                           clock    new
    claim
                                  + 61 s
                                           claim; begin; insert; fence; complete; commit
    begin; insert; fence: JB001; commit (which rolls back)
    """
    old, new = session(), session()
    effects(new)
    new.enqueue("k", "a")
    lost = old.take()
    db.advance(61)
    job = new.take()
    new.begin()
    new.run("insert into effect values (%s, 'new')", job.id)
    new.fence(job)
    new.complete(job)
    new.commit()
    old.begin()
    old.run("insert into effect values (%s, 'old')", lost.id)
    with refused("JB001"):
        old.fence(lost)
    with refused("25P02"):
        old.run("select 1")
    old.commit()
    assert new.run("select what from effect") == [("new",)]


def test_a_complete_of_a_lost_claim_takes_the_writes_of_its_transaction_with_it(db, session):
    """claim; lease ends; begin; insert; complete: JB001; commit. Nothing was written, the job is still to be done."""
    worker, other = session(), session()
    effects(other)
    other.enqueue("k", "a")
    job = worker.take()
    db.advance(61)
    worker.begin()
    worker.run("insert into effect values (%s, 'late')", job.id)
    with refused("JB001"):
        worker.complete(job)
    worker.commit()
    assert other.run("select 1 from effect") == []
    assert other.take().attempts == 1


def test_a_cancel_wins_or_loses_as_a_whole_against_a_complete(db, session):
    """
    operator                     worker
    begin; cancel
                                 complete: waits
    commit -> refused, rollback -> completed
    """
    worker, operator = session(patient=True), session()
    for end in ("commit", "rollback"):
        operator.enqueue("k", end)
        job = worker.take()
        operator.begin()
        assert operator.one("cancel", id=job.id)[0] == "cancelled"
        pending = worker.starting("complete", id=job.id, token=job.claimed_by).waiting()
        getattr(operator, end)()
        if end == "commit":
            with refused("JB001", "cancelled"):
                pending.result()
        else:
            assert pending.result() == [("deleted",)]


def test_a_cancelled_handler_learns_it_at_its_heartbeat_and_its_writes_are_refused(db, session):
    """claim; another cancels; extend: JB001, extend_many: cancelled, fence: JB001."""
    worker, operator = session(), session()
    for key in ("a", "b"):
        operator.enqueue("k", key)
    lost, live = sorted(worker.claim(batch=2), key=lambda job: job.key)
    assert operator.one("cancel_key", kind="k", key="a")[0] == "cancelled"
    beats = worker.call("extend_many", ids=[live.id, lost.id], tokens=[live.claimed_by, lost.claimed_by], lease="60 s")
    assert [(b.id, b.claimed_until is None, b.cancelled) for b in beats] == [(live.id, False, False), (lost.id, True, True)]
    with refused("JB001", "cancelled"):
        worker.extend(lost)
    with refused("JB001", "cancelled"):
        worker.fence(lost)
    assert worker.complete(live) == "deleted"


def test_a_fence_under_repeatable_read_refuses_a_job_that_was_taken(db, session):
    """
    old                                              clock     new
    claim
    begin repeatable read; select 1; (snapshot taken)
                                                     + 61 s
                                                               claim
    fence: refused (JB001 or 40001), never passed
    """
    for isolation in ("repeatable read", "serializable"):
        old, new = session(), session()
        new.enqueue("k", isolation)
        lost = old.take()
        old.begin(isolation)
        old.run("select count(*) from jobs.job")
        db.advance(61)
        job = new.take()
        with pytest.raises(Exception) as caught:
            old.fence(lost)
        assert caught.value.sqlstate in ("JB001", "40001"), caught.value
        old.rollback()
        assert new.complete(job) == "deleted"


def test_a_fence_under_repeatable_read_of_a_live_claim_holds_the_job(db, session):
    """claim; begin repeatable read; fence; another: cancel is busy; extend passes; commit; complete."""
    worker, other = session(), session()
    other.enqueue("k", "a")
    job = worker.take()
    worker.begin("repeatable read")
    worker.fence(job)
    assert other.one("cancel", id=job.id)[0] == "busy"
    other.extend(job)
    worker.commit()
    assert worker.complete(job) == "deleted"
