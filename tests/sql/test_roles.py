"""Each seat with its own rights: by SET ROLE and by logging in as a member."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from tests.sql.play import refused

PRODUCER = {"enqueue", "enqueue_many", "publish", "publish_many", "version"}
WORKER = PRODUCER | {"claim", "claim_key", "claim_tx", "complete", "complete_many", "fail", "release", "extend", "extend_many"}
WORKER |= {"fence", "holds", "next_due", "read", "advance"}
OPERATOR = WORKER | {"define", "pause", "resume", "cancel", "cancel_key", "retry", "maintain", "subscribe"}
SEATS = {None: set(), "jobs_producer": PRODUCER, "jobs_worker": WORKER, "jobs_operator": OPERATOR}
FUNCTIONS = """
select p.proname, p.prokind, array(select format_type(t, null) from unnest(p.proargtypes) as t)
from pg_proc as p where p.pronamespace = 'jobs'::regnamespace order by 1
"""
RELATIONS = "select relname, relkind from pg_class where relnamespace = 'jobs'::regnamespace and relkind in ('r', 'v', 'S', 'm')"


@pytest.fixture
def seats(cluster, db) -> Iterator[dict[str | None, str]]:
    """A login role for each seat: the bare one is a member of nothing."""
    names = {seat: f"t{os.getpid()}_{uuid.uuid4().hex[:8]}" for seat in SEATS}
    for seat, name in names.items():
        cluster.admin(sql.SQL("create role {} login").format(sql.Identifier(name)))
        if seat:
            cluster.admin(sql.SQL("grant {} to {}").format(sql.Identifier(seat), sql.Identifier(name)))
    yield names
    db.close()
    for name in names.values():
        with db.connect() as owner:
            owner.execute(sql.SQL("drop owned by {}").format(sql.Identifier(name)))
        cluster.admin(sql.SQL("drop role {}").format(sql.Identifier(name)))


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("how", ["set role", "login"])
def test_a_seat_may_call_its_functions_and_nothing_else(db, session, seats, seat, how):
    """A21: every function of the schema is called, every table, view and sequence read and written: 42501 where it is not granted."""
    owner = session()
    s = session(user=seats[seat]) if how == "login" else session()
    if how == "set role":
        s.run(f"set role {seats[seat]}")
    assert s.value("select current_user") == seats[seat]
    allowed = set()
    for name, _, types in owner.run(FUNCTIONS):
        call = f"select jobs.{name}({', '.join(f'null::{t}' for t in types)})"
        try:
            s.begin()
            s.run(call)
        except Exception as error:
            if error.sqlstate == "42501":
                continue
            assert error.sqlstate in ("22023", "JB001"), f"{call}: {error}"
        finally:
            s.rollback()
        allowed.add(name)
    if seat == "jobs_operator":
        allowed.discard("clock")  # the views read it, and a view calls functions with the rights of its reader
    assert allowed == SEATS[seat]
    readable = set()
    for name, kind in owner.run(RELATIONS):
        try:
            s.run(f"select * from jobs.{name} limit 1")
            readable.add(name)
        except Exception as error:
            assert error.sqlstate == "42501", error
        if kind != "S":
            for write in (f"delete from jobs.{name}", f"insert into jobs.{name} default values", f"lock table jobs.{name}"):
                s.begin()
                with pytest.raises(psycopg.Error) as caught:
                    s.run(write)
                s.rollback()
                # a view that cannot be written at all says so, whoever asks
                assert caught.value.sqlstate in (("42501",) if kind == "r" else ("42501", "55000")), f"{write}: {caught.value}"
        else:
            with refused("42501"):
                s.run(f"select nextval('jobs.{name}')")
    assert readable == ({"overview", "running", "failed", "lag"} if seat == "jobs_operator" else set())
    with refused("42501"):
        s.run("create table jobs.mine (n int)")
    with refused("42501"):
        s.run("truncate jobs.job")


def test_a_job_passes_from_seat_to_seat(db, session, seats):
    """Producer enqueues, worker claims and fails it, operator sees and retries it, worker completes it: each with its own login."""
    producer = session(user=seats["jobs_producer"])
    worker = session(user=seats["jobs_worker"])
    operator = session(user=seats["jobs_operator"])
    assert producer.enqueue("k", "a", payload={"n": 1}).outcome == "inserted"
    job = worker.take(worker="w")
    assert (job.payload, job.worker) == ({"n": 1}, "w")
    assert producer.enqueue("k", "a").outcome == "retriggered"
    assert operator.value("select running from jobs.overview where kind = 'k'") == 1
    assert [r.worker for r in operator.run("select * from jobs.running")] == ["w"]
    assert worker.extend(job) is not None
    worker.begin()
    worker.fence(job)
    assert worker.complete(job) == "pending"
    worker.commit()
    assert worker.fail(worker.take(), "broken", final=True).state == "failed"
    (row,) = operator.run("select * from jobs.failed")
    assert operator.one("retry", id=row.id)[0] == "retried"
    worker.begin()
    (job,) = worker.call("claim_tx")
    assert worker.complete(job) == "deleted"
    worker.commit()
    producer.enqueue("k", "b")
    assert operator.one("cancel_key", kind="k", key="b")[0] == "cancelled"
    operator.call("pause", kind="k")
    operator.call("resume", kind="k")
    operator.call("maintain")


def test_temporary_objects_that_shadow_ours_change_nothing(db, session, seats):
    """A21: a session with temporary tables, functions and operators of our names, and a hostile search_path."""
    s = session(user=seats["jobs_operator"])
    other = session()
    for name in ("job", "kind", "trigger", "tick", "secret", "pg_class", "pg_proc"):
        s.run(f"create temp table {name} (id bigint, kind text, key text, state text, run_after timestamptz)")
    s.run("create function pg_temp.clock() returns timestamptz language sql as 'select timestamptz ''infinity'''")
    s.run(
        "create function pg_temp.verdict(bigint, uuid, text, uuid, timestamptz, timestamptz) returns text language sql as 'select null::text'"  # noqa: E501
    )
    s.run("create function pg_temp.gen_random_uuid() returns uuid language sql as 'select null::uuid'")
    s.run("create function pg_temp.eq(text, text) returns boolean language sql as 'select true'")
    s.run("create operator pg_temp.= (leftarg = text, rightarg = text, function = pg_temp.eq)")
    s.run("set search_path = pg_temp, jobs, pg_catalog")
    s.enqueue("k", "a")
    s.enqueue("k", "b")
    first = s.call("claim_key", kind="k", key="b")
    assert [job.key for job in first] == ["b"]
    job = s.take()
    assert job.key == "a"
    s.begin()
    s.fence(job)
    s.commit()
    assert s.complete(job) == "deleted"
    with refused("JB001"):
        s.complete(job)
    assert s.fail(first[0]).state == "pending"
    s.call("maintain")
    assert [row.key for row in other.jobs("k")] == ["b"]
    assert s.value("select count(*) from pg_temp.job") == 0


def test_a_session_cannot_move_the_clock_or_forge_a_lease(db, session, seats):
    """Settings of the session, and a forged note of transaction leases, give no right to anything."""
    worker, other = session(user=seats["jobs_worker"]), session()
    for key in ("a", "b"):
        other.enqueue("k", key)
    job = other.claim()[0]
    ids = [row.id for row in other.jobs("k")]
    worker.begin()
    worker.run("select set_config('jobs.held', %s, true)", "{" + ",".join(map(str, ids)) + "}")
    for id in ids:
        forged = job._replace(id=id, claimed_by=uuid.UUID(int=0))
        assert worker.holds(forged) is False
        worker.savepoint("s")
        with refused("JB001"):
            worker.complete(forged)
        worker.rollback_to("s")
    for nonsense in ("", "{}", "nonsense", "{1,2", "{99999999999999999999}"):
        worker.run("select set_config('jobs.held', %s, true)", nonsense)
        assert worker.holds(job._replace(claimed_by=uuid.UUID(int=0))) is False
        assert worker.call("claim_tx") is not None
    worker.rollback()
    assert other.complete(job) == "deleted"
