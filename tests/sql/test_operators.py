"""Operators at work while everything runs: retry, cancel, pause, define against producers and workers."""

from __future__ import annotations

import pytest

from tests.sql.play import refused, run_all


def failed_job(worker, key="a", **named):
    worker.enqueue("k", key, **named)
    job = worker.take("k")
    assert worker.fail(job, "no good", final=True).state == "failed"
    return job


def test_a_failed_job_with_a_newer_live_twin_is_not_retried_and_nothing_is_lost(db, session):
    """C03: fail; enqueue (a fresh job); retry of the failed one: live, pending or running the twin; both rows as before."""
    worker, operator = session(), session()
    job = failed_job(worker)
    operator.enqueue("k", "a", delay="1 hour")
    before = operator.jobs("k")
    assert operator.one("retry", id=job.id)[0] == "live"
    assert operator.jobs("k") == before
    db.advance(3601)
    twin = worker.take()
    assert operator.one("retry", id=job.id)[0] == "live"
    worker.complete(twin)
    assert operator.one("retry", id=job.id)[0] == "retried"
    again = worker.take()
    assert (again.id, again.attempts) == (job.id, 0)
    worker.complete(again)
    assert operator.one("retry", id=job.id)[0] == "missing"


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_a_retry_does_not_wait_for_a_producer_of_the_same_key(db, session, end):
    """
    C03
    producer                    operator
    begin; enqueue (fresh job)
                                retry of the failed one: at once, no unique violation
    commit or rollback
    at most one live job; a retry now says what is so
    """
    worker, producer, operator = session(), session(), session()
    job = failed_job(worker)
    producer.begin()
    producer.enqueue("k", "a")
    assert operator.one("retry", id=job.id)[0] == "busy"
    getattr(producer, end)()
    assert operator.one("retry", id=job.id)[0] == ("live" if end == "commit" else "retried")
    assert len([row for row in operator.jobs("k") if row.state == "pending"]) == 1
    assert len(run_all(db, worker)) == 1


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_two_operators_retry_twins_of_one_key(db, session, end):
    """
    C03
    first                       second
    begin; retry of job 1
                                retry of job 2 (same key, failed too), and of job 1: at once
    commit or rollback
    one of them lives, the other can be told apart
    """
    worker, first, second = session(), session(), session()
    one, two = failed_job(worker), failed_job(worker)
    first.begin()
    assert first.one("retry", id=one.id)[0] == "retried"
    assert second.one("retry", id=two.id)[0] == "busy"
    assert second.one("retry", id=one.id)[0] == "busy"
    getattr(first, end)()
    assert second.one("retry", id=two.id)[0] == ("live" if end == "commit" else "retried")
    assert len([row for row in second.jobs("k") if row.state == "pending"]) == 1


def test_every_way_back_to_pending_with_a_twin_that_failed_earlier(db, session):
    """C03: a failed and a cancelled row with the key; a live one fails, expires, is released, re-triggered: no unique violation."""
    worker, other = session(), session()
    failed_job(worker)
    other.enqueue("k", "a")
    assert other.one("cancel_key", kind="k", key="a")[0] == "cancelled"
    other.enqueue("k", "a")
    for how in ("fail", "release", "expire", "trigger"):
        job = worker.take("k")
        if how == "fail":
            worker.fail(job, retry_in="0 s")
        elif how == "release":
            worker.release(job)
        elif how == "expire":
            db.advance(61)
            other.call("maintain")
        else:
            other.enqueue("k", "a")
            assert worker.complete(job) == "pending"
    assert sorted(row.state for row in other.jobs("k")) == ["cancelled", "failed", "pending"]


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_a_cancel_and_a_claim(db, session, end):
    """
    worker                    operator
    begin; claim
                              cancel: busy, at once
    commit or rollback
                              cancel: cancelled
    complete: refused
    """
    worker, operator = session(), session()
    operator.enqueue("k", "a")
    worker.begin()
    job = worker.take()
    assert operator.one("cancel", id=job.id)[0] == "busy"
    getattr(worker, end)()
    assert operator.one("cancel", id=job.id)[0] == "cancelled"
    with refused("JB001"):
        worker.complete(job)
    assert operator.one("cancel", id=job.id)[0] == "cancelled"
    assert run_all(db, worker) == []
    assert operator.one("cancel", id=10**15)[0] == "missing"
    assert operator.one("cancel_key", kind="k", key="nothing")[0] == "missing"


