"""The marks of the lanes (jobs.cursor): a claim reads from them, and no job that can still be claimed ever lies before one.

Every way in which a row could come to lie before a mark: each is claimed at once, and a hand-made one within the sweep.
"""

from __future__ import annotations

import pytest

MARK = "select run_after, id from jobs.cursor where kind = 'k' and priority = 0 order by tick desc limit 1"


def busy(db, worker, times=3):
    """Other jobs come and go, and each time a tick moves the marks as far as it may."""
    for _ in range(times):
        worker.enqueue("k")
        db.advance(1)
        job = worker.take("k")
        worker.complete(job)
        db.advance(1)
        assert worker.claim("k") == []


def test_the_mark_follows_the_work(db, session):
    """What the tests below stand against: with nobody in the way the mark moves up, so that a row behind it would be missed."""
    worker = session()
    busy(db, worker)
    first = worker.run(MARK)[0]
    busy(db, worker)
    assert worker.run(MARK)[0].run_after > first.run_after


def test_an_enqueue_that_commits_late_is_claimed_at_once(db, session):
    """The producer's row is older than many that were enqueued, claimed and completed while its transaction was open."""
    producer, worker = session(), session()
    busy(db, worker)
    producer.begin()
    late = producer.enqueue("k", "late").id
    busy(db, worker, 10)
    producer.commit()
    assert worker.take("k").id == late


def test_bulk_and_a_new_lane_that_commit_late_are_claimed_at_once(db, session):
    """enqueue_many, and the first job of a priority, in a transaction that is open while the marks move."""
    producer, worker = session(), session()
    busy(db, worker)
    producer.begin()
    producer.one("enqueue_many", kind="k", keys=["a", "b"])
    producer.enqueue("k", "first", priority=-5)
    busy(db, worker, 5)
    producer.commit()
    assert [job.key for job in worker.claim("k", batch=9)] == ["first", "a", "b"]


def test_an_enqueue_undone_by_a_savepoint_and_made_again(db, session):
    """The first one's table lock goes with the savepoint, the marks move, the second one is born after them."""
    producer, worker = session(), session()
    producer.begin()
    producer.savepoint("s")
    producer.enqueue("k", "undone")
    producer.rollback_to("s")
    busy(db, worker, 5)
    again = producer.enqueue("k", "again").id
    busy(db, worker, 5)
    producer.commit()
    assert worker.take("k").id == again


def test_a_prepared_transaction_holds_the_marks(db, session):
    """It has no process and no known start: nothing moves until it ends, and its job is claimed at once."""
    producer, worker = session(), session()
    producer.begin()
    late = producer.enqueue("k", "prepared").id
    producer.run("prepare transaction 'cursor'")
    try:
        busy(db, worker, 5)
    finally:
        producer.run("commit prepared 'cursor'")
    assert worker.take("k").id == late


def test_a_job_that_comes_back_is_claimed(db, session):
    """complete of a re-triggered job, fail, release, an expired lease, retry: all in transactions that stay open while others work."""
    holder, worker = session(), session()
    for end in ("retriggered", "fail", "release", "retry"):
        job_id = holder.enqueue("k", end).id
        job = holder.take("k")
        if end == "retriggered":
            holder.enqueue("k", end)
        if end == "retry":
            assert holder.fail(job, final=True).state == "failed"
        holder.begin()
        if end == "retriggered":
            assert holder.complete(job) == "pending"
        elif end == "fail":
            assert holder.fail(job, retry_in="0").state == "pending"
        elif end == "release":
            holder.release(job)
        else:
            assert holder.one("retry", id=job_id)[0] == "retried"
        busy(db, worker, 4)
        holder.commit()
        back = worker.take("k")
        assert back.id == job_id, end
        worker.complete(back)


def test_a_job_moved_to_another_priority_is_claimed(db, session):
    """Its time is older than the mark of the lane it comes to: it goes behind those that wait there."""
    worker = session()
    late = worker.enqueue("k", "moves", priority=9).id
    for _ in range(5):
        worker.enqueue("k")
        db.advance(1)
        worker.complete(worker.take("k"))
        db.advance(1)
        assert worker.claim("other") == []
    assert worker.enqueue("k", "moves", priority=0, on_conflict="earliest").outcome == "reset"
    db.advance(1)
    assert worker.take("k").id == late


