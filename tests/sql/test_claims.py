"""Many claimers: never more than asked for, never one job twice, never blocked by a bad row."""

from __future__ import annotations

import threading

import pytest

from tests.sql.play import refused, run_all

PLANS = [
    {},
    {"enable_nestloop": "off"},
    {"enable_hashjoin": "off", "enable_mergejoin": "off"},
    {"enable_nestloop": "off", "enable_hashjoin": "off"},
    {"enable_nestloop": "off", "enable_mergejoin": "off", "enable_material": "off"},
    {"enable_indexscan": "off", "enable_indexonlyscan": "off"},
    {"enable_seqscan": "off", "enable_sort": "off", "enable_bitmapscan": "off"},
    {"plan_cache_mode": "force_custom_plan", "join_collapse_limit": "1"},
]


def together(actions):
    """Run the actions at once, each in a thread; their results, or the first error."""
    results, errors = [None] * len(actions), []
    barrier = threading.Barrier(len(actions))

    def run(n, action):
        try:
            barrier.wait(60)
            results[n] = action()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


@pytest.mark.parametrize("analyzed", [False, True], ids=["no statistics", "analyzed empty"])
def test_a_claim_takes_no_more_than_asked_under_any_plan(db, session, analyzed):
    """C01: sixteen sessions with hostile planner settings claim 1 to 7 each, at once, until 300 jobs are gone."""
    db.stop_clock()
    sessions = [session(**PLANS[n % len(PLANS)]) for n in range(16)]
    if analyzed:
        sessions[0].run("analyze")
    sessions[0].one("enqueue_many", kind="k", keys=[str(n) for n in range(300)])

    def claimer(s, most):
        def run():
            taken = []
            while jobs := s.claim(batch=most):
                assert len(jobs) <= most
                taken += [job.id for job in jobs]
            return taken

        return run

    results = together([claimer(s, 1 + n % 7) for n, s in enumerate(sessions)])
    ids = [id for taken in results for id in taken] + [job.id for job in sessions[0].claim(batch=1000)]
    assert len(ids) == len(set(ids)) == 300
    sessions[0].begin()
    assert sessions[0].call("claim_tx", batch=3) == []
    sessions[0].rollback()


def test_eight_workers_do_each_job_once(db, session):
    """Eight sessions claim in batches of 1 to 8, write an effect and complete in one transaction: 400 effects of 400 jobs."""
    db.stop_clock()
    workers = [session() for _ in range(8)]
    workers[0].run("create table effect (job bigint primary key)")
    workers[0].one("enqueue_many", kind="k", keys=[str(n) for n in range(400)])

    def work(s, most):
        def run():
            while jobs := s.claim(batch=most):
                s.begin()
                for job in jobs:
                    s.fence(job)
                    s.run("insert into effect values (%s)", job.id)
                assert s.complete_many(jobs) == [(job.id, True) for job in jobs]
                s.commit()

        return run

    together([work(s, n + 1) for n, s in enumerate(workers)])
    # a claim finds nothing while the others hold all that is left: what is there now, one session does alone
    work(workers[0], 100)()
    assert workers[0].value("select count(*) from jobs.job") == 0
    assert workers[0].value("select count(*) from effect") == 400


