"""The worker, in a thread of the test's process. Leases pass by the database's movable clock."""

from __future__ import annotations

import asyncio
import threading

import psycopg
import pytest
from pgclaim import (
    BadArgument,
    Fail,
    LostClaim,
    NotInstalled,
    Registry,
    Snooze,
    Worker,
    client,
)
from support import effects, rows, value, wait_for, working


def empty(conn):
    return value(conn, "select count(*) from jobs.job") == 0


def pending_again(conn):
    return value(conn, "select state = 'pending' from jobs.job")


def test_each_job_runs_once(db):
    conn = effects(db)
    client.enqueue_many(conn, "sync", [None] * 60)
    client.enqueue_many(conn, "async", [None] * 60)
    registry = Registry()

    @registry.handler("sync")
    def sync(job):
        with job.transaction() as tx:
            tx.execute("insert into effect (job, what) values (%s, 'sync')", [job.id])

    @registry.handler("async")
    async def asynchronous(job):
        async with job.transaction() as tx:
            await tx.execute("insert into effect (job, what) values (%s, 'async')", [job.id])
            await job.complete(conn=tx)

    with working(registry, db.dsn, concurrency=8) as worker:
        wait_for(
            lambda: worker.counts["completed"] + worker.counts["settled"] == 120,
            "120 jobs done",
        )
    assert empty(conn)
    assert value(conn, "select count(distinct job) from effect") == value(conn, "select count(*) from effect") == 120
    assert worker.counts == {"claimed": 120, "completed": 60, "settled": 60}


def test_only_kinds_with_a_handler_are_claimed(db):
    """C31"""
    conn = db.connect()
    client.enqueue(conn, "of a newer release")
    client.enqueue(conn, "known")
    registry = Registry()
    registry.handler("known")(lambda job: None)
    with working(registry, db.dsn) as worker:
        wait_for(lambda: worker.counts["completed"] == 1)
    assert rows(conn, "select kind, state, attempts from jobs.job") == [("of a newer release", "pending", 0)]


def test_an_unknown_payload_is_parked_with_a_clear_error(db):
    """C31"""
    conn = db.connect()
    client.enqueue(conn, "mail", payload={"version": 9})
    registry = Registry()

    @registry.handler("mail")
    def mail(job):
        raise Fail(f"payload version {job.payload['version']} is not known here", final=True)

    with working(registry, db.dsn) as worker:
        wait_for(lambda: worker.counts["failed"] == 1)
    assert rows(conn, "select state, last_error from jobs.job") == [("failed", "payload version 9 is not known here")]


def test_a_handlers_exception_is_a_failed_attempt(db, caplog):
    """C34"""
    caplog.set_level("CRITICAL", logger="pgclaim.worker")  # no report can carry a lone surrogate
    conn = db.connect()
    db.stop_clock()
    client.enqueue(conn, "mail")
    registry = Registry()

    @registry.handler("mail")
    async def mail(job):
        raise ValueError("a \0 and a \ud800")

    with working(registry, db.dsn) as worker:
        wait_for(lambda: worker.counts["failed"] == 1)
    found = rows(conn, "select state, attempts, last_error, claimed_by from jobs.job")
    assert found == [("pending", 1, "ValueError: a \\x00 and a \\ud800", None)]


def test_a_database_error_shows_its_sqlstate_and_ends_in_failed(db):
    """A09"""
    conn = db.connect()
    client.define(conn, "mail", max_attempts=2, backoff_base=0.001, backoff_max=0.001)
    client.enqueue(conn, "mail")
    registry = Registry()

    @registry.handler("mail")
    def mail(job):
        with job.transaction() as tx:
            tx.execute("select 1 / 0")

    with working(registry, db.dsn) as worker:
        wait_for(lambda: worker.counts["failed"] == 2)
    [(state, attempts, error)] = rows(conn, "select state, attempts, last_error from jobs.job")
    assert (state, attempts) == ("failed", 2)
    assert "22012" in error


