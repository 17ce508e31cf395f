"""Workers that only use claim_tx: leases end and stored triggers are folded, and no handler holds jobs that it was not given."""

from __future__ import annotations

import pytest

from tests.sql.play import run_all


def claim_tx(s, *kinds, **named):
    return s.call("claim_tx", **({"kinds": list(kinds)} if kinds else {}), **named)


def store(slow, producer, *keys, kind="k"):
    """Stored triggers without a live job: the producer met the keys of a transaction that was then rolled back."""
    slow.begin()
    for key in keys:
        slow.enqueue(kind, key)
    for key in keys:
        assert producer.enqueue(kind, key).outcome == "queued"
    slow.rollback()


@pytest.mark.parametrize("kinds", [[], ["k"]], ids=["every kind", "its kind"])
@pytest.mark.parametrize("what", ["trigger", "lease", "both"])
def test_stored_triggers_and_expired_leases_come_back_without_any_claim(db, session, kinds, what):
    """
    crashed (timestamp lease)      slow                      producer
    claim (a)
                                   begin; enqueue (b)
                                                             enqueue (b): queued
                                   rollback
    the lease ends
    tx: begin; claim_tx; complete; commit, until nothing comes: a with an attempt more, b
    """
    crashed, slow, producer, tx = session(), session(), session(), session()
    expected = []
    if what != "trigger":
        producer.enqueue("k", "a")
        crashed.take()
        expected.append(("a", 1))
        db.advance(60)
    if what != "lease":
        store(slow, producer, "b")
        expected.append(("b", 0))
    ran = []
    for _ in range(len(expected)):
        tx.begin()
        (job,) = claim_tx(tx, *kinds)
        ran.append((job.key, job.attempts))
        assert tx.complete(job) == "deleted"
        tx.commit()
    assert sorted(ran) == expected
    assert claim_tx(tx, *kinds) == []
    assert tx.jobs("k") == []
    assert tx.run("select 1 from jobs.trigger") == []


def test_a_job_that_kills_its_workers_ends_in_failed_without_any_claim(db, session):
    """A05: worker claims and dies, its last attempt; tx: claim_tx: no job, and it stands in failed with a reason."""
    worker, tx = session(), session()
    tx.enqueue("k", "a", max_attempts=1)
    worker.take()
    db.advance(60)
    assert claim_tx(tx, "k") == []
    (row,) = tx.jobs("k")
    assert (row.state, row.attempts) == ("failed", 1)
    assert "lease expired" in row.last_error


def test_a_handler_that_found_a_stored_trigger_holds_that_one_job_alone(db, session):
    """
    ten stored triggers, five expired leases
    a                                     b                        worker           producer
    begin; claim_tx: one of them
                                          begin; claim_tx(batch 4): four others
                                                                   claim(batch 100): the ten that are left
    commit, without an end of the job                                               enqueue of a's key: queued, at once
    """
    slow, producer, a, b, worker = session(), session(), session(), session(), session()
    leased = [str(n) for n in range(5)]
    producer.call("enqueue_many", kind="k", keys=leased)
    worker.claim(batch=5)
    db.advance(61)
    stored = [f"stored {n}" for n in range(10)]
    store(slow, producer, *stored)
    a.begin()
    (first,) = claim_tx(a, "k")
    b.begin()
    others = claim_tx(b, "k", batch=4)
    assert len(others) == 4
    rest = worker.claim("k", batch=100)
    rest += worker.claim("k", batch=100)
    assert sorted([first.key, *[job.key for job in others], *[job.key for job in rest]]) == sorted(leased + stored)
    assert producer.enqueue("k", first.key).outcome in ("queued", "retriggered")
    for one, jobs in ((a, [first]), (b, others)):
        for job in jobs:
            one.complete(job)
        one.commit()
    assert all(answer.completed for answer in worker.complete_many(rest))
    assert [job.key for job in run_all(db, worker)] == [first.key]


@pytest.mark.parametrize("end", ["rollback", "die", "fail"])
def test_what_a_handler_made_due_is_not_lost_with_it(db, session, end):
    """a: begin; claim_tx: a stored trigger; rolls back (dies, fails in a savepoint). b: claim_tx: the job."""
    slow, producer, a, b = session(), session(), session(), session()
    store(slow, producer, "a")
    a.begin()
    (job,) = claim_tx(a, "k")
    assert claim_tx(b, "k") == []
    if end == "fail":
        a.savepoint("work")
        a.rollback_to("work")
        a.fail(job)
        a.commit()
        db.advance(10)
    else:
        getattr(a, end)()
    b.begin()
    (again,) = claim_tx(b, "k")
    assert (again.key, again.attempts) == ("a", 1 if end == "fail" else 0)
    b.complete(again)
    b.commit()
    assert b.jobs("k") == []


