"""claim_tx: the lock of the caller's own transaction is the lease."""

from __future__ import annotations

import pytest

from tests.sql.play import refused, run_all


def claim_tx(s, **named):
    return s.call("claim_tx", **named)


@pytest.mark.parametrize("first", ["handler", "producer"])
@pytest.mark.parametrize("outcome", ["complete", "rollback", "die", "fail", "release"])
def test_a_trigger_for_a_job_in_a_handlers_transaction_is_queued_at_once(db, session, first, outcome):
    """
    C07
    handler                      producer
    begin; claim_tx
                                 begin; enqueue: queued, at once
    complete (or fail, release, rollback, death); the two commits in either order
    the job runs again, after that, with the new payload; once
    """
    handler, producer, other = session(), session(), session()
    producer.enqueue("k", "a", payload={"n": 1})
    handler.begin()
    (job,) = claim_tx(handler)
    assert (job.state, job.claimed_until) == ("running", None)
    producer.begin()
    assert producer.enqueue("k", "a", payload={"n": 2}).outcome == "queued"
    if first == "producer":
        producer.commit()
    if outcome == "complete":
        handler.complete(job)
    elif outcome == "fail":
        handler.fail(job)
    elif outcome == "release":
        handler.release(job)
    if outcome == "rollback":
        handler.rollback()
    elif outcome == "die":
        handler.die()
    else:
        handler.commit()
    if first == "handler":
        producer.commit()
    db.advance(2)
    ran = run_all(db, other)
    assert [job.payload for job in ran] == [{"n": 2}]
    assert other.run("select 1 from jobs.trigger") == []


def test_two_transactions_never_hold_one_job(db, session):
    """a: begin; claim_tx 2 of 3. b: begin; claim_tx 2: the third alone. c: claim: nothing. All without waiting."""
    a, b, c = session(), session(), session()
    for key in ("1", "2", "3"):
        c.enqueue("k", key)
    a.begin()
    b.begin()
    mine, yours = claim_tx(a, batch=2), claim_tx(b, batch=2)
    assert (len(mine), len(yours)) == (2, 1)
    assert {job.id for job in mine} & {job.id for job in yours} == set()
    assert c.claim(batch=3) == []
    assert c.call("claim_key", kind="k", key="1") == []
    assert c.one("cancel", id=mine[0].id)[0] == "busy"
    assert claim_tx(a, batch=2) == []
    for job in mine:
        assert a.complete(job) == "deleted"
    a.commit()
    b.rollback()
    assert [job.id for job in c.claim(batch=3)] == [yours[0].id]


def test_a_crash_ends_the_claim_at_once_and_costs_no_attempt(db, session):
    """handler: begin; claim_tx; dies. other: claims at once."""
    handler, other = session(), session()
    other.enqueue("k", "a")
    handler.begin()
    claim_tx(handler)
    assert other.claim() == []
    handler.die()
    job = other.take()
    assert job.attempts == 0


def test_its_token_holds_in_that_transaction_only(db, session):
    """
    handler                          other
    begin; claim_tx; holds: true
                                     holds: false; complete, fail, fence: JB001, at once
    commit (job given back)
    complete in a later transaction: JB001
    begin; claim_tx: another token
    """
    handler, other = session(), session()
    other.enqueue("k", "a")
    handler.begin()
    (job,) = claim_tx(handler)
    assert handler.holds(job) is True
    handler.fence(job)
    assert other.holds(job) is False
    for verb in (other.complete, other.fail, other.fence, other.release, other.extend):
        with refused("JB001"):
            verb(job)
    handler.commit()
    for verb in (handler.complete, handler.fail, handler.fence, handler.release):
        with refused("JB001"):
            verb(job)
    handler.begin()
    (again,) = claim_tx(handler)
    assert again.id == job.id
    assert again.claimed_by != job.claimed_by
    with refused("JB001"):
        handler.complete(job)
    handler.rollback()
    assert other.complete(other.take()) == "deleted"