@pytest.mark.parametrize(
    "result",
    [float("nan"), object(), "nul \0", "lone \ud800"],
    ids=["nan", "object", "nul", "lone"],
)
def test_a_result_that_cannot_be_stored_is_a_failed_attempt(db, result):
    """C34"""
    conn = db.connect()
    db.stop_clock()
    client.enqueue(conn, "mail")
    registry = Registry()
    registry.handler("mail")(lambda job: result)
    with working(registry, db.dsn) as worker:
        wait_for(lambda: worker.counts["failed"] == 1)
    assert "result" in value(conn, "select last_error from jobs.job")


def test_a_result_is_kept_with_the_done_job(db):
    conn = db.connect()
    client.define(conn, "mail", keep_done=3600)
    client.enqueue(conn, "mail")
    registry = Registry()
    registry.handler("mail")(lambda job: {"sent": True})
    with working(registry, db.dsn) as worker:
        wait_for(lambda: worker.counts["completed"] == 1)
    assert rows(conn, "select state, result from jobs.job") == [("done", {"sent": True})]


def test_snooze_and_release_count_no_attempt(db):
    conn = db.connect()
    client.enqueue(conn, "snooze")
    client.enqueue(conn, "release")
    registry = Registry()

    @registry.handler("snooze")
    def snooze(job):
        raise Snooze(3600)

    @registry.handler("release")
    def release(job):
        with job.transaction() as tx:
            job.release(3600, conn=tx)

    with working(registry, db.dsn) as worker:
        wait_for(lambda: worker.counts["released"] == 1 and worker.counts["settled"] == 1)
    found = rows(conn, "select state, attempts, run_after > jobs.clock() from jobs.job")
    assert found == [("pending", 0, True)] * 2


def test_a_poisoned_job_leaves_the_others_alone(db):
    """A29"""
    conn = db.connect()
    client.define(conn, "mail", max_attempts=2, backoff_base=0.001, backoff_max=0.001)
    client.enqueue_many(conn, "mail", [str(n) for n in range(20)])
    registry = Registry()

    @registry.handler("mail")
    def mail(job):
        if job.key == "7":
            raise RuntimeError("poison")

    with working(registry, db.dsn, concurrency=4) as worker:
        wait_for(lambda: worker.counts["completed"] == 19 and worker.counts["failed"] == 2)
    assert rows(conn, "select key, state, last_error from jobs.job") == [("7", "failed", "RuntimeError: poison")]
    assert worker.counts["trouble"] == 0


@pytest.mark.parametrize(
    "options",
    [
        {"lease": 1, "heartbeat": 0.5},
        {"lease": 1, "heartbeat": 2},
        {"lease": 1, "heartbeat": 0},
        {"heartbeat": 1},
        {"concurrency": 0},
        {"poll": 0},
        {"grace": -1},
        {"lease": float("nan")},
    ],
    ids=str,
)
def test_nonsense_is_refused(options):
    """A08, C13"""
    registry = Registry()
    registry.handler("mail")(lambda job: None)
    with pytest.raises(BadArgument):
        Worker(registry, **options)


def test_a_worker_without_the_schema_says_so(empty_db):
    registry = Registry()
    registry.handler("mail")(lambda job: None)
    with pytest.raises(NotInstalled):
        Worker(registry, empty_db.dsn).run()


def spinning(registry, kind, started, finish):
    """A handler that computes, on its thread or on the event loop, until it may finish."""

    def spin(job):
        started.set()
        while not finish.is_set():
            pass

    async def spin_on_the_loop(job):
        spin(job)

    registry.handler(kind)(spin if kind == "sync" else spin_on_the_loop)


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_handler_that_computes_for_three_leases_keeps_its_lease(db, kind):
    """A07, C12: the heartbeat needs neither the handler's thread nor the event loop."""
    conn = db.connect()
    db.stop_clock()
    client.enqueue(conn, kind)
    registry, started, finish = Registry(), threading.Event(), threading.Event()
    spinning(registry, kind, started, finish)
    with working(registry, db.dsn, lease=1) as worker:
        assert started.wait(60)
        for _ in range(6):
            db.advance(0.5)
            wait_for(
                lambda: value(
                    conn,
                    "select claimed_until = jobs.clock() + interval '1 s' from jobs.job",
                )
            )
        finish.set()
        wait_for(lambda: worker.counts["completed"] == 1)
    assert worker.counts == {"claimed": 1, "completed": 1}
    assert empty(conn)