@pytest.mark.parametrize("seconds", [10, 3600])
def test_a_clock_that_steps_back_loses_nothing(db, session, seconds):
    """Marks ahead of the clock are not used; what is enqueued meanwhile is claimed, then and when the clock has passed the marks again."""
    worker = session()
    db.advance(7200)
    busy(db, worker)
    db.advance(-seconds)
    a, b = worker.enqueue("k", "a").id, worker.enqueue("k", "b").id
    assert worker.take("k").id == a
    db.advance(2 * seconds)
    assert worker.take("k").id == b


def test_a_hand_made_row_below_the_mark_is_found_by_the_sweep(db, session):
    """An UPDATE past the functions puts a job an hour back: the sweep of the next minute lowers the mark; maintain() does at once."""
    worker = session()
    for how in ("sweep", "maintain"):
        made = worker.enqueue("k", delay="1 day").id
        busy(db, worker)
        worker.run("update jobs.job set run_after = jobs.clock() - interval '1 hour' where id = %s", made)
        if how == "sweep":
            db.advance(61)
            worker.claim("other")
        else:
            worker.call("maintain")
        found = worker.take("k")
        assert found.id == made, how
        worker.complete(found)


def test_a_hand_made_lease_below_the_mark_is_found_by_the_sweep(db, session):
    """The same for the leases: one that somebody put an hour back counts as expired within the minute."""
    worker = session()
    made = worker.enqueue("k", "leased").id
    worker.take("k", lease="1 hour")
    busy(db, worker)
    worker.run("update jobs.job set claimed_until = jobs.clock() - interval '1 hour' where id = %s", made)
    db.advance(61)
    worker.claim("other")
    back = worker.take("k")
    assert (back.id, back.attempts) == (made, 1)


def test_an_owner_who_may_not_see_other_sessions_moves_nothing_past_them(db, session):
    """Without pg_read_all_stats the start of another role's transaction is unknown: the marks stay, and its late job is claimed at once."""
    admin, producer, worker = session(), session(), session()
    role = "cursor_owner_" + db.name
    admin.run(f"create role {role} login")
    try:
        admin.run(
            f"do $$ declare f record; begin for f in select p.oid::regprocedure as f from pg_proc as p"
            f" where p.pronamespace = 'jobs'::regnamespace and p.prosecdef loop execute format('alter function %s owner to {role}', f.f);"
            f" end loop; end $$"
        )
        admin.run(f"grant usage on schema jobs to {role}")
        admin.run(f"grant all on all tables in schema jobs to {role}")
        admin.run(f"grant all on all sequences in schema jobs to {role}")
        admin.run(f"grant execute on all functions in schema jobs to {role}")
        busy(db, worker)
        producer.begin()
        late = producer.enqueue("k", "late").id
        before = worker.run(MARK)
        busy(db, worker, 5)
        assert worker.run(MARK) == before
        producer.commit()
        assert worker.take("k").id == late
        busy(db, worker)
        assert worker.run(MARK) != before
    finally:
        admin.run(f"reassign owned by {role} to current_user")
        admin.run(f"drop owned by {role}")
        admin.run(f"drop role {role}")


BLOCKS = "explain (analyze, buffers, format json) select * from jobs.claim('{k}')"


def test_a_claim_reads_no_more_while_a_snapshot_is_held(db, session):
    """5,000 jobs claimed and completed behind a snapshot that stays open: a claim then reads as few pages as before."""
    holder, worker = session(), session()
    worker.enqueue("k")

    def pages():
        plan = worker.value(BLOCKS)[0]["Plan"]
        return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]

    db.advance(1)
    worker.claim("none")
    before = pages()
    holder.begin("repeatable read")
    holder.value("select 1")
    for n in range(5):
        worker.one("enqueue_many", kind="k", keys=[f"{n} {m}" for m in range(1000)])
        db.advance(1)
        worker.complete_many(worker.claim("k", batch=1000))
    worker.enqueue("k")
    db.advance(1)
    worker.claim("none")
    assert worker.value("select count(*) from jobs.job where state = 'pending'") == 1
    assert pages() < before + 50
    holder.rollback()
