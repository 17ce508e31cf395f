"""What rides along with claims: done once, never waited for, and never stopped by one bad row."""

from __future__ import annotations

from tests.sql.play import run_all


def test_a_claim_never_waits_for_the_housekeeping_of_an_open_transaction(db, session):
    """
    other: 100 claims, 2 s apart, so that there are old ticks.
    slow                                     other
    begin; 40 claims, 2 s apart, all open
                                             40 claims, 2 s apart: none waits
    commit
    """
    slow, other = session(), session()
    for _ in range(100):
        db.advance(2)
        other.claim()
    slow.begin()
    for _ in range(40):
        db.advance(2)
        slow.claim()
    for _ in range(40):
        db.advance(2)
        other.claim()
    other.call("maintain")
    slow.commit()


def test_the_work_goes_on_while_the_housekeeper_keeps_its_transaction_open(db, session):
    """
    slow                                 others
    begin; claim (does the housekeeping)
                                         a claims, its lease ends; b claims: takes it over; a trigger is folded
    rollback
    """
    slow, a, b = session(), session(), session()
    db.advance(2)
    slow.begin()
    assert slow.claim() == []
    a.enqueue("k", "a")
    job = a.take()
    a.enqueue("k", "a")
    db.advance(61)
    again = b.take()
    assert (again.id, again.attempts) == (job.id, 1)
    db.advance(2)
    assert b.complete(again) in ("deleted", "pending")
    run_all(db, b)
    assert b.jobs("k") == []
    assert b.run("select 1 from jobs.trigger") == []
    slow.rollback()


def test_two_full_sweeps_at_once_do_everything_once(db, session):
    """
    first                                  second
    begin; maintain (ends 5 of the leases: the other 5 are fenced by their worker)
                                           maintain: ends none, at once
    commit; the fences end
                                           maintain: ends the other 5
    """
    first, second, worker = session(), session(), session()
    for n in range(10):
        worker.enqueue("k", str(n))
    jobs = worker.claim(batch=10)
    worker.begin()
    for job in jobs[:5]:
        worker.fence(job)
    db.advance(61)
    first.begin()
    first.call("maintain")
    second.call("maintain")
    assert second.value("select count(*) from jobs.job where state = 'running'") == 10
    first.commit()
    assert second.value("select count(*) from jobs.job where state = 'running'") == 5
    second.call("maintain")
    assert second.value("select count(*) from jobs.job where state = 'running'") == 5
    worker.commit()
    second.call("maintain")
    assert second.run("select distinct state, attempts from jobs.job") == [("pending", 1)]


BAD_ROW = """
create function refuse() returns trigger language plpgsql as $$
begin
    raise exception 'this row is bad' using errcode = '23514';
end;
$$;
"""


def test_one_bad_row_does_not_stop_the_expiry_of_the_others(db, session):
    """C02: ten leases end, a rule of the users' own refuses one of the rows; claims and maintain go on with nine, by and by all."""
    worker, other = session(), session()
    for n in range(10):
        worker.enqueue("k", str(n), max_attempts=5)
    jobs = worker.claim(batch=10)
    bad = jobs[4]
    other.run(BAD_ROW)
    other.run(f"create trigger bad before update on jobs.job for each row when (old.id = {bad.id}) execute function refuse()")
    db.advance(61)
    ran = run_all(db, other)
    assert {job.id for job in ran} == {job.id for job in jobs} - {bad.id}
    other.call("maintain")
    assert [row.id for row in other.jobs("k")] == [bad.id]
    other.run("drop trigger bad on jobs.job")
    assert [job.id for job in run_all(db, other)] == [bad.id]