def test_heartbeats_need_no_connection_of_the_pool(db):
    """A28"""
    conn = effects(db)
    db.stop_clock()
    client.enqueue_many(conn, "mail", [None] * 4)
    registry, finish = Registry(), threading.Event()

    @registry.handler("mail")
    def mail(job):
        with job.transaction() as tx:
            tx.execute("insert into effect (job, what) values (%s, 'x')", [job.id])
            finish.wait()
        with job.transaction() as tx:
            job.complete(conn=tx)

    beaten = "select count(*) from jobs.job where claimed_until = jobs.clock() + interval '1 s'"
    with working(registry, db.dsn, lease=1, concurrency=4, pool_size=2) as worker:
        wait_for(lambda: value(conn, "select count(*) from jobs.job where state = 'running'") == 4)
        for _ in range(6):
            db.advance(0.5)
            wait_for(lambda: value(conn, beaten) == 4)
        finish.set()
        wait_for(lambda: worker.counts["settled"] == 4)
    assert worker.counts == {"claimed": 4, "settled": 4}
    assert value(conn, "select count(*) from effect") == 4


def hours_pass(worker):
    """For the deadlines of the handlers that run."""
    for run in list(worker._runs):
        run.started -= 7200


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_handler_that_hangs_has_a_deadline(db, kind):
    """C12"""
    conn = db.connect()
    db.stop_clock()
    client.enqueue(conn, kind)
    registry, started, finish, ended = Registry(), threading.Event(), threading.Event(), threading.Event()

    @registry.handler("sync", timeout=5000)
    def hang(job):
        started.set()
        finish.wait()
        ended.set()

    @registry.handler("async", timeout=5000)
    async def hang_on_the_loop(job):
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with working(registry, db.dsn) as worker:
        assert started.wait(60)
        assert worker.counts["failed"] == 0
        hours_pass(worker)
        wait_for(lambda: worker.counts["failed"] == 1)
        finish.set()
        assert ended.wait(60)
    found = rows(conn, "select state, attempts, last_error from jobs.job")
    assert found == [("pending", 1, "the handler ran longer than its timeout of 5000 s")]
    assert worker.counts == {"claimed": 1, "failed": 1}


def test_a_lost_claim_cannot_write_and_the_worker_goes_on(db):
    """C25"""
    conn = effects(db)
    client.enqueue(conn, "mail", key="lost")
    registry, refused = Registry(), []

    @registry.handler("mail")
    def mail(job):
        if job.key == "lost":
            client.cancel(conn, job.id)
            try:
                with job.transaction() as tx:
                    tx.execute("insert into effect (job, what) values (%s, 'x')", [job.id])
            except LostClaim as error:
                refused.append(error.sqlstate)
                raise

    with working(registry, db.dsn) as worker:
        wait_for(lambda: worker.counts["lost"] == 1)
        client.enqueue(conn, "mail", key="next")
        wait_for(lambda: worker.counts["completed"] == 1)
    assert refused == ["JB001"]
    assert value(conn, "select count(*) from effect") == 0
    assert value(conn, "select state from jobs.job") == "cancelled"


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_running_handler_learns_that_its_job_is_cancelled(db, kind):
    conn = db.connect()
    db.stop_clock()
    client.define(conn, kind, lease=1)
    job_id = client.enqueue(conn, kind).id
    registry, started, cancelled = Registry(), threading.Event(), threading.Event()

    @registry.handler("sync")
    def wait(job):
        started.set()
        wait_for(lambda: job.lost)
        cancelled.set()
        job.check()

    @registry.handler("async")
    async def wait_on_the_loop(job):
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with working(registry, db.dsn) as worker:
        assert started.wait(60)
        assert client.cancel(conn, job_id) == "cancelled"
        assert cancelled.wait(60)
        wait_for(lambda: worker.counts["lost"] == 1)
    assert worker.counts == {"claimed": 1, "lost": 1}
    assert value(conn, "select state from jobs.job") == "cancelled"


