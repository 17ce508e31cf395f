"""enqueue_many looks at the live jobs of its keys, and later for keys that have none: what happens in between changes nothing."""

from __future__ import annotations

import pytest

STOP = """
create function stop() returns trigger language plpgsql as $$
begin
    perform pg_advisory_xact_lock(4711);
    return new;
end;
$$;
create trigger stop before insert on jobs.trigger for each row when (new.key = 'stop') execute function stop();
"""
# The call meets the running job `stop` first (it has the lowest id), stores a trigger for it, and waits there: after its first look.


def drain(worker):
    """Claim and complete until nothing comes; the clock stands still, so no tick comes before the first empty claim."""
    ran = []
    while jobs := worker.claim("k", batch=10):
        for job in jobs:
            ran.append(job.key)
            worker.complete(job)
        assert len(ran) < 10
    return ran


def between(db, session, first, act, on_conflict):
    """Runs the call with key x, as `first` at its first look, and `act` while it stands between the looks; returns the sessions."""
    many, key, worker, other = session(patient=True), session(), session(), session()
    db.stop_clock()
    key.run(STOP)
    key.enqueue("k", "stop")
    stop = worker.take()
    if first != "absent":
        key.enqueue("k", "x")
    x = worker.take() if first == "running" else None
    key.begin()
    key.run("select pg_advisory_xact_lock(4711)")
    many.begin()
    call = many.starting("enqueue_many", kind="k", keys=["stop", "x"], on_conflict=on_conflict).waiting()
    act(worker, other, x)
    key.commit()
    assert call.result()[0][0] == 2
    return many, worker, stop


def complete(worker, other, x):
    worker.complete(x)


def fail_for_good(worker, other, x):
    worker.fail(x, final=True)


def cancel(worker, other, x):
    assert other.one("cancel_key", kind="k", key="x")[0] == "cancelled"


def claim_and_complete(worker, other, x):
    assert worker.complete(worker.take()) == "deleted"


def expire_and_complete(worker, other, x):
    other.db.advance(61)
    jobs = other.claim("k", batch=2)
    assert {job.key for job in jobs} == {"stop", "x"}
    for job in jobs:
        other.complete(job)


def complete_and_enqueue(worker, other, x):
    worker.complete(x)
    assert other.enqueue("k", "x").outcome == "queued"


def cancel_and_enqueue(worker, other, x):
    cancel(worker, other, x)
    assert other.enqueue("k", "x").outcome == "queued"


def enqueue(worker, other, x):
    assert other.enqueue("k", "x").outcome == "queued"


def claim(worker, other, x):
    worker.take()


INTERLEAVINGS = [
    ("running", complete),
    ("running", fail_for_good),
    ("running", cancel),
    ("running", expire_and_complete),
    ("running", complete_and_enqueue),
    ("pending", claim_and_complete),
    ("pending", cancel),
    ("pending", cancel_and_enqueue),
    ("absent", enqueue),
]


@pytest.mark.parametrize("on_conflict", ["reset", "keep"])
@pytest.mark.parametrize(("first", "act"), INTERLEAVINGS, ids=[f"{first}-{act.__name__}" for first, act in INTERLEAVINGS])
def test_a_job_that_ends_between_the_two_looks_runs_once_more(db, session, first, act, on_conflict):
    """
    many                                worker, other
    begin; enqueue_many(stop, x): first look, waits at the trigger of stop
                                        x ends (and is enqueued again, and is queued: its gate is held)
    goes on; commit
    x runs exactly once
    """
    many, worker, stop = between(db, session, first, act, on_conflict)
    many.commit()
    if first == "absent":
        db.advance(1)  # two producers, a fresh job and a stored trigger: the tick puts them together
    assert drain(worker).count("x") == 1
    assert worker.run("select 1 from jobs.trigger where key = 'x'") == []
    assert [row.key for row in worker.jobs("k") if row.state == "pending"] == []


@pytest.mark.parametrize(
    ("first", "act", "runs"),
    [("running", complete, 0), ("pending", cancel, 0), ("absent", enqueue, 1)],
    ids=["running", "pending", "absent"],
)
def test_a_bulk_that_is_rolled_back_leaves_the_others_alone(db, session, first, act, runs):
    """As above, with a rollback: only what the others enqueued runs."""
    many, worker, stop = between(db, session, first, act, "reset")
    many.rollback()
    assert drain(worker).count("x") == runs


@pytest.mark.parametrize("goes", ["back", "on"])
@pytest.mark.parametrize("how", ["release", "fail"])
def test_a_job_that_goes_back_between_the_looks_takes_the_trigger(db, session, how, goes):
    """x runs at the first look and is released (or fails) before the second: the stored trigger goes into the pending job: one run."""

    def act(worker, other, x):
        worker.release(x) if how == "release" else worker.fail(x)
        if goes == "on":
            db.advance(2)
            job = worker.take("k")
            assert job.key == "x"

    many, worker, stop = between(db, session, "running", act, "reset")
    many.commit()
    db.advance(2)
    if goes == "on":
        (job,) = [row for row in worker.jobs("k") if row.key == "x"]
        assert worker.complete(job) == "pending"
    assert drain(worker).count("x") == 1


def test_a_pending_job_that_is_claimed_between_the_looks_runs_once_more(db, session):
    """x is pending at the first look, claimed before it is met: retriggered, it runs once more after that run."""
    many, worker, stop = between(db, session, "pending", claim, "reset")
    (job,) = [row for row in worker.jobs("k") if row.key == "x"]
    many.commit()
    assert worker.complete(job) == "pending"
    assert drain(worker).count("x") == 1


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
@pytest.mark.parametrize("act", ["claim", "complete", "reset", "cancel"])
def test_a_bulk_with_an_old_snapshot_is_not_shot_down(db, session, level, act):
    """
    A11
    many                                        other
    begin (repeatable read); takes its snapshot
                                                the pending job x is claimed (completed, reset, cancelled)
    enqueue_many(x, y): no 40001; commit
    x runs once more, y once
    """
    many, other = session(), session()
    other.enqueue("k", "x")
    many.begin(level)
    many.run("select count(*) from jobs.job")
    job = None
    if act in ("claim", "complete"):
        job = other.take()
    if act == "complete":
        other.complete(job)
    if act == "reset":
        other.enqueue("k", "x", payload={"n": 1})
    if act == "cancel":
        assert other.one("cancel_key", kind="k", key="x")[0] == "cancelled"
    many.call("enqueue_many", kind="k", keys=["x", "y"])
    many.commit()
    db.advance(1)
    if act == "claim":
        assert other.complete(job) == "pending"
    assert sorted(drain(other)) == ["x", "y"]
    assert other.run("select 1 from jobs.trigger") == []
