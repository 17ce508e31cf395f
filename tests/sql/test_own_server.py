"""What needs a server of its own: a crash, a standby, a dump carried elsewhere, the very first install."""

from __future__ import annotations

import subprocess
import threading

import psycopg
import pytest
from psycopg import sql

from tests.sql.play import Session, refused, run_all, wait_for
from tests.sql.test_install import dump, finish, psql, python
from tests.tools.database import INSTALL, Cluster


def test_a_crash_in_the_middle_of_a_hundred_claims(own_cluster):
    """
    Four sessions claim a hundred jobs one by one, one of them in a transaction that it keeps open; the rest is done by hand.
    When forty claims were answered the server is stopped at once (pg_ctl stop -m immediate), and started again.
    Every job is there once; a claim that was answered after its commit stands; each job runs to its end.
    """
    db = own_cluster.create()
    db.query("select jobs.enqueue_many('k', array(select n::text from generate_series(1, 100) as n))")
    open_one = Session(db)
    open_one.begin()
    uncommitted = open_one.claim(batch=3)
    answered: list = []
    enough, cut = threading.Event(), []

    def claimer():
        s = Session(db)
        try:
            while jobs := s.claim():
                answered.extend(jobs)
                if len(answered) >= 40:
                    enough.set()
        except psycopg.OperationalError as error:
            cut.append(error)

    threads = [threading.Thread(target=claimer) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert enough.wait(60)
    own_cluster.stop_immediately()
    for thread in threads:
        thread.join(60)
    own_cluster.start()

    s = Session(db)
    rows = s.jobs("k")
    assert sorted(int(row.key) for row in rows) == list(range(1, 101))
    by_id = {row.id: row for row in rows}
    for job in answered:
        assert (by_id[job.id].state, by_id[job.id].claimed_by) == ("running", job.claimed_by)
    for job in uncommitted:
        assert by_id[job.id].claimed_by != job.claimed_by
    assert len({job.id for job in answered}) == len(answered) >= 40
    assert s.complete_many(answered) == [(job.id, True) for job in answered]
    rest = run_all(db, s)
    assert sorted([job.id for job in answered] + [job.id for job in rest]) == sorted(by_id)
    assert max(job.attempts for job in rest) <= 1
    assert s.jobs("k") == []


def test_a_crash_with_everything_open(own_cluster):
    """
    Before the crash: a fenced transaction, a transaction lease, a producer's transaction, a complete not committed, a stored
    trigger that is. After it: none of the open ones happened, the job that ran goes on with its token, the trigger is there.
    """
    db = own_cluster.create()
    s = Session(db)
    s.run("create table effect (n int)")
    for key in ("fenced", "completed", "triggered"):
        s.enqueue("k", key)
    fenced, completed, triggered = sorted(s.claim(batch=3), key=lambda job: ("fenced", "completed", "triggered").index(job.key))
    s.enqueue("k", "triggered", payload={"n": 2})
    s.enqueue("k", "tx")
    others = [Session(db) for _ in range(4)]
    for other in others:
        other.begin()
    others[0].run("insert into effect values (1)")
    others[0].fence(fenced)
    (held,) = others[1].call("claim_tx")
    others[1].complete(held)
    others[2].enqueue("k", "never")
    others[3].complete(completed)
    own_cluster.stop_immediately()
    own_cluster.start()

    s = Session(db)
    assert s.run("select 1 from effect") == []
    assert {(row.key, row.state) for row in s.jobs("k")} == {
        ("fenced", "running"),
        ("completed", "running"),
        ("triggered", "running"),
        ("tx", "pending"),
    }
    assert s.complete(triggered) == "pending"
    assert s.complete(completed) == "deleted"
    s.begin()
    s.fence(fenced)
    assert s.complete(fenced) == "deleted"
    s.commit()
    assert sorted((job.key, job.payload) for job in run_all(db, s)) == [("triggered", {"n": 2}), ("tx", None)]


class Standby(Cluster):
    """A hot standby of another cluster."""

    def __init__(self, primary: Cluster) -> None:
        self.primary = primary
        super().__init__(primary.name)

    def _initialise(self, settings) -> None:
        self._run("pg_basebackup", "-h", self.primary.host, "-p", str(self.primary.port), "-U", self.primary.user, "-R", "-c", "fast", "-N")
        with (self.data / "postgresql.conf").open("a") as configuration:
            configuration.write(f"\nunix_socket_directories = '{self.host}'\n")


def test_a_hot_standby_answers_clearly(own_cluster):
    """A job is enqueued on the primary and claimed there; on the standby every writing verb says 25006, the views answer."""
    db = own_cluster.create()
    primary = Session(db)
    standby_cluster = Standby(own_cluster)
    try:
        primary.enqueue("k", "a")
        job = primary.take()
        there = Session(type(db)(standby_cluster, db.name))
        wait_for(lambda: there.run("select 1 from jobs.running"), "the standby to follow")
        for verb, named in (
            ("claim", {}),
            ("claim_key", {"kind": "k", "key": "a"}),
            ("claim_tx", {}),
            ("enqueue", {"kind": "k"}),
            ("enqueue_many", {"kind": "k", "keys": ["a"]}),
            ("complete", {"id": job.id, "token": job.claimed_by}),
            ("complete_many", {"ids": [job.id], "tokens": [job.claimed_by]}),
            ("fence", {"id": job.id, "token": job.claimed_by}),
            ("holds", {"id": job.id, "token": job.claimed_by}),
            ("maintain", {}),
            ("cancel", {"id": job.id}),
            ("retry", {"id": job.id}),
        ):
            with refused("25006", "standby"):
                there.call(verb, **named)
        assert there.run("select kind, running from jobs.overview") == [("k", 1)]
        assert there.one("next_due")[0] is None
        there.close()
        assert primary.complete(job) == "deleted"
    finally:
        standby_cluster.remove()


def test_a_dump_restored_in_another_cluster_goes_on(cluster, db, session, own_cluster):
    """
    C30: a job in every state, leases from a clock a year ahead; dumped, restored into a new cluster.
    The leases of the old world end, new ids collide with none, nothing is lost, the next epoch is larger.
    """
    old = session()
    db.advance(365 * 86400)
    old.call("define", kind="k", max_attempts=5, keep_done="10 years")
    for key in ("running", "expired", "failed", "done", "pending"):
        old.enqueue("k", key, payload={"key": key})
    jobs = {job.key: job for job in old.claim(batch=5)}
    old.fail(jobs["failed"], final=True)
    old.complete(jobs["done"])
    old.release(jobs["pending"])
    old.enqueue("k", "running", payload={"key": "again"})
    last = max(job.id for job in jobs.values())
    db.install()
    old.run("drop schema test_clock cascade")
    text = dump(db)

    own_cluster.template()
    new = own_cluster.create(schema=False)
    restored = subprocess.run(
        [own_cluster.bin / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", new.dsn], input=text, capture_output=True, text=True
    )
    assert restored.returncode == 0, restored.stderr
    finish([psql(new, INSTALL)])
    s = Session(new)
    assert {row.key: row.state for row in s.jobs("k")} == {
        "running": "running",
        "expired": "running",
        "failed": "failed",
        "done": "done",
        "pending": "pending",
    }
    assert s.holds(jobs["running"]) is True
    assert s.enqueue("k", "new").id > last
    assert s.take("k").key == "new"
    new.advance(366 * 86400)
    ran = run_all(new, s)
    assert sorted((job.key, job.payload["key"] if job.payload else None) for job in ran) == [
        ("expired", "expired"),
        ("new", None),
        ("pending", "pending"),
        ("running", "again"),
    ]
    assert min(job.epoch for job in ran) > max(job.epoch for job in jobs.values())
    with refused("JB001"):
        s.complete(jobs["running"])


def test_the_very_first_installs_of_a_server_in_three_databases_at_once(own_cluster):
    """C32: no role exists yet; twenty processes install into three databases at once; all succeed, one set of roles."""
    databases = [own_cluster.create(schema=False) for _ in range(3)]
    finish([psql(databases[n % 3], INSTALL) if n % 5 else python(databases[n % 3]) for n in range(20)])
    assert len({dump(db, "--schema-only") for db in databases}) == 1
    assert databases[0].query("select count(*) from pg_roles where rolname in ('jobs_producer', 'jobs_worker', 'jobs_operator')") == [(3,)]


@pytest.mark.parametrize("createrole", [False, True], ids=["plain", "createrole"])
def test_an_owner_who_cannot_make_roles_is_told_so_and_goes_on(own_cluster, createrole):
    """The roles do not exist: a plain owner gets a warning that names them and a schema that works; with CREATEROLE they are made."""
    own_cluster.admin(sql.SQL("create role o login " + ("createrole" if createrole else "")))
    db = own_cluster.create(schema=False)
    own_cluster.admin(sql.SQL("alter database {} owner to o").format(sql.Identifier(db.name)))
    for _ in range(2):
        process = psql(db, INSTALL, user="o")
        text = process.communicate()[0]
        assert process.returncode == 0, text
        for role in ("jobs_producer", "jobs_worker", "jobs_operator"):
            assert (role in text) is (not createrole), text
    s = Session(db, user="o")
    s.enqueue("k", "a")
    assert s.complete(s.take()) == "deleted"
    assert s.value("select count(*) from pg_roles where rolname in ('jobs_producer', 'jobs_worker', 'jobs_operator')") == (
        3 if createrole else 0
    )
    s.run("select * from jobs.overview")
    s.close()
    assert subprocess.run([own_cluster.bin / "pg_dump", "-d", db.dsn], capture_output=True).returncode == 0