def test_a_busy_handler_leaves_what_an_idle_worker_can_have(db, session):
    """
    one due job, one stored trigger and one expired lease of this moment
    a                               b
    begin; claim_tx: the due job
                                    begin; claim_tx (twice): the other two, at once
    """
    slow, producer, crashed, a, b = session(), session(), session(), session(), session()
    db.stop_clock()
    producer.enqueue("k", "leased")
    crashed.take()
    producer.enqueue("k", "due", delay="59 s")
    db.advance(60)
    store(slow, producer, "stored")
    a.begin()
    assert [job.key for job in claim_tx(a, "k")] == ["due"]
    b.begin()
    assert sorted(job.key for _ in range(2) for job in claim_tx(b, "k")) == ["leased", "stored"]
    a.rollback()
    b.rollback()


@pytest.mark.parametrize("what", ["trigger", "lease"])
def test_a_fleet_that_is_never_idle_looks_after_them_too(db, session, what):
    """
    one worker; a job that is always due (it is released at once, more remains); a stored trigger, or a lease that ended
    for a second its calls leave it to idle workers; then one call makes it due, and the next ones run it
    """
    slow, producer, crashed, tx = session(), session(), session(), session()
    db.stop_clock()
    if what == "lease":
        producer.enqueue("k", "other")
        crashed.take()
        db.advance(60)
    else:
        store(slow, producer, "other")
    producer.enqueue("k", "purge")
    seen = []
    for _ in range(6):
        tx.begin()
        for job in claim_tx(tx, "k"):
            seen.append(job.key)
            if job.key == "purge":
                tx.release(job, progress=True)
            else:
                tx.complete(job)
        tx.commit()
        db.advance(0.5)
    assert seen.index("other") in (3, 4), seen
    assert seen.count("other") == 1


def test_a_busy_handler_holds_one_more_job_at_most(db, session):
    """ten triggers stored two seconds ago, ten due jobs. a: begin; claim_tx. worker: claims all others but one; a ends: that one too."""
    slow, producer, a, worker = session(), session(), session(), session()
    stored = [f"stored {n}" for n in range(10)]
    store(slow, producer, *stored)
    due = [f"due {n}" for n in range(10)]
    producer.call("enqueue_many", kind="k", keys=due)
    db.advance(2)
    a.begin()
    (job,) = claim_tx(a, "k")
    rest = [other.key for _ in range(3) for other in worker.claim("k", batch=100)]
    assert len(rest) == len(set(rest)) == 18
    assert job.key not in rest
    a.commit()
    late = [other.key for _ in range(2) for other in worker.claim("k", batch=100)]
    assert sorted([*rest, *late]) == sorted(stored + due)


def test_a_handler_that_only_looks_at_its_kinds_holds_nothing_of_others(db, session):
    """Stored triggers and an expired lease of kind b. a: begin; claim_tx (a): its job. worker: claim (b): all of them."""
    slow, producer, crashed, a, worker = session(), session(), session(), session(), session()
    producer.enqueue("b", "leased")
    crashed.take()
    db.advance(60)
    store(slow, producer, "x", "y", kind="b")
    db.advance(5)
    producer.enqueue("a", "mine")
    a.begin()
    (job,) = claim_tx(a, "a")
    assert sorted(other.key for _ in range(2) for other in worker.claim("b", batch=10)) == ["leased", "x", "y"]
    a.complete(job)
    a.commit()


def test_an_empty_claim_does_the_housekeeping_of_all(db, session):
    """claim_tx of a kind that has nothing: finished jobs are deleted in time, other kinds' leases ended; with a job in hand it is not."""
    worker, tx = session(), session()
    tx.call("define", kind="k", keep_done="1 hour")
    tx.enqueue("k", "done")
    worker.complete(worker.take())
    tx.enqueue("k", "leased")
    worker.take()
    db.advance(7200)
    tx.enqueue("mine")
    tx.begin()
    (job,) = claim_tx(tx, "mine")
    for _ in range(16):
        assert claim_tx(tx, "mine") == []
        db.advance(1)
    tx.complete(job)
    tx.commit()
    assert sorted(row.state for row in tx.jobs("k")) == ["done", "running"]
    for _ in range(16):
        assert claim_tx(tx, "mine") == []
        db.advance(1)
    assert [(row.key, row.state) for row in tx.jobs("k")] == [("leased", "pending")]


def test_more_stored_triggers_than_one_look_holds(db, session):
    """150 keys of a producer's open transaction, one stored trigger behind them: an idle claim_tx reaches it within a few calls."""
    holder, producer, slow, tx = session(), session(), session(), session()
    keys = [f"{n:03}" for n in range(150)]
    holder.begin()
    holder.call("enqueue_many", kind="k", keys=keys)
    producer.call("enqueue_many", kind="k", keys=keys)
    store(slow, producer, "behind", kind="z")
    found = []
    for _ in range(4):
        db.advance(1)
        found += claim_tx(tx)
    assert {job.key for job in found} == {"behind"}
    holder.rollback()
