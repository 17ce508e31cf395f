"""Installing: at once by many, again, beside live clients, by an owner who is no superuser; and taking it away."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator

import pytest
from psycopg import sql

from tests.sql.play import Session, refused, run_all
from tests.tools.database import INSTALL, Database

UNINSTALL = INSTALL.with_name("uninstall.sql")


def dump(db: Database, *options: str) -> str:
    """pg_dump's text without the random words that newer versions put around it."""
    done = subprocess.run([db.cluster.bin / "pg_dump", *options, "-d", db.dsn], capture_output=True, text=True, check=True)
    return re.sub(r"^\\(un)?restrict .*\n", "", done.stdout, flags=re.M)


def psql(db: Database, script, user: str | None = None, options: str = "") -> subprocess.Popen:
    dsn = db.dsn if user is None else db.cluster.dsn(db.name, user=user)
    return subprocess.Popen(
        [db.cluster.bin / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(script), "-d", dsn],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PGOPTIONS": options},
    )


def python(db: Database) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "pgclaim", "install", "--dsn", db.dsn],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(processes: list[subprocess.Popen]) -> None:
    answers = [(process.communicate()[0], process.returncode) for process in processes]
    assert [code for _, code in answers] == [0] * len(answers), [text for text, code in answers if code]


def test_twenty_installs_at_once(db, empty_db):
    """A20, C32: sixteen psql and four Python processes at once, twice: all succeed, one version row, what one install makes."""
    for _ in range(2):
        finish([psql(empty_db, INSTALL) if n % 5 else python(empty_db) for n in range(20)])
        assert empty_db.query("select version from jobs.migration order by 1") == db.query("select version from jobs.migration order by 1")
        assert empty_db.query("select count(*) from jobs.secret") == [(1,)]
        assert dump(empty_db, "--schema-only") == dump(db, "--schema-only")


def test_installing_twice_changes_nothing(db):
    """A19: jobs in every state, then install again by psql and by Python: pg_dump, data and all, is the same."""
    with Session(db).connection as s:
        s.execute("select jobs.define('kept', keep_done => '1 day')")
        s.execute("select jobs.enqueue_many('kept', array['a', 'b', 'c', 'd', 'e'])")
        s.execute("select jobs.complete(id, claimed_by) from jobs.claim()")
        s.execute("select jobs.fail(id, claimed_by, 'e', final => true) from jobs.claim()")
        s.execute("select jobs.cancel(id) from jobs.claim()")
        s.execute("select jobs.claim()")
        s.execute("select jobs.enqueue('kept', 'd')")
    before = dump(db)
    assert "COPY jobs.job" in before
    db.install()
    assert dump(db) == before
    finish([python(db)])
    assert dump(db) == before


def test_an_upgrade_beside_live_clients(db, session):
    """
    A19
    worker                          handler                     installer
    claim; one job in each state
    begin; fence                    begin; claim_tx
                                                                install.sql with lock_timeout 5 s: passes
    commit; complete: the old       complete; commit
    tokens still settle
    """
    worker, handler, producer = session(), session(), session()
    producer.one("enqueue_many", kind="k", keys=["a", "b", "c", "d"])
    jobs = worker.claim(batch=3)
    worker.fail(jobs[2], final=True)
    producer.begin()
    producer.enqueue("k", "e")
    worker.begin()
    worker.fence(jobs[0])
    handler.begin()
    (held,) = handler.call("claim_tx")
    handler.fence(held)
    finish([psql(db, INSTALL, options="-c lock_timeout=5s")])
    producer.commit()
    worker.commit()
    assert worker.complete_many(jobs[:2]) == [(jobs[0].id, True), (jobs[1].id, True)]
    assert handler.complete(held) == "deleted"
    handler.commit()
    assert [job.key for job in run_all(db, worker)] == ["e"]
    assert [row.state for row in worker.jobs("k")] == ["failed"]


def test_an_installer_that_cannot_get_its_locks_gives_up_as_told(db, session):
    """
    A19
    other                                   installer
    begin; lock the schema's tables
                                            install.sql with lock_timeout 100 ms: passes or says so, changes nothing
    rollback
                                            install.sql: passes
    """
    other = session()
    before = dump(db)
    other.begin()
    other.run("lock table jobs.job, jobs.migration, jobs.overview in access exclusive mode")
    process = psql(db, INSTALL, options="-c lock_timeout=100ms")
    text = process.communicate()[0]
    assert process.returncode == 3
    assert "lock timeout" in text
    other.rollback()
    assert dump(db) == before
    db.install()
    assert dump(db) == before


@pytest.mark.parametrize("how", ["psql", "python"])
def test_uninstalling_leaves_nothing(db, empty_db, how):
    """An empty database, install, work, uninstall: pg_dump as before; twice is as good as once; then install again."""
    before = dump(empty_db)
    for _ in range(2):
        empty_db.install()
        s = Session(empty_db)
        s.enqueue("k", "a")
        s.enqueue("k", "b")
        s.complete(s.take())
        s.close()
        for _ in range(2):
            if how == "psql":
                finish([psql(empty_db, UNINSTALL)])
            else:
                done = subprocess.run(
                    [sys.executable, "-m", "pgclaim", "uninstall", "--yes", "--dsn", empty_db.dsn], capture_output=True, text=True
                )
                assert done.returncode == 0, done.stderr
            assert dump(empty_db) == before
            assert empty_db.query("select to_regnamespace('jobs')") == [(None,)]
    assert db.query("select jobs.version()") != []


def test_an_install_that_fails_half_way_leaves_nothing(empty_db):
    """A database with a foreign thing in the way: the install fails and is rolled back as a whole."""
    empty_db.query("create schema jobs")
    empty_db.query("create table jobs.overview (n int)")
    before = dump(empty_db)
    process = psql(empty_db, INSTALL)
    process.communicate()
    assert process.returncode == 3
    assert dump(empty_db) == before


@pytest.fixture
def owner(cluster) -> Iterator[str]:
    """A role that may log in and nothing else."""
    name = f"o{os.getpid()}_{uuid.uuid4().hex[:8]}"
    cluster.admin(sql.SQL("create role {} login").format(sql.Identifier(name)))
    yield name
    cluster.admin(sql.SQL("drop role {}").format(sql.Identifier(name)))


def test_an_owner_who_is_no_superuser_installs_and_works(db, cluster, owner):
    """A database of its own: the owner installs, twice, works in every seat, a worker role works, and uninstalls."""
    base = cluster.create(schema=False)
    try:
        cluster.admin(sql.SQL("alter database {} owner to {}").format(sql.Identifier(base.name), sql.Identifier(owner)))
        finish([psql(base, INSTALL, user=owner)])
        finish([psql(base, INSTALL, user=owner)])
        assert base.query("select distinct p.proowner::regrole::text from pg_proc as p where p.pronamespace = 'jobs'::regnamespace") == [
            (owner,)
        ]
        s, worker = Session(base, user=owner), Session(base)
        s.enqueue("k", "a")
        assert s.complete(s.take()) == "deleted"
        assert s.run("select * from jobs.overview") == []
        worker.run("set role jobs_worker")
        worker.enqueue("k", "a")
        assert worker.complete(worker.take()) == "deleted"
        with refused("42501"):
            worker.run("select 1 from jobs.job")
        finish([psql(base, UNINSTALL, user=owner)])
        assert base.query("select to_regnamespace('jobs')") == [(None,)]
        s.close()
        worker.close()
    finally:
        base.drop()