def test_a_cancel_in_an_open_transaction_holds_the_job(db, session):
    """operator: begin; cancel a pending job. worker: claim: nothing. rollback: the worker claims it."""
    worker, operator = session(), session()
    operator.enqueue("k", "a")
    operator.begin()
    assert operator.one("cancel_key", kind="k", key="a")[0] == "cancelled"
    assert worker.claim() == []
    operator.rollback()
    assert worker.complete(worker.take()) == "deleted"


def test_a_paused_kind_is_not_claimed_by_any_way_until_it_is_resumed(db, session):
    """operator: pause. worker: claim, claim_key, claim_tx: nothing, next_due: none; what runs may finish. operator: resume."""
    worker, operator = session(), session()
    operator.enqueue("k", "a")
    operator.enqueue("k", "b")
    job = worker.take()
    operator.call("pause", kind="k")
    assert worker.extend(job) is not None
    assert worker.complete(job) == "deleted"
    assert worker.claim() == []
    assert worker.call("claim_key", kind="k", key="b") == []
    worker.begin()
    assert worker.call("claim_tx") == []
    worker.commit()
    assert worker.one("next_due")[0] is None
    assert operator.enqueue("k", "c").outcome == "inserted"
    operator.call("resume", kind="k")
    assert len(worker.claim(batch=5)) == 2


def test_a_policy_counts_for_the_next_claim_and_the_next_failure(db, session):
    """producer enqueues, then define: the lease is the new one; while it runs, define: the limit is the newest one."""
    worker, operator = session(), session()
    db.stop_clock()
    operator.enqueue("k", "a")
    operator.call("define", kind="k", lease="10 s")
    job = worker.take()
    assert (job.claimed_until - job.claimed_at).total_seconds() == 10
    operator.call("define", kind="k", max_attempts=1)
    assert worker.fail(job).state == "failed"


def test_two_operators_define_one_kind_at_once(db, session):
    """first: begin; define lease. second: define max_attempts: waits, or passes. commit. Both fields stand, no error."""
    first, second = session(), session(patient=True)
    first.begin()
    first.call("define", kind="k", lease="10 s")
    pending = second.starting("define", kind="k", max_attempts=7)
    first.commit()
    pending.result()
    assert first.run("select lease, max_attempts from jobs.kind where kind = 'k'")[0].max_attempts == 7
    assert first.run("select lease = '10 s' from jobs.kind where kind = 'k'") == [(True,)]


def test_the_views_answer_while_everything_is_held(db, session):
    """C23: a claim, a transaction lease, an expired lease, a failed job; overview, running and failed from another session."""
    worker, handler, operator = session(), session(), session()
    for key in ("expires", "runs"):
        operator.enqueue("k", key)
    worker.claim(batch=1, worker="w1")
    db.advance(61)
    worker.call("claim_key", kind="k", key="runs", worker="w2")
    failed_job(worker, key="bad", priority=-1)
    operator.enqueue("k", "later", delay="1 hour")
    operator.enqueue("k", "tx")
    handler.begin()
    (held,) = handler.call("claim_tx")
    (row,) = operator.run("select * from jobs.overview where kind = 'k'")
    assert (row.scheduled, row.failed, row.cancelled, row.paused) == (1, 1, 0, False)
    assert row.due + row.running + row.expired >= 2
    assert "w2" in {r.worker for r in operator.run("select * from jobs.running")}
    assert len(operator.run("select * from jobs.failed")) == 1
    handler.complete(held)
    handler.commit()