def test_one_bad_stored_trigger_does_not_stop_the_others(db, session):
    """
    C02
    producers                        slow
                                     begin; enqueue of 5 keys
    enqueue of the same 5: queued
                                     rollback
    a rule of the users' own refuses the job of one key: the other four run; without the rule the fifth
    """
    slow, producer = session(), session()
    producer.run(BAD_ROW)
    slow.begin()
    for n in range(5):
        slow.enqueue("k", str(n))
    for n in range(5):
        assert producer.enqueue("k", str(n)).outcome == "queued"
    slow.rollback()
    producer.run("create trigger bad before insert on jobs.job for each row when (new.key = '2') execute function refuse()")
    db.advance(2)
    assert sorted(job.key for job in run_all(db, producer)) == ["0", "1", "3", "4"]
    producer.call("maintain")
    producer.run("drop trigger bad on jobs.job")
    assert [job.key for job in run_all(db, producer)] == ["2"]


def test_stored_triggers_that_cannot_be_folded_yet_hide_no_other(db, session):
    """
    holder                              producer                          slow
    begin; enqueue_many of 1,500 keys
                                        the same 1,500: stored
                                                                          begin; enqueue (z); producer: the same: stored; slow: rollback
    worker: claim (z) at a few ticks: a tick looks at 1,000 keys, the 1,500 stay, and the one behind them is folded and claimed
    commit; maintain folds the 1,500 into their jobs: each runs once
    """
    holder, producer, slow, worker = session(), session(), session(), session()
    keys = [f"{n:04}" for n in range(1500)]
    holder.begin()
    holder.call("enqueue_many", kind="k", keys=keys)
    producer.call("enqueue_many", kind="k", keys=keys)
    slow.begin()
    slow.enqueue("z", "behind them all")
    assert producer.enqueue("z", "behind them all").outcome == "queued"
    slow.rollback()
    claimed = []
    for _ in range(4):
        db.advance(1)
        claimed += worker.claim("z")
    assert [job.key for job in claimed] == ["behind them all"]
    assert worker.complete(claimed[0]) == "deleted"
    assert worker.value("select count(*) from jobs.trigger") == 1500
    holder.commit()
    worker.call("maintain")
    assert sorted(job.key for job in run_all(db, worker)) == keys
    assert worker.run("select 1 from jobs.trigger") == []


def test_one_bad_finished_row_does_not_stop_the_pruning_of_the_others(db, session):
    """C02: five failed jobs, two weeks old; a rule of the users' own forbids to delete one; the other four go."""
    worker = session()
    for n in range(5):
        worker.enqueue("k", str(n))
    jobs = worker.claim(batch=5)
    for job in jobs:
        worker.fail(job, final=True)
    worker.run(BAD_ROW)
    worker.run(f"create trigger bad before delete on jobs.job for each row when (old.id = {jobs[2].id}) execute function refuse()")
    db.advance(15 * 86400)
    worker.call("maintain")
    assert [row.id for row in worker.jobs("k")] == [jobs[2].id]
    worker.run("drop trigger bad on jobs.job")
    worker.call("maintain")
    assert worker.jobs("k") == []


def test_pruning_does_not_wait_for_a_row_that_is_held(db, session):
    """holder: begin; lock a failed job. other: maintain after two weeks: the other rows go, at once."""
    holder, other = session(), session()
    for n in range(3):
        other.enqueue("k", str(n))
    jobs = other.claim(batch=3)
    for job in jobs:
        other.fail(job, final=True)
    db.advance(15 * 86400)
    holder.begin()
    holder.run("select 1 from jobs.job where id = %s for update", jobs[1].id)
    other.call("maintain")
    assert [row.id for row in other.jobs("k")] == [jobs[1].id]
    holder.rollback()
    other.call("maintain")
    assert other.jobs("k") == []


def test_a_clock_that_steps_back_stops_nothing(db, session):
    """claims with the clock an hour ahead, then the clock steps back: new jobs are claimed, old leases end by the clock."""
    worker = session()
    db.advance(3600)
    worker.enqueue("k", "a")
    worker.take()
    db.advance(-3600)
    worker.enqueue("k", "b")
    job = worker.take()
    assert job.key == "b"
    worker.complete(job)
    db.advance(3700)
    assert worker.take().key == "a"
