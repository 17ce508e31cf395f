"""Other isolation levels, read-only transactions: a clear answer, never a wrong one."""

from __future__ import annotations

import threading

import pytest

from tests.sql.play import refused, run_all
from tests.sql.test_claims import together

LEVELS = ["repeatable read", "serializable"]


@pytest.mark.parametrize("level", LEVELS)
def test_verbs_that_need_the_present_refuse_a_snapshot_of_the_past(db, session, level):
    """begin <level>; claim, claim_key, claim_tx, maintain, retry, cancel: 25000, READ COMMITTED is named, nothing is taken."""
    s = session(default_transaction_isolation=level)
    s.enqueue("k", "a")
    db.advance(1)
    for verb, named in (
        ("claim", {}),
        ("claim_key", {"kind": "k", "key": "a"}),
        ("claim_tx", {}),
        ("maintain", {}),
        ("retry", {"id": 1}),
        ("cancel", {"id": 1}),
        ("cancel_key", {"kind": "k", "key": "a"}),
    ):
        with refused("25000", "READ COMMITTED"):
            s.call(verb, **named)
    s.run("set default_transaction_isolation = 'read committed'")
    assert [job.attempts for job in run_all(db, s)] == [0]


@pytest.mark.parametrize("level", LEVELS)
def test_an_enqueue_with_an_old_snapshot_is_stored_and_runs(db, session, level):
    """
    producer                                      other
    begin <level>; select 1 (its snapshot)
                                                  enqueue, claim, complete (all unseen by the producer)
                                                  enqueue; claim
    enqueue, enqueue_many: queued
    commit
                                                  complete; one more run, with the producer's payload
    """
    producer, other = session(), session()
    producer.begin(level)
    producer.run("select count(*) from jobs.job")
    other.enqueue("k", "a")
    other.complete(other.take())
    other.enqueue("k", "a")
    job = other.take()
    assert producer.enqueue("k", "a", payload={"n": 1}).outcome == "queued"
    assert producer.one("enqueue_many", kind="k", keys=["a", "b", None])[0] == 3
    producer.commit()
    assert other.complete(job) == "pending"
    db.advance(1)
    assert sorted((job.key or "", job.payload) for job in run_all(db, other)) == [("", None), ("a", {"n": 1}), ("b", None)]


@pytest.mark.parametrize("level", LEVELS)
def test_two_hundred_jobs_and_eight_workers_with_that_default_isolation(db, session, level):
    """A11: each statement of the workers in READ COMMITTED by its own begin, the producers in the default; each job done once."""
    db.stop_clock()
    workers = [session(default_transaction_isolation=level) for _ in range(8)]
    workers[0].run("create table effect (job bigint)")
    workers[0].one("enqueue_many", kind="k", keys=[str(n) for n in range(200)])
    left = threading.Semaphore(200)

    def work(s):
        def run():
            idle = 0
            while idle < 50:
                s.begin()
                jobs = s.claim(batch=5)
                s.commit()
                idle = 0 if jobs else idle + 1
                for job in jobs:
                    s.begin()
                    s.fence(job)
                    s.run("insert into effect values (%s)", job.id)
                    s.complete(job)
                    s.commit()
                    left.acquire(blocking=False)
                if not left._value:
                    return

        return run

    together([work(s) for s in workers])
    workers[0].run("set default_transaction_isolation = 'read committed'")
    assert run_all(db, workers[0]) == []
    assert workers[0].run("select count(*), count(distinct job) as jobs from effect") == [(200, 200)]


def test_a_read_only_transaction_is_refused_and_says_so(db, session):
    """begin read only; every verb that writes: 25006; the views and next_due answer."""
    s, other = session(), session()
    other.enqueue("k", "a")
    job = other.take()
    s.run("set default_transaction_read_only = on")
    pair = {"id": job.id, "token": job.claimed_by}
    many = {"ids": [job.id], "tokens": [job.claimed_by]}
    for verb, named in (
        ("enqueue", {"kind": "k"}),
        ("enqueue_many", {"kind": "k", "keys": ["a"]}),
        ("claim", {}),
        ("claim_key", {"kind": "k", "key": "a"}),
        ("claim_tx", {}),
        ("complete", pair),
        ("complete_many", many),
        ("fail", {**pair, "error": "e"}),
        ("release", pair),
        ("extend", pair),
        ("extend_many", {**many, "lease": "1 s"}),
        ("fence", pair),
        ("holds", pair),
        ("define", {"kind": "k"}),
        ("pause", {"kind": "k"}),
        ("resume", {"kind": "k"}),
        ("cancel", {"id": job.id}),
        ("cancel_key", {"kind": "k", "key": "a"}),
        ("retry", {"id": job.id}),
        ("maintain", {}),
    ):
        with refused("25006", verb.removesuffix("_many")):
            s.call(verb, **named)
    assert s.one("next_due")[0] is None
    assert s.value("select running from jobs.overview") == 1
    assert other.complete(job) == "deleted"