@pytest.mark.parametrize("batch", [1, 2, 10])
@pytest.mark.parametrize("how", ["claim", "claim_tx"])
def test_a_job_past_its_limit_is_never_claimed_and_blocks_nobody(db, session, batch, how):
    """C09, A06: attempts at the integer's maximum; limit lowered by define; both before the good jobs in the queue."""
    worker, operator = session(), session()
    bad = [operator.enqueue("k", f"bad{n}", priority=-1).id for n in range(3)]
    good = [operator.enqueue("k", f"good{n}").id for n in range(3)]
    lowered = operator.enqueue("low", "bad", priority=-2).id
    operator.run("update jobs.job set attempts = 2147483647 where id = %s", bad[0])
    operator.run("update jobs.job set attempts = 20 where id = %s", bad[1])
    operator.run("update jobs.job set attempts = 1, max_attempts = 1 where id = %s", bad[2])
    operator.run("update jobs.job set attempts = 5 where id = %s", lowered)
    operator.call("define", kind="low", max_attempts=4)
    worker.begin()
    jobs = worker.call(how, batch=batch)
    assert [job.id for job in jobs] == good[:batch]
    worker.commit()
    for job in jobs:
        assert worker.holds(job) is (how == "claim")
    db.advance(61)
    run_all(db, worker)
    states = dict(operator.run("select id, state from jobs.job"))
    assert states == dict.fromkeys([*bad, lowered], "failed")


def test_jobs_that_always_fail_do_not_hold_up_the_good_ones(db, session):
    """A23, C21: fifty always fail and stand first in the queue, fifty are good: the good are done within 150 claims."""
    worker = session()
    for n in range(50):
        worker.enqueue("k", f"bad{n}")
    for n in range(50):
        worker.enqueue("k", f"good{n}")
    good = 0
    for _ in range(150):
        for job in worker.claim():
            if job.key.startswith("good"):
                worker.complete(job)
                good += 1
            else:
                worker.fail(job)
        if good == 50:
            break
    assert good == 50
    assert worker.value("select count(*) from jobs.job where state = 'pending' and attempts > 0") == 50


def test_one_of_two_gets_the_key_and_the_other_nothing_without_waiting(db, session):
    """
    a                              b
    begin; claim_key
                                   claim_key: nothing, at once
    rollback
                                   claim_key: the job
    claim_key: nothing
    """
    a, b = session(), session()
    a.enqueue("k", "a")
    a.begin()
    assert len(a.call("claim_key", kind="k", key="a")) == 1
    assert b.call("claim_key", kind="k", key="a") == []
    a.rollback()
    (job,) = b.call("claim_key", kind="k", key="a")
    assert a.call("claim_key", kind="k", key="a") == []
    assert b.complete(job) == "deleted"


def test_claim_key_takes_over_an_expired_claim(db, session):
    """a: claim_key, dies. clock + 61 s. b: claim_key: the job, with one attempt counted; a's token is void."""
    a, b = session(), session()
    a.enqueue("k", "a")
    (lost,) = a.call("claim_key", kind="k", key="a")
    db.advance(61)
    (job,) = b.call("claim_key", kind="k", key="a")
    assert (job.id, job.attempts) == (lost.id, 1)
    with refused("JB001"):
        a.complete(lost)


def test_complete_many_finishes_the_rest_when_claims_are_lost(db, session):
    """claim 6; by others: one is cancelled, one expired and taken, one completed; complete_many of all, one twice, one unknown."""
    worker, other = session(), session()
    for n in range(6):
        other.enqueue("k", str(n))
    jobs = worker.claim(batch=6)
    other.one("cancel", id=jobs[1].id)
    worker.call("extend_many", ids=[j.id for j in jobs], tokens=[j.claimed_by for j in jobs], lease="1 hour")
    other.run("update jobs.job set claimed_until = jobs.clock() where id = %s", jobs[3].id)
    (taken,) = other.claim()
    assert taken.id == jobs[3].id
    worker.complete(jobs[4])
    stranger = jobs[0]._replace(id=10**15)
    answers = worker.complete_many([jobs[5], jobs[4], jobs[3], stranger, jobs[2], jobs[1], jobs[0], jobs[2]])
    assert answers == [
        (jobs[5].id, True),
        (jobs[4].id, False),
        (jobs[3].id, False),
        (10**15, False),
        (jobs[2].id, True),
        (jobs[1].id, False),
        (jobs[0].id, True),
        (jobs[2].id, True),
    ]
    assert sorted((row.id, row.state) for row in other.jobs("k")) == [(jobs[1].id, "cancelled"), (taken.id, "running")]
    assert worker.complete_many([]) == []
    with refused("22023"):
        worker.call("complete_many", ids=[1, 2], tokens=[jobs[0].claimed_by])


