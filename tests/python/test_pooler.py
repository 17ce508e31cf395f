"""Behind pgbouncer in transaction mode: each transaction may land on another session of the server."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from pgclaim import LostClaim, Registry, Worker, client
from psycopg.conninfo import make_conninfo
from support import cli, effects, rows, value, wait_for

from tests.tools.database import SYSTEM_USER

SETTINGS = """
[databases]
* = host={host} port={port} user={user} pool_size=3
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = {directory}
auth_type = any
pool_mode = transaction
server_round_robin = 1
ignore_startup_parameters = extra_float_digits
"""


def answers(dsn: str) -> bool:
    try:
        with psycopg.connect(dsn, autocommit=True) as conn:
            return bool(value(conn, "select true"))
    except psycopg.OperationalError:
        return False


@pytest.fixture
def pooled(db) -> Iterator[str]:
    """How to reach the test's database through a pgbouncer of its own."""
    directory = Path(tempfile.mkdtemp(prefix="pgclaim-pooler-"))
    settings = directory / "pgbouncer.ini"
    settings.write_text(SETTINGS.format(host=db.cluster.host, port=db.cluster.port, user=db.cluster.user, directory=directory))
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program is not None, "run `make setup`"
    command = [program, "-q", str(settings)]
    if os.geteuid() == 0:  # it refuses to be root
        account = pwd.getpwnam(SYSTEM_USER)
        os.chown(directory, account.pw_uid, account.pw_gid)
        command[1:1] = ["-u", SYSTEM_USER]
    process = subprocess.Popen(command, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        dsn = make_conninfo(host=str(directory), port=6432, user=db.cluster.user, dbname=db.name)
        wait_for(lambda: process.poll() is not None or answers(dsn), "pgbouncer")
        assert process.poll() is None, "pgbouncer ended by itself"
        yield dsn
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(directory)


@pytest.fixture
def conn(pooled: str) -> Iterator[psycopg.Connection]:
    """As a user has it: psycopg prepares what is sent for the sixth time, if it is let."""
    with psycopg.connect(pooled, autocommit=True) as conn:
        yield conn


@pytest.fixture
def own(pooled: str) -> Iterator[psycopg.Connection]:
    """For the test's own questions."""
    with psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as conn:
        yield conn


def test_each_call_may_land_on_another_session(conn, own):
    """A15, C19: the life of a few jobs; the server's sessions take turns, and none has a statement prepared."""
    with own.transaction():  # so the other needs another session
        value(own, "select 1")
        with conn.transaction():
            value(conn, "select 1")
    assert len({value(own, "select pg_backend_pid()") for _ in range(6)}) == 2
    for _ in range(8):
        client.enqueue(conn, "mail", "a", {"n": 1})
    client.enqueue_many(conn, "mail", ["b", "c", "d", "e"])
    a, b, c = client.claim(conn, ["mail"], batch=3)
    assert client.extend(conn, a.id, a.token) > a.claimed_until
    assert [e.cancelled for e in client.extend_many(conn, [a.id, b.id], [a.token, b.token])] == [False, False]
    assert client.enqueue(conn, "mail", "a").outcome == "retriggered"
    with conn.transaction():
        client.fence(conn, a.id, a.token)
        assert client.complete(conn, a.id, a.token) == "pending"
    with pytest.raises(LostClaim):
        client.complete(conn, a.id, a.token)
    assert client.fail(conn, b.id, b.token, "e", final=True).state == "failed"
    client.release(conn, c.id, c.token)
    with conn.transaction():
        (held,) = client.claim_tx(conn, ["mail"])
        assert client.holds(conn, held.id, held.token)
        assert client.complete(conn, held.id, held.token) == "deleted"
    assert client.retry(conn, b.id) == "retried"
    jobs = client.claim(conn, ["mail"], batch=10)
    assert all(client.complete_many(conn, [job.id for job in jobs], [job.token for job in jobs]))
    assert client.maintain(conn)["expired"] == 0
    assert rows(own, "select * from jobs.job") == []
    assert {value(own, "select count(*) from pg_prepared_statements") for _ in range(6)} == {0}


def test_a_worker_and_the_command_line(db, pooled, own):
    """C19: installed again through the pooler, enqueued by the command line, worked off with heartbeats and fenced transactions."""
    effects(db)
    registry = Registry()

    @registry.handler("mail")
    def mail(job):
        with job.transaction() as conn:
            conn.execute("insert into effect (job, what) values (%s, %s)", [job.id, job.payload["to"]])
            job.complete(conn=conn)

    assert cli("install", "--dsn", pooled).returncode == 0
    for name in ("ann", "bob"):
        done = cli("enqueue", "mail", f'{{"to": "{name}"}}', "--key", name, "--dsn", pooled)
        assert done.returncode == 0, done.stderr
    client.enqueue_many(own, "mail", [None] * 20, [{"to": "many"}] * 20)
    worker = Worker(registry, pooled, concurrency=2, poll=0.05)
    worker.run(drain=True)
    assert worker.counts["settled"] == 22
    assert worker.counts["trouble"] == 0
    assert rows(own, "select what, count(*) from effect group by what order by what") == [("ann", 1), ("bob", 1), ("many", 20)]
    assert {value(own, "select count(*) from pg_prepared_statements") for _ in range(6)} == {0}
