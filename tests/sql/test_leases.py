"""Leases: they last by the database's clock, and are over for everybody from the instant that they end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.sql.play import refused, run_all, wait_for

VERBS = {
    "complete": lambda s, job: s.complete(job),
    "fail": lambda s, job: s.fail(job),
    "release": lambda s, job: s.release(job),
    "extend": lambda s, job: s.extend(job),
    "fence": lambda s, job: s.fence(job),
}


def assert_refused_everywhere(s, job):
    """No verb takes this claim, and none of them changes the row."""
    before = s.row(job)
    for verb in VERBS.values():
        with refused("JB001", "lost"):
            verb(s, job)
    assert s.holds(job) is False
    assert s.complete_many([job]) == [(job.id, False)]
    beat = s.one("extend_many", ids=[job.id], tokens=[job.claimed_by], lease="60 s")
    assert (beat.id, beat.claimed_until) == (job.id, None)
    assert s.row(job) == before


def test_a_claim_in_a_transaction_open_for_minutes_gets_a_full_lease(db, session):
    """
    worker            clock
    begin; select 1
                      + 10 minutes
    claim; commit
    other: the claim is live, for 60 s
    """
    worker, other = session(), session()
    db.stop_clock()
    other.enqueue("k")
    worker.begin()
    worker.run("select now()")
    db.advance(600)
    job = worker.take()
    worker.commit()
    assert job.claimed_until - other.value("select jobs.clock()") == timedelta(seconds=60)
    assert other.holds(job) is True
    assert other.claim() == []
    assert other.complete(job) == "deleted"


@pytest.mark.parametrize("verb", VERBS)
def test_a_transaction_open_for_minutes_sees_the_real_end_of_its_lease(db, session, verb):
    """
    worker                      clock
    claim
    begin; select now(); fence
                                + 61 s
    verb: refused
    """
    worker = session()
    worker.enqueue("k")
    job = worker.take()
    worker.begin()
    worker.run("select now()")
    worker.fence(job)
    db.advance(61)
    assert worker.holds(job) is False
    with refused("JB001", "expired"):
        VERBS[verb](worker, job)
    worker.rollback()


def test_a_lease_is_over_from_the_instant_it_ends_whether_or_not_the_job_was_taken(db, session):
    """
    worker: claim for 60 s; 1 µs before the end every verb passes; at the end every verb is refused;
    then another worker takes the job, and they are refused still.
    """
    worker, other = session(), session()
    db.stop_clock()
    for _ in VERBS:
        worker.enqueue("k")
    jobs = worker.claim(batch=10)
    late = worker.enqueue("late") and worker.take("late")
    db.advance(59.999999)
    for verb, job in zip(VERBS.values(), jobs, strict=True):
        verb(worker, job)
    assert worker.holds(late) is True
    worker.run("update jobs.job set run_after = run_after + interval '1 day' where state = 'pending'")
    db.advance(0.000001)
    assert_refused_everywhere(worker, late)
    taken = other.take("late")
    assert (taken.id, taken.attempts) == (late.id, 1)
    assert_refused_everywhere(worker, late)
    assert other.complete(taken) == "deleted"
    assert_refused_everywhere(worker, late)


def test_an_old_token_is_refused_in_every_state_and_changes_nothing(db, session):
    """A02, C10, C11: released, taken again (by the same worker too), expired, done, failed, cancelled, retried, deleted."""
    worker, operator = session(), session()
    db.stop_clock()
    operator.call("define", kind="kept", keep_done="1 day")

    def claimed(kind, **named):
        operator.enqueue(kind, **named)
        return worker.take(kind)

    job = claimed("k")
    worker.release(job, delay="1 hour")
    assert_refused_everywhere(worker, job)

    job = claimed("k")
    worker.release(job)
    again = worker.take("k")
    assert (again.id, again.claimed_by == job.claimed_by) == (job.id, False)
    assert again.epoch > job.epoch
    assert_refused_everywhere(worker, job)
    assert worker.complete(again) == "deleted"
    assert_refused_everywhere(worker, job)
    assert_refused_everywhere(worker, again)

    job = claimed("kept")
    assert worker.complete(job) == "done"
    assert_refused_everywhere(worker, job)

    job = claimed("k")
    assert worker.fail(job, final=True).state == "failed"
    assert_refused_everywhere(worker, job)
    assert operator.one("retry", id=job.id)[0] == "retried"
    assert_refused_everywhere(worker, job)
    assert worker.complete(worker.take("k")) == "deleted"

    job = claimed("k")
    assert worker.fail(job, retry_in="1 hour").state == "pending"
    assert_refused_everywhere(worker, job)

    job = claimed("k")
    assert operator.one("cancel", id=job.id)[0] == "cancelled"
    assert_refused_everywhere(worker, job)
    assert operator.one("retry", id=job.id)[0] == "retried"
    assert_refused_everywhere(worker, job)
    assert worker.complete(worker.take("k")) == "deleted"

    job = claimed("k")
    db.advance(60)
    assert_refused_everywhere(worker, job)
    operator.call("maintain")
    assert_refused_everywhere(worker, job)
    assert operator.one("cancel", id=job.id)[0] == "cancelled"
    assert_refused_everywhere(worker, job)


def test_a_worker_that_dies_each_time_costs_an_attempt_each_time(db, session):
    """A05: claim, the session dies, the lease ends; three times, with three attempts allowed."""
    operator = session()
    operator.enqueue("k", "a", max_attempts=3)
    for attempt in range(3):
        worker = session()
        job = worker.take(worker=f"w{attempt}")
        assert job.attempts == attempt
        worker.die()
        assert operator.claim() == []
        db.advance(61)
    assert operator.claim() == []
    (job,) = operator.jobs("k")
    assert (job.state, job.attempts, job.claimed_by, job.claimed_until) == ("failed", 3, None, None)
    assert job.last_error.startswith("lease expired")
    assert job.finished_at is not None
    assert operator.claim() == []


def test_an_expiry_that_meets_a_complete_changes_nothing(db, session):
    """
    A01
    worker                     clock    other
    claim
    begin; complete
                               + 61 s
                                        maintain, claim, claim_key: nothing to take, no waiting
    commit
                                        the job is gone for good
    """
    worker, other = session(), session()
    other.enqueue("k", "a")
    job = worker.take()
    worker.begin()
    assert worker.complete(job) == "deleted"
    db.advance(61)
    other.call("maintain")
    assert other.claim() == []
    assert other.call("claim_key", kind="k", key="a") == []
    worker.commit()
    assert run_all(db, other) == []
    assert other.jobs("k") == []


def test_a_complete_that_meets_an_expiry_is_refused_at_once(db, session):
    """
    A01
    worker            clock    other
    claim
                      + 61 s
                               begin; maintain (the attempt ends)
    complete: refused, without waiting
                               commit
    """
    worker, other = session(), session()
    other.enqueue("k", "a")
    job = worker.take()
    db.advance(61)
    other.begin()
    other.call("maintain")
    with refused("JB001", "expired"):
        worker.complete(job)
    other.commit()
    (row,) = other.jobs("k")
    assert (row.state, row.attempts) == ("pending", 1)
    with refused("JB001"):
        worker.complete(job)


def test_a_lease_that_was_extended_is_not_expired_by_a_sweep(db, session):
    """claim; + 50 s; extend; + 50 s; maintain by another; complete."""
    worker, other = session(), session()
    other.enqueue("k", "a")
    job = worker.take()
    db.advance(50)
    assert worker.extend(job) > job.claimed_until
    db.advance(50)
    other.call("maintain")
    assert other.claim() == []
    assert worker.complete(job) == "deleted"


def test_a_senseless_lease_is_refused_and_takes_nothing(db, session, cluster):
    """C14"""
    worker = session()
    for lease in ("0 s", "-1 s", "8 days", "infinity", "-infinity"):
        worker.enqueue("k", "a")
        # up to 16 no interval is infinite: the literal itself is refused
        state = "22007" if "infinity" in lease and cluster.major < 17 else "22023"
        with refused(state):
            worker.claim(lease=lease)
        with refused(state):
            worker.call("claim_key", kind="k", key="a", lease=lease)
        job = worker.take()
        with refused(state):
            worker.extend(job, lease)
        assert worker.complete(job) == "deleted"


def test_a_claim_that_is_cut_before_its_commit_leaves_nothing(db, session):
    """
    C26
    worker: claim inside a statement that is cancelled; then claim in a transaction whose session dies.
    other: claims the job, no attempt counted.
    """
    worker, other = session(), session()
    other.enqueue("k", "a")
    pending = worker.start("select c.id, pg_sleep(50) from jobs.claim() as c")
    asleep = "select 1 from pg_stat_activity where pid = %s and wait_event = 'PgSleep'"
    wait_for(lambda: db.query(asleep, (worker.pid,)), "the claim to be over and its statement not")
    db.query("select pg_cancel_backend(%s)", (worker.pid,))
    with refused("57014"):
        pending.result()
    assert [(job.state, job.attempts) for job in other.jobs("k")] == [("pending", 0)]
    worker.begin()
    worker.take()
    assert other.claim() == []
    worker.die()
    db.advance(2)
    job = other.take()
    assert job.attempts == 0
    assert other.complete(job) == "deleted"


def test_a_claim_that_is_cut_after_its_commit_costs_one_lease(db, session):
    """C26: claim; the session dies; nothing for 60 s, then the job with one attempt counted."""
    worker, other = session(), session()
    other.enqueue("k", "a")
    db.stop_clock()
    worker.take()
    worker.die()
    db.advance(59.999)
    assert other.claim() == []
    db.advance(0.001)
    job = other.take()
    assert job.attempts == 1
    assert other.complete(job) == "deleted"