def test_an_error_after_the_writes_undoes_them_and_the_completion(db):
    conn = effects(db)
    db.stop_clock()
    client.enqueue(conn, "mail")
    registry = Registry()

    @registry.handler("mail")
    def mail(job):
        with job.transaction() as tx:
            tx.execute("insert into effect (job, what) values (%s, 'x')", [job.id])
            job.complete(conn=tx)
            raise RuntimeError("after all")

    with working(registry, db.dsn) as worker:
        wait_for(lambda: worker.counts["failed"] == 1)
    assert value(conn, "select count(*) from effect") == 0
    assert value(conn, "select last_error from jobs.job") == "RuntimeError: after all"


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_the_databases_default_isolation_does_not_matter(db, level):
    """A11"""
    conn = effects(db)
    conn.execute(f"alter database {db.name} set default_transaction_isolation = '{level}'")
    client.enqueue_many(conn, "mail", [None] * 40)
    registry, errors = Registry(), []

    @registry.handler("mail")
    def mail(job):
        with job.transaction() as tx:
            level = value(tx, "select current_setting('transaction_isolation')")
            tx.execute("insert into effect (job, what) values (%s, %s)", [job.id, level])

    with (
        working(registry, db.dsn, concurrency=4) as one,
        working(registry, db.dsn, concurrency=4) as two,
    ):
        wait_for(lambda: one.counts["completed"] + two.counts["completed"] == 40)
    assert errors == []
    assert one.counts["trouble"] + two.counts["trouble"] + one.counts["failed"] + two.counts["failed"] == 0
    assert rows(conn, "select what, count(*), count(distinct job) from effect group by what") == [("read committed", 40, 40)]


def test_a_handlers_connection_that_is_cut_costs_one_attempt(db):
    """A10: none of that attempt's writes, the worker alive, the job comes back."""
    conn = effects(db)
    client.define(conn, "mail", backoff_base=0.001, backoff_max=0.001)
    client.enqueue(conn, "mail")
    registry = Registry()

    @registry.handler("mail")
    def mail(job):
        with job.transaction() as tx:
            tx.execute(
                "insert into effect (job, what) values (%s, %s)",
                [job.id, str(job.attempts)],
            )
            if job.attempts == 0:
                pid = tx.info.backend_pid
                tx.execute("set local idle_in_transaction_session_timeout = '1 ms'")
                wait_for(lambda: not rows(conn, "select from pg_stat_activity where pid = %s", pid))

    with working(registry, db.dsn) as worker:
        wait_for(lambda: worker.counts["completed"] == 1)
    assert rows(conn, "select what from effect") == [("1",)]
    assert worker.counts["failed"] == 1


def test_the_workers_connections_may_be_cut_at_any_time(db):
    """C18"""
    conn = db.connect()
    registry = Registry()
    registry.handler("mail")(lambda job: None)
    cut = """select count(pg_terminate_backend(pid)) from pg_stat_activity
        where datname = current_database() and application_name like 'pgclaim%'"""
    with working(registry, db.dsn) as worker:
        for done in range(1, 4):
            client.enqueue(conn, "mail")
            wait_for(lambda done=done: worker.counts["completed"] == done)
            before = worker.counts["trouble"]
            assert value(conn, cut) >= 1
            wait_for(lambda before=before: worker.counts["trouble"] > before)
        client.enqueue(conn, "mail")
        wait_for(lambda: worker.counts["completed"] == 4)
    assert empty(conn)


