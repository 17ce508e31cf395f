"""Everything at once for a bounded number of rounds: no deadlock, no error, nothing lost."""

from __future__ import annotations

import random

import psycopg

from tests.sql.play import run_all
from tests.sql.test_claims import together

KEYS = [f"key {n}" for n in range(120)]


def test_no_deadlock_and_nothing_lost(db, session):
    """
    C05: eight sessions, forty rounds each, in orders of their own: two enqueue in bulk, one singly in transactions, three claim
    and complete in bulk (or fail, release, or forget their claims), one ends leases, one retries, cancels and defines.
    No 40P01 and no other error; at the end every key that is still wanted runs, and nothing is left.
    """
    sessions = [session(patient=True) for _ in range(8)]
    done: list[int] = []

    def act(n):
        s, dice = sessions[n], random.Random(n)

        def bulk():
            keys = dice.choices(KEYS, k=150)
            s.one("enqueue_many", kind="k", keys=keys, on_conflict=dice.choice(["reset", "earliest", "keep"]))

        def singly():
            s.begin()
            for key in dice.sample(KEYS, 12):
                s.enqueue("k", key, max_attempts=dice.choice([None, 1, 2]))
            s.run(dice.choice(["commit", "commit", "rollback"]))

        def work():
            jobs = s.claim(batch=40)
            dice.shuffle(jobs)
            third = len(jobs) // 3
            s.begin()
            for job in jobs[:2]:
                if s.holds(job):
                    s.run("select 1")
            s.complete_many(jobs[:third])
            s.complete_many(jobs[third : 2 * third])
            s.commit()
            for job in jobs[2 * third : 2 * third + 4]:
                s.begin()
                if s.holds(job):
                    s.savepoint("s")
                    try:
                        s.fail(job, "storm", retry_in="0 s")
                    except psycopg.Error as error:
                        assert error.sqlstate == "JB001", error
                        s.rollback_to("s")
                s.commit()
            s.call("extend_many", ids=[j.id for j in jobs], tokens=[j.claimed_by for j in jobs], lease="5 s")

        def expire():
            db.advance(dice.choice([1, 30, 61]))
            s.call("maintain")

        def operate():
            for id, state in s.run("select id, state from jobs.job order by random() limit 15"):
                if state in ("failed", "cancelled"):
                    s.one("retry", id=id)
                elif dice.random() < 0.2:
                    s.one("cancel", id=id)
            s.call("define", kind="k", max_attempts=dice.choice([2, 3, 20]))

        def run():
            for _ in range(40):
                (bulk, bulk, singly, work, work, work, expire, operate)[n]()
            done.append(n)

        return run

    together([act(n) for n in range(8)])
    assert sorted(done) == list(range(8))
    s = sessions[0]
    s.call("define", kind="k", max_attempts=0)
    s.one("enqueue_many", kind="k", keys=KEYS)
    db.advance(100)
    ran = run_all(db, s)
    assert {job.key for job in ran} == set(KEYS)
    assert s.run("select distinct state from jobs.job where state not in ('failed', 'cancelled')") == []
    assert s.run("select 1 from jobs.trigger") == []