def test_two_sessions_complete_the_same_claims_and_neither_is_shot_down(db, session):
    """
    C05: one of the jobs was re-triggered, so it does not go the way of the plain ones.
    fence (of job 0)       first                              again (the client lost its connection and repeats)
    begin; fence 0
                           complete_many 0, 1, 2: waits
                                                              complete_many 1, 2
    commit
    every claim is completed by exactly one of them, no 40P01
    """
    fence, first, again = session(), session(patient=True), session(patient=True)
    for key in ("0", "1", "2"):
        fence.enqueue("k", key)
    jobs = first.claim(batch=3)
    fence.enqueue("k", "1")
    fence.begin()
    fence.fence(jobs[0])
    pending = first.starting("complete_many", ids=[j.id for j in jobs], tokens=[j.claimed_by for j in jobs]).waiting()
    repeated = again.starting("complete_many", ids=[j.id for j in jobs[1:]], tokens=[j.claimed_by for j in jobs[1:]])
    repeated.answered_or_waiting()
    fence.commit()
    answers = pending.result() + repeated.result()
    assert [answers.count((job.id, True)) for job in jobs] == [1, 1, 1]
    assert [row.key for row in fence.jobs("k")] == ["1"]


def test_extend_many_does_not_wait_for_the_workers_own_transactions(db, session):
    """
    worker (handlers)                        worker (heartbeat)
    claim 3
    begin; fence 0; complete 1; (2 is free)
                                             extend_many 0, 1, 2: at once, none is said to be lost
    commit
    """
    worker, beat = session(), session()
    for n in range(3):
        worker.enqueue("k", str(n))
    jobs = worker.claim(batch=3)
    worker.begin()
    worker.fence(jobs[0])
    worker.complete(jobs[1])
    db.advance(30)
    beats = beat.call("extend_many", ids=[j.id for j in jobs], tokens=[j.claimed_by for j in jobs], lease="60 s")
    assert [b.id for b in beats] == [j.id for j in jobs]
    assert all(b.claimed_until is not None and not b.cancelled for b in beats)
    assert beats[2].claimed_until > jobs[2].claimed_until
    assert beat.extend(jobs[1]) is not None
    worker.commit()


def test_a_claim_waits_for_no_other_claim(db, session):
    """a: begin; claim 5 of 10, open. b: begin; claim 5, the others. c: claim: nothing. All at once."""
    a, b, c = session(), session(), session()
    for n in range(10):
        a.enqueue("k", str(n))
    a.begin()
    b.begin()
    mine, yours = a.claim(batch=5), b.claim(batch=5)
    assert len({job.id for job in mine + yours}) == 10
    assert c.claim() == []
    a.commit()
    b.commit()
    assert len(c.complete_many(mine + yours)) == 10


def test_the_oldest_tokens_number_is_the_smallest(db, session):
    """Claims of one job by different sessions have rising epochs, whether they were released, failed or expired."""
    sessions = [session() for _ in range(3)]
    sessions[0].enqueue("k", "a")
    epochs = []
    for n in range(9):
        s = sessions[n % 3]
        job = s.take()
        epochs.append(job.epoch)
        if n % 3 == 0:
            s.release(job)
        elif n % 3 == 1:
            s.fail(job, retry_in="0 s")
        else:
            db.advance(61)
    assert epochs == sorted(set(epochs))


def test_workers_claim_only_the_kinds_they_name(db, session):
    """C31: an unknown kind stays pending for whoever knows it, and keeps nobody from the rest."""
    old, new = session(), session()
    new.enqueue("new", "a", priority=-10)
    new.enqueue("old", "a")
    assert old.take("old", "older").kind == "old"
    assert old.claim("old", "older") == []
    assert new.take("old", "new").kind == "new"