def test_an_answer_that_was_lost_is_not_a_crash(db):
    """A27: the complete was done, its answer did not arrive, and the repeated one is refused."""
    conn = db.connect()
    client.enqueue(conn, "mail")
    registry = Registry()
    registry.handler("mail")(lambda job: None)
    worker = Worker(registry, db.dsn, poll=0.05)
    link, cuts = worker._link, []

    class Cut:
        def __call__(self, call):
            answer = link(call)
            if "jobs.complete(" in call.sql and not cuts:
                cuts.append(call)
                raise psycopg.OperationalError("the connection was cut after the commit")
            return answer

        def close(self):
            link.close()

    worker._link = Cut()
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    wait_for(lambda: worker.counts["unsure"] == 1)
    client.enqueue(conn, "mail")
    wait_for(lambda: worker.counts["completed"] == 1)
    worker.stop()
    thread.join(60)
    assert not thread.is_alive()
    assert worker.counts == {"claimed": 2, "trouble": 1, "unsure": 1, "completed": 1}
    assert empty(conn)


def test_stop_waits_for_handlers_then_gives_their_jobs_back(db):
    """A25"""
    conn = db.connect()
    client.enqueue_many(conn, "mail", [None] * 3)
    registry, finish = Registry(), threading.Event()

    @registry.handler("mail")
    def mail(job):
        finish.wait()

    with working(registry, db.dsn, grace=0.1):
        wait_for(lambda: value(conn, "select count(*) from jobs.job where state = 'running'") == 3)
    found = rows(conn, "select state, attempts, claimed_by from jobs.job")
    finish.set()
    assert found == [("pending", 0, None)] * 3
    assert len(client.claim(conn, batch=3)) == 3


def test_drain_ends_when_nothing_is_due(db):
    conn = db.connect()
    client.enqueue_many(conn, "mail", [None] * 5)
    client.enqueue(conn, "mail", delay=3600)
    registry = Registry()
    registry.handler("mail")(lambda job: None)
    worker = Worker(registry, db.dsn, concurrency=2)
    worker.run(drain=True)
    assert worker.counts["completed"] == 5
    assert value(conn, "select count(*) from jobs.job") == 1


def test_an_idle_worker_does_not_spin(db):
    """C18: with its poll at 60 s, an idle worker looks once and sleeps; a stop wakes it."""
    registry = Registry()
    registry.handler("mail")(lambda job: None)
    worker = Worker(registry, db.dsn, poll=60)
    link, calls, slept = worker._link, [], threading.Event()

    class Counted:
        def __call__(self, call):
            calls.append(call.sql)
            return link(call)

        def close(self):
            link.close()

    def sleep(wait, sleep=worker._sleep):
        slept.set()
        sleep(wait)

    worker._link, worker._sleep = Counted(), sleep
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    assert slept.wait(60)
    worker.stop()
    thread.join(60)
    assert not thread.is_alive()
    assert len(calls) == 2


def test_a_registry_takes_one_handler_a_kind():
    registry = Registry()
    registry.handler("mail")(lambda job: None)
    with pytest.raises(BadArgument):
        registry.handler("mail")(lambda job: None)
    for timeout in (0, -1, float("nan")):
        with pytest.raises(BadArgument):
            registry.handler("other", timeout=timeout)
    with pytest.raises(BadArgument):
        Worker(Registry())


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("how", ["deadline", "stop"])
def test_a_handler_out_of_time_loses_its_open_transaction(db, kind, how):
    """C12, A25: the job is given back although the handler holds its row, and the handler's writes are rolled back."""
    conn = effects(db)
    db.stop_clock()
    client.enqueue(conn, kind)
    registry, started, finish = Registry(), threading.Event(), threading.Event()

    @registry.handler("sync", timeout=5000)
    def write(job):
        with job.transaction() as tx:
            tx.execute("insert into effect (job, what) values (%s, 'x')", [job.id])
            started.set()
            finish.wait()

    @registry.handler("async", timeout=5000)
    async def write_on_the_loop(job):
        async with job.transaction() as tx:
            await tx.execute("insert into effect (job, what) values (%s, 'x')", [job.id])
            started.set()
            finish.wait()  # even with the event loop blocked

    with working(registry, db.dsn) as worker:
        assert started.wait(60)
        if how == "deadline":
            hours_pass(worker)
            wait_for(lambda: worker.counts["failed"] == 1)
    finish.set()
    assert rows(conn, "select state, attempts from jobs.job") == [("pending", 1 if how == "deadline" else 0)]
    assert value(conn, "select count(*) from effect") == 0