def test_a_failure_inside_a_savepoint_is_recorded_by_the_transaction_that_holds_the_job(db, session):
    """handler: begin; claim_tx; savepoint; insert; error; rollback to savepoint; fail; commit: the failure stands, the insert does not."""
    handler, other = session(), session()
    other.run("create table effect (n int)")
    other.enqueue("k", "a")
    handler.begin()
    (job,) = claim_tx(handler)
    handler.savepoint("work")
    handler.run("insert into effect values (1)")
    with refused("22012"):
        handler.run("select 1 / 0")
    handler.rollback_to("work")
    assert handler.fail(job, "division by zero").state == "pending"
    assert claim_tx(handler) == []
    handler.commit()
    assert other.run("select 1 from effect") == []
    (row,) = other.jobs("k")
    assert (row.state, row.attempts, row.last_error) == ("pending", 1, "division by zero")


def test_a_claim_inside_a_savepoint_ends_with_it(db, session):
    """handler: begin; savepoint; claim_tx; rollback to savepoint: the token is void, the job free for another."""
    handler, other = session(), session()
    other.enqueue("k", "a")
    handler.begin()
    handler.savepoint("s")
    (job,) = claim_tx(handler)
    handler.rollback_to("s")
    taken = other.take()
    assert taken.id == job.id
    assert handler.holds(job) is False
    with refused("JB001"):
        handler.complete(job)
    handler.rollback()
    assert other.complete(taken) == "deleted"


def test_a_job_that_was_finished_in_the_transaction_is_not_returned_again(db, session):
    """begin; claim_tx all one by one, each completed, released or failed with no wait: each comes once."""
    handler, other = session(), session()
    ends = (handler.complete, handler.release, lambda job: handler.fail(job, retry_in="0 s"))
    for key in range(6):
        other.enqueue("k", str(key))
    handler.begin()
    seen = []
    while jobs := claim_tx(handler):
        seen += [job.id for job in jobs]
        ends[len(seen) % 3](jobs[0])
        assert len(seen) <= 6
    handler.commit()
    assert len(set(seen)) == 6
    db.advance(1)
    assert len(run_all(db, other)) == 4


def test_work_and_completion_are_one(db, session):
    """handler: begin; claim_tx; insert; complete; then rollback: neither; the second time commit: both."""
    handler, other = session(), session()
    other.run("create table effect (n int)")
    other.enqueue("k", "a")
    for end in ("rollback", "commit"):
        handler.begin()
        (job,) = claim_tx(handler)
        handler.run("insert into effect values (1)")
        assert handler.complete(job) == "deleted"
        getattr(handler, end)()
        assert other.value("select count(*) from effect") == (end == "commit")
        assert len(other.jobs("k")) == (end == "rollback")


@pytest.mark.parametrize("verb", ["enqueue", "enqueue_many"])
@pytest.mark.parametrize("end", ["complete", "release", "fail"])
def test_a_handler_that_triggers_its_own_job_makes_it_run_once_more(db, session, verb, end):
    """handler: begin; claim_tx; enqueue of the key it holds; complete (release, fail); commit: the job runs again, once."""
    handler, other = session(), session()
    other.enqueue("k", "a")
    handler.begin()
    (job,) = claim_tx(handler)
    if verb == "enqueue":
        assert handler.enqueue("k", "a").outcome == "queued"
    else:
        handler.call("enqueue_many", kind="k", keys=["a"])
    getattr(handler, end)(job)
    handler.commit()
    assert [ran.key for ran in run_all(db, other)] == ["a"]
    assert other.run("select 1 from jobs.trigger") == []


@pytest.mark.parametrize("verb", ["claim", "claim_tx", "claim_key", "maintain"])
def test_no_housekeeping_in_a_handlers_transaction_loses_a_trigger_of_the_job_it_holds(db, session, verb):
    """
    A03
    handler                              producer
    begin; claim_tx
                                         enqueue: queued
    claim (or claim_tx, maintain …): folds what is stored, but not into the row that this transaction holds
    complete; commit
    the job runs once more
    """
    handler, producer = session(), session()
    producer.enqueue("k", "a")
    handler.begin()
    (job,) = claim_tx(handler)
    assert producer.enqueue("k", "a").outcome == "queued"
    db.advance(5)
    named = {"claim": {"kinds": ["other"]}, "claim_key": {"kind": "other", "key": "a"}}
    handler.call(verb, **named.get(verb, {}))
    handler.complete(job)
    handler.commit()
    assert [ran.key for ran in run_all(db, producer)] == ["a"]
    assert producer.run("select 1 from jobs.trigger") == []
