"""The outbox between sessions: what a reader may see while producers are open, and that nothing is left behind."""

from __future__ import annotations

import pytest

from tests.sql.play import refused, wait_for

STREAM, KIND = "episodes", "segments"


def publish(s, key, text="x", stream=STREAM):
    return s.one("publish", stream=stream, key=key, payload={"text": text})[0]


def read(s, job, batch=100):
    return [row.seq for row in s.call("read", id=job.id, token=job.claimed_by, batch=batch)]


def advance(s, job, upto):
    return s.one("advance", id=job.id, token=job.claimed_by, upto=upto)[0]


def mark(s, key, kind=KIND):
    return s.run("select seq from jobs.watermark where kind = %s and key = %s", kind, key)


@pytest.fixture
def worker(db, session):
    """A session on a stream that KIND replays; the clock stands still."""
    s = session()
    db.stop_clock()
    s.one("subscribe", stream=STREAM, kind=KIND)
    assert s.claim() == []
    return s


@pytest.fixture
def holding(worker):
    """The replay job of key a, held, with one row that everybody can read."""
    first = publish(worker, "a")
    (job,) = worker.claim(KIND, lease="1 hour")
    assert read(worker, job) == [first]
    return job, first


ENDS = {
    "commit": ("commit", True),
    "rollback": ("rollback", False),
    "commit prepared": ("prepared", True),
    "rollback prepared": ("prepared", False),
    "die": ("die", False),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_row_behind_an_open_producer_waits_for_it(db, session, worker, holding, end):
    """
    C24. early: begin; publish a (number 2)
                                            late: publish a (number 3), committed
    worker: read: neither; the row of another key is not held up
    early: commit | rollback | prepare transaction (read: still neither), then commit or rollback prepared | killed
    worker: read: 2 and 3 in this order, or 3 alone.
    """
    job, first = holding
    early, late = session(), session()
    early.begin()
    second = publish(early, "a")
    third = publish(late, "a")
    beside = publish(late, "b")
    assert first < second < third
    assert read(worker, job) == [first]
    assert advance(worker, job, first) is False
    assert read(worker, job) == []
    (other,) = worker.claim(KIND)
    assert (other.key, read(worker, other)) == ("b", [beside])

    how, stays = ENDS[end]
    if how == "prepared":
        early.run("prepare transaction 'early'")
        assert read(worker, job) == []
        assert advance(worker, job, first) is False
        early.run(end + " 'early'")
    else:
        getattr(early, how)()
    assert read(worker, job) == ([second, third] if stays else [third])
    assert advance(worker, job, third) is False
    assert mark(worker, "a") == [(third,)]


@pytest.mark.parametrize("how", ["complete", "complete_many", "claim_tx"])
def test_rows_behind_a_producer_that_rolls_back_are_delivered(db, session, worker, holding, how):
    """
    early: begin; publish a                     late: publish a, committed: the job that runs is triggered
    worker: advance, complete: pending. The job runs again, reads nothing, completes: pending, not before 250 ms have passed
    early: rollback. Nothing else is published. worker: the row of late is delivered, the job ends.
    """
    job, first = holding
    early, late = session(), session()
    early.begin()
    publish(early, "a")
    behind = publish(late, "a")
    advance(worker, job, first)
    assert worker.complete(job) == "pending"
    for _ in range(2):
        if how == "claim_tx":
            worker.begin()
            (job,) = worker.call("claim_tx", kinds=[KIND])
        else:
            job = worker.take(KIND)
        assert read(worker, job) == []
        if how == "complete_many":
            assert worker.complete_many([job]) == [(job.id, True)]
        else:
            assert worker.complete(job) == "pending"
        if how == "claim_tx":
            worker.commit()
        assert worker.claim(KIND) == []
        db.advance(0.25)
    early.rollback()
    job = worker.take(KIND)
    assert read(worker, job) == [behind]
    assert advance(worker, job, behind) is False
    assert worker.complete(job) == "deleted"
    assert worker.jobs(KIND) == []


def test_a_savepoint_that_is_rolled_back_holds_nobody_up(session, worker, holding):
    """
    early: begin; savepoint; publish a; rollback to savepoint           late: publish a, committed
    worker: reads it. early: publish a again                            late: publish a, committed
    worker: nothing; early: commit; worker: both, in order.
    late: publish a, committed. early: begin; publish a: its floor is a new one, so worker reads late's row.
    """
    job, first = holding
    early, late = session(), session()
    early.begin()
    early.savepoint("s")
    gone = publish(early, "a")
    second = publish(late, "a")
    assert read(worker, job) == [first]
    early.rollback_to("s")
    assert read(worker, job) == [first, second]
    third = publish(early, "a")
    fourth = publish(late, "a")
    assert gone < second < third < fourth
    assert read(worker, job) == [first, second]
    early.commit()
    assert read(worker, job) == [first, second, third, fourth]
    fifth = publish(late, "a")
    early.begin()
    publish(early, "a")
    assert read(worker, job) == [first, second, third, fourth, fifth]


@pytest.mark.parametrize(
    "forged", ["%s,%s,", "0,%s,%s,", "%s,%s", "999999999999999999,", "9999999999999999999999,", ",", "nonsense,", "-1,", "1", ""]
)
def test_a_forged_setting_hides_no_producer(session, worker, holding, forged):
    """A producer's session has set jobs.published, the note that it keeps of its locks, to what it likes: late rows wait all the same."""
    job, first = holding
    early, late = session(), session()
    spots = "select last_value, hashtextextended('a', hashtextextended(%s, 0))::bit(32)::int from jobs.outbox_seq"
    (known,) = early.run(spots, STREAM)
    early.run("select set_config('jobs.published', %s, false)", forged % tuple(known) if "%" in forged else forged)
    early.begin()
    second = publish(early, "a")
    third = publish(late, "a")
    assert set(read(worker, job)) <= {first}
    early.commit()
    assert read(worker, job) == [first, second, third]


def test_what_has_not_published_the_key_delays_nobody(db, session, worker, holding):
    """Open: a transaction that wrote elsewhere, one that enqueued, one of another key, one of another stream, one of a lost savepoint."""
    job, first = holding
    worker.run("create table elsewhere (n int)")
    others = [session() for _ in range(5)]
    for other in others:
        other.begin("repeatable read" if other is others[0] else "read committed")
    others[0].run("insert into elsewhere values (1)")
    others[1].enqueue("unrelated", "a")
    publish(others[2], "b")
    publish(others[3], "a", stream="unrelated")
    others[4].savepoint("s")
    publish(others[4], "a")
    others[4].rollback_to("s")
    second = publish(session(), "a")
    assert read(worker, job) == [first, second]


def test_a_producer_that_comes_to_the_key_late_is_no_reason_to_refuse(session, worker, holding):
    """
    early: begin; publish b (so its floor is old)     late: publish a, committed; worker: reads it
    early: publish a; worker: advances over the row it was given; early: commit; its row is next.
    """
    job, first = holding
    early, late = session(), session()
    early.begin()
    publish(early, "b")
    second = publish(late, "a")
    assert read(worker, job) == [first, second]
    third = publish(early, "a")
    assert advance(worker, job, second) is False
    early.commit()
    assert read(worker, job) == [third]


def test_many_keys_in_one_transaction_take_few_locks(session, worker, holding):
    """
    One transaction publishes more and more keys and streams: each of them is held up, and its locks do not grow with them.
    While it has few keys, it holds up no other one. It ends: no lock is left.
    """
    job, first = holding
    early, late = session(), session()
    ours = "select count(*) from pg_locks where locktype = 'advisory' and classid in (1785684601, 1785684602)"
    early.begin()
    for n in range(8):
        publish(early, "a", stream=f"s{n}")
    second = publish(late, "a")
    assert read(worker, job) == [first, second]
    for n in range(40):
        publish(early, f"k{n}", stream=f"s{n}")
    publish(early, "a")
    assert 10 < early.value(ours) <= 18
    publish(late, "a")
    assert read(worker, job) == [first], "its floor is older than the second row"
    early.commit()
    assert len(read(worker, job)) == 4
    assert late.value(ours) == 0


def test_a_bulk_holds_up_its_stream_and_no_other(session, worker, holding):
    """early: begin; publish_many of 20 keys. Late rows of its keys wait, rows of another stream do not; then all come in order."""
    job, first = holding
    worker.one("subscribe", stream="other", kind="other")
    early, late = session(), session()
    early.begin()
    keys = [f"k{n % 20}" for n in range(40)]
    drawn = early.run("select * from jobs.publish_many(%s, %s, array(select to_jsonb(n) from generate_series(1, 40) as n))", STREAM, keys)
    assert drawn == sorted(drawn)
    beside = publish(late, "a", stream="other")
    (other,) = worker.claim("other")
    assert read(worker, other) == [beside]
    late_rows = {key: publish(late, key) for key in ("k0", "k1")}
    assert worker.claim(KIND) == [], "the keys' jobs are the early one's"
    early.commit()
    jobs = {one.key: one for one in worker.claim(KIND, batch=100)}
    assert sorted(jobs) == sorted(set(keys))
    for n, key in enumerate(keys[:20]):
        expected = [drawn[n][0], drawn[n + 20][0]] + ([late_rows[key]] if key in late_rows else [])
        assert read(worker, jobs[key]) == expected


@pytest.mark.parametrize("from_start", [True, False])
def test_a_subscription_made_while_producers_are_open(db, session, from_start):
    """
    old: published, committed. early: begin; publish a and b              operator: subscribe, committed; a tick
    later: published in a transaction that begins after the tick, and stays open
    early: commit (it never saw the subscription); a tick: its keys get jobs although later is still open.
    """
    worker, early, later = session(), session(), session()
    db.stop_clock()
    old = publish(worker, "a")
    early.begin()
    rows = {key: publish(early, key) for key in ("a", "b")}
    worker.call("subscribe", stream=STREAM, kind=KIND, from_start=from_start)
    worker.call("subscribe", stream=STREAM, kind=KIND, from_start=from_start)
    assert worker.value("select count(*) from jobs.job") == (1 if from_start else 0)
    for job in worker.claim(KIND):
        assert read(worker, job) == [old]
        assert advance(worker, job, old) is False
        worker.complete(job)
    publish(worker, "c", stream="unrelated")
    later.begin()
    publish(later, "c")
    early.commit()
    db.advance(0.1)
    jobs = {job.key: job for job in worker.claim(KIND, batch=10)}
    assert sorted(jobs) == ["a", "b"]
    for key, job in jobs.items():
        assert read(worker, job) == [rows[key]]
    assert worker.value("select awaits is null from jobs.subscription")


def test_a_subscription_that_is_not_committed_is_not_settled(db, session):
    """
    operator: begin; subscribe from now; a claim of its own, which ticks. producer: publish a, committed. worker: another subscriber of
    the stream does not read past it. operator: commit; a tick: the row is delivered to the new kind, too.
    """
    operator, producer, worker = session(), session(), session()
    db.stop_clock()
    worker.call("subscribe", stream=STREAM, kind="first")
    worker.claim()
    publish(worker, "a")
    first = worker.take("first")
    old = read(worker, first)[0]
    operator.begin()
    operator.call("subscribe", stream=STREAM, kind=KIND, from_start=False)
    db.advance(0.1)
    assert operator.claim() == []
    row = publish(producer, "a")
    assert read(worker, first) == [old]
    operator.commit()
    assert read(worker, first) == [old, row]
    advance(worker, first, row)
    db.advance(0.1)
    job = worker.take(KIND)
    assert read(worker, job) == [row]


def test_two_subscriptions_of_one_kind_at_the_same_time(session):
    """first: begin; subscribe. second: the same, waits. first: commit; second: nothing more. Another stream for the kind: refused."""
    first, second = session(), session(patient=True)
    publish(first, "a")
    first.begin()
    first.call("subscribe", stream=STREAM, kind=KIND)
    same = second.starting("subscribe", stream=STREAM, kind=KIND).waiting()
    first.commit()
    same.result()
    assert len(first.claim(KIND, batch=5)) == 1
    first.begin()
    first.call("subscribe", stream="x", kind="new")
    other = second.starting("subscribe", stream="y", kind="new").waiting()
    first.commit()
    with refused("22023", match="new"):
        other.result()


def test_publish_meets_a_job_that_runs(session, worker, holding):
    """The running job is triggered: it runs once more for any number of rows, also if the handler has stopped reading."""
    job, first = holding
    rows = [publish(session(), "a") for _ in range(3)]
    advance(worker, job, first)
    assert worker.complete(job) == "pending"
    job = worker.take(KIND)
    assert read(worker, job) == rows
    advance(worker, job, rows[-1])
    assert worker.complete(job) == "deleted"


@pytest.mark.parametrize("when", ["before", "after"])
def test_publish_meets_a_job_held_by_a_transaction(session, worker, when):
    """worker: begin; claim_tx, read, advance, complete. producer: publish, before or after the read: at once. Nothing is lost."""
    producer = session()
    first = publish(producer, "a")
    worker.begin()
    (job,) = worker.call("claim_tx", kinds=[KIND])
    second = publish(producer, "a") if when == "before" else None
    seen = read(worker, job)
    second = second or publish(producer, "a")
    assert seen == ([first, second] if when == "before" else [first])
    advance(worker, job, seen[-1])
    worker.complete(job)
    worker.commit()
    again = worker.take(KIND)
    assert read(worker, again) == ([] if when == "before" else [second])


def test_publish_cuts_neither_a_backoff_nor_a_snooze(session, worker, holding):
    """The job failed, then was snoozed, for an hour each: publish leaves the time as it is, whether it came before or after."""
    job, first = holding
    producer = session()
    due = "select run_after - jobs.clock() = interval '1 hour' from jobs.job"
    publish(producer, "a")
    worker.fail(job, retry_in="1 hour")
    assert worker.value(due)
    publish(producer, "a")
    worker.call("maintain")
    assert worker.value(due)
    worker.db.advance(3600)
    job = worker.take(KIND)
    publish(producer, "a")
    worker.release(job, delay="1 hour")
    publish(producer, "a")
    worker.call("maintain")
    assert worker.value(due)
    worker.db.advance(3600)
    assert len(read(worker, worker.take(KIND))) == 5


def test_a_failed_replay_stays_failed_until_the_next_row(session, worker, holding):
    """The job fails for good: housekeeping does not wake it, though rows are left. The next publish makes a fresh job, which reads both."""
    job, first = holding
    worker.fail(job, final=True)
    assert dict(worker.call("maintain"))["replayed"] == 0
    assert worker.claim(KIND) == []
    second = publish(session(), "a")
    fresh = worker.take(KIND)
    assert (fresh.attempts, read(worker, fresh)) == (0, [first, second])


def test_an_advance_that_is_rolled_back_did_nothing(session, worker, holding):
    """begin; the handler's own write; advance; rollback: mark, row and write are as before. The same again and commit: all are done."""
    job, first = holding
    worker.run("create table effect (seq bigint)")
    for end in ("rollback", "commit"):
        worker.begin()
        worker.run("insert into effect values (%s)", first)
        advance(worker, job, first)
        assert read(worker, job) == []
        getattr(worker, end)()
        done = end == "commit"
        assert read(worker, job) == ([] if done else [first])
        assert mark(worker, "a") == ([(first,)] if done else [])
        assert worker.value("select count(*) from effect") == done
        assert worker.value("select count(*) from jobs.outbox") == (not done)


@pytest.mark.parametrize("how", ["expired", "taken", "cancelled"])
def test_a_lost_claim_can_neither_read_nor_advance(db, session, worker, holding, how):
    """The lease is over, or another has the job, or it was cancelled: JB001, and the mark does not move."""
    job, first = holding
    if how == "cancelled":
        worker.one("cancel", id=job.id)
    else:
        db.advance(3600)
    if how == "taken":
        other = session()
        again = other.take(KIND)
        assert read(other, again) == [first]
    with refused("JB001"):
        read(worker, job)
    with refused("JB001"):
        advance(worker, job, first)
    assert mark(worker, "a") == []


def test_nobody_can_take_the_job_between_advance_and_commit(db, session, worker, holding):
    """worker: begin; advance. The lease ends. other: can neither claim nor cancel it. worker: commit. other: reads what is left."""
    job, first = holding
    other = session()
    second = publish(other, "a")
    worker.begin()
    assert advance(worker, job, first) is True
    db.advance(3600)
    assert other.claim(KIND) == []
    assert other.one("cancel", id=job.id)[0] == "busy"
    worker.commit()
    again = other.take(KIND)
    assert (again.id, read(other, again)) == (job.id, [second])


def test_a_handler_that_publishes_to_its_own_stream(session, worker, holding):
    """worker: begin; publish the same key, read it, advance, publish again, a row of another producer between: none is lost, in order."""
    job, first = holding
    worker.begin()
    second = publish(worker, "a")
    third = publish(session(), "a")
    assert read(worker, job) == [first, second, third]
    assert advance(worker, job, first) is True
    fourth = publish(worker, "a")
    assert read(worker, job) == [second, third, fourth]
    assert advance(worker, job, third) is True
    worker.commit()
    assert worker.complete(job) == "pending"
    again = worker.take(KIND)
    assert read(worker, again) == [fourth]


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_producers_and_handlers_with_an_old_snapshot(session, worker, holding, level):
    """A producer in this level: its rows come in order, others of its key wait. A handler in it: may advance, cannot read (25000)."""
    job, first = holding
    early, late = session(), session()
    early.begin(level)
    early.run("select 1")
    second = publish(early, "a")
    third = publish(late, "a")
    assert read(worker, job) == [first]
    early.commit()
    assert read(worker, job) == [first, second, third]
    worker.begin(level)
    assert advance(worker, job, second) is True
    worker.commit()
    assert mark(worker, "a") == [(second,)]
    assert read(worker, job) == [third]
    worker.begin(level)
    with refused("25000"):
        read(worker, job)
    worker.rollback()
    assert worker.complete(job) == "pending"
    worker.db.advance(1)
    worker.take(KIND)
    assert worker.value("select array_agg(seq) from jobs.outbox") == [third]


def test_two_subscribers_see_the_same_order_and_then_the_rows_go(db, session, worker):
    """
    Three producers commit in another order than they began; two kinds read, one of them row by row, at different times: the same rows in
    the same order. They advance at once, in transactions that overlap, so neither sees the other's mark: the next tick deletes the rows.
    """
    worker.one("subscribe", stream=STREAM, kind="vectors")
    other = session()
    publish(worker, "a")
    job, twin = worker.take(KIND, lease="1 hour"), other.take("vectors", lease="1 hour")
    producers = [session() for _ in range(3)]
    for producer in producers:
        producer.begin()
        publish(producer, "a")
    seen = []

    def one_step():
        for seq in read(other, twin, batch=1):
            seen.append(seq)
            advance(other, twin, seq)

    for n in (2, 0, 1):
        publish(producers[n], "a")
        producers[n].commit()
        one_step()
    for _ in range(10):
        one_step()
    assert seen == read(worker, job) == sorted(seen)
    assert len(seen) == 7
    assert worker.value("select count(*) from jobs.outbox") == 7

    last = publish(worker, "a")
    worker.begin()
    other.begin()
    advance(worker, job, last)
    advance(other, twin, last)
    worker.commit()
    other.commit()
    assert worker.value("select array_agg(seq) from jobs.outbox") == [last]
    db.advance(1)
    worker.claim("none")
    assert worker.value("select count(*) from jobs.outbox") == 0
    assert worker.value("select count(*) from jobs.unpruned") == 0


def test_a_note_waits_for_the_advance_it_was_made_for(db, session, worker):
    """
    worker: begin; advance. other: advance, committed: it leaves the rows and a note. A tick now must keep the note: worker's mark is not
    committed. worker: commit; a tick: the rows go.
    """
    worker.one("subscribe", stream=STREAM, kind="vectors")
    other, third = session(), session()
    row = publish(worker, "a")
    job, twin = worker.take(KIND, lease="1 hour"), other.take("vectors", lease="1 hour")
    worker.begin()
    advance(worker, job, row)
    advance(other, twin, row)
    db.advance(1)
    third.claim("none")
    assert third.value("select count(*) from jobs.unpruned") == 1
    worker.commit()
    db.advance(1)
    third.claim("none")
    assert third.value("select count(*) from jobs.unpruned") == 0
    assert third.value("select count(*) from jobs.outbox") == 0


def test_rows_that_only_an_older_kind_read_go_when_a_later_one_starts_from_now(db, session):
    """Rows of a stream that nobody read yet, then subscribe from now: the kind never sees them, and the next tick deletes them."""
    s = session()
    db.stop_clock()
    for _ in range(3):
        publish(s, "a")
    s.call("subscribe", stream=STREAM, kind=KIND, from_start=False)
    db.advance(1)
    assert s.claim(KIND) == []
    assert s.value("select count(*) from jobs.outbox") == 0
    row = publish(s, "a")
    assert read(s, s.take(KIND)) == [row]


@pytest.mark.parametrize("evidence", ["row", "watermark", "subscription"])
def test_a_sequence_behind_the_data_is_set_right(session, worker, evidence):
    """
    C30: the sequence starts again at 1 (a logical replica does not carry it) while a row, a watermark or a boundary says more. What is
    there can be read before anything is published; two producers at once, neither waiting, get higher numbers, in order.
    """
    rows = [publish(worker, "a") for _ in range(5)]
    job = worker.take(KIND)
    if evidence == "watermark":
        advance(worker, job, rows[-1])
    elif evidence == "subscription":
        advance(worker, job, rows[-1])
        worker.call("subscribe", stream=STREAM, kind="later", from_start=False)
        worker.run("delete from jobs.watermark")
        worker.run("delete from jobs.subscription where kind = %s", KIND)
    assert worker.value("select count(*) from jobs.outbox") == (5 if evidence == "row" else 0)
    worker.run("select setval('jobs.outbox_seq', 1, false)")
    if evidence == "row":
        assert read(worker, job) == rows
        worker.run("select setval('jobs.outbox_seq', 1, false)")
    first, second = session(), session()
    first.begin()
    new = [publish(first, "a"), publish(second, "a")]
    first.commit()
    assert rows[-1] < new[0] < new[1]
    if evidence == "subscription":
        job = worker.take("later")
    assert read(worker, job) == (rows if evidence == "row" else []) + new


def test_a_storm_of_producers_and_two_subscribers(session, worker):
    """
    Four sessions publish rows of two keys, in transactions of one to three rows, every fifth rolled back, every seventh prepared, while
    two kinds read and advance. Each kind gets every committed row once, each key in the order of the numbers.
    """
    worker.one("subscribe", stream=STREAM, kind="vectors")
    producers = [session(patient=True) for _ in range(4)]
    readers = {KIND: session(), "vectors": session()}
    committed: list[tuple[str, int]] = []
    got: dict[str, list[tuple[str, int]]] = {kind: [] for kind in readers}

    def produce(n):
        s = producers[n]

        def work():
            for turn in range(20):
                s.connection.execute("begin")
                mine = []
                for step in range(1 + turn % 3):
                    key = "ab"[(turn + step + n) % 2]
                    row = s.connection.execute("select jobs.publish(%s, %s, null)", (STREAM, key)).fetchone()
                    mine.append((key, row[0]))
                if turn % 5 == 4:
                    s.connection.execute("rollback")
                    continue
                if turn % 7 == 3:
                    s.connection.execute(f"prepare transaction 'p{n}'")
                    s.connection.execute(f"commit prepared 'p{n}'")
                else:
                    s.connection.execute("commit")
                committed.extend(mine)

        return s._thread.submit(work)

    def consume(kind):
        s = readers[kind]
        found = 0
        for job in s.claim(kind, batch=2, lease="1 day"):
            for seq in read(s, job, batch=7):
                got[kind].append((job.key, seq))
                advance(s, job, seq)
                found += 1
            s.complete(job)
        worker.db.advance(0.3)
        return found

    running = [produce(n) for n in range(4)]

    def drained():
        ended = all(one.done() for one in running)
        found = sum(consume(kind) for kind in readers)
        return ended and found == 0 and not worker.run("select 1 from jobs.lag")

    wait_for(drained, "every row read")
    for one in running:
        one.result()
    for kind in readers:
        assert sorted(got[kind]) == sorted(committed), kind
        for key in "ab":
            assert [seq for k, seq in got[kind] if k == key] == sorted(seq for k, seq in committed if k == key), (kind, key)
