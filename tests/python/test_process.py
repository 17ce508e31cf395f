"""Workers in processes of their own: killed, stopped, and with the server restarted under them."""

from __future__ import annotations

import signal

from pgclaim import client
from support import WorkerProcess, effects, rows, value, wait_for


def started(conn, times=1):
    return lambda: value(conn, "select count(*) from effect where what = 'started'") >= times


def open_gate(conn):
    conn.execute("insert into gate values ('open')")


def done(conn):
    return value(conn, "select count(*) from effect where what = 'done'")


def test_a_killed_workers_job_comes_back_when_its_lease_ends(db):
    conn = effects(db)
    db.stop_clock()
    job_id = client.enqueue(conn, "gated").id
    with WorkerProcess(db, "--lease", "10") as first:
        wait_for(started(conn))
        first.send(signal.SIGKILL)
        first.wait()
    assert rows(conn, "select state, attempts from jobs.job") == [("running", 0)]
    open_gate(conn)
    with WorkerProcess(db, "--lease", "10") as second:
        db.advance(10)
        wait_for(lambda: done(conn) == 1)
        wait_for(lambda: value(conn, "select count(*) from jobs.job") == 0)
        second.send(signal.SIGTERM)
        assert second.wait()[0] == 0
    assert rows(conn, "select job from effect where what = 'done'") == [(job_id,)]


def test_sigterm_releases_what_does_not_end_within_the_grace(db):
    """A25"""
    conn = effects(db)
    client.enqueue_many(conn, "gated", [None] * 3)
    with WorkerProcess(db, "--grace", "0.2") as worker:
        wait_for(started(conn, 3))
        worker.send(signal.SIGTERM)
        code, text = worker.wait()
    assert code == 0, text
    assert rows(conn, "select state, attempts, last_error from jobs.job") == [("pending", 0, None)] * 3
    assert len(client.claim(conn, batch=3)) == 3
    assert "released=3" in text


def test_sigterm_lets_a_running_handler_finish_and_claims_no_more(db):
    conn = effects(db)
    client.enqueue(conn, "gated")
    with WorkerProcess(db, "--grace", "60") as worker:
        wait_for(started(conn))
        worker.send(signal.SIGTERM)
        open_gate(conn)
        code, text = worker.wait()
    assert code == 0, text
    assert done(conn) == 1
    assert value(conn, "select count(*) from jobs.job") == 0


def test_a_second_signal_does_not_wait(db):
    conn = effects(db)
    client.enqueue(conn, "gated")
    with WorkerProcess(db, "--grace", "3600") as worker:
        wait_for(started(conn))
        worker.send(signal.SIGTERM)
        worker.send(signal.SIGINT)
        code, text = worker.wait()
    assert code == 0, text
    assert rows(conn, "select state, attempts from jobs.job") == [("pending", 0)]


def test_the_server_is_restarted_and_the_workers_go_on(db):
    conn = effects(db)
    client.enqueue_many(conn, "plain", [None] * 5)
    with WorkerProcess(db) as worker:
        wait_for(lambda: done(conn) == 5)
        db.cluster.stop_immediately()
        db.cluster.start()
        conn = db.connect()
        client.enqueue_many(conn, "plain", [None] * 5)
        wait_for(lambda: done(conn) == 10)
        worker.send(signal.SIGTERM)
        code, text = worker.wait()
    assert code == 0, text
    assert value(conn, "select count(*) from jobs.job") == 0
    assert value(conn, "select count(distinct job) from effect") == 10
