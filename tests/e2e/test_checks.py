"""Each of the six checks holds on the play, and does not when a part of the schema is taken out of that run's database."""

from __future__ import annotations

import pytest

from tests.service import checks, log, purge, vectors
from tests.service.checks import CHECKS
from tests.service.registry import registry
from tests.service.sessions import PURGE_COLLECTION
from tests.service.stage import staged

from .scenario import Play

NAMES = [check.name for check in CHECKS]

# What is taken out: a function and the body it gets instead; and the checks that must see it.
MUTATIONS = {
    "the fence checks nothing": ("fence", "begin end", {"sessions"}),
    "a claim never ends": ("verdict", "begin return null; end", {"ingestion", "late"}),
    "stored triggers are dropped": (
        "take_triggers",
        """
        begin
            delete from jobs.trigger as t where t.kind = take_triggers.kind and t.key = take_triggers.key;
            taken := 0;
            run_after := base;
        end
        """,
        {"ingestion"},
    ),
    "rows are delivered by seq alone": ("horizon", "begin return jobs.last_seq(); end", {"replay"}),
    "expired leases are not ended": ("reap", "begin return 0; end", {"jobs"}),
    "what was given back is forgotten": ("release", "begin perform jobs.complete(release.id, release.token); end", {"purge"}),
}


def mutate(stage, name, body):
    """Replace the body of the one function of this name."""
    (statement,) = stage.rows(
        "select format('create or replace function jobs.%%I(%%s) returns %%s language plpgsql"
        " set search_path = pg_catalog, pg_temp as %%L', proname, pg_get_function_arguments(oid), pg_get_function_result(oid), %s::text)"
        " from pg_proc where pronamespace = 'jobs'::regnamespace and proname = %s",
        body,
        name,
    )
    stage.conn.execute(statement[0])


def test_all_hold(db, monkeypatch):
    with staged(db, monkeypatch) as stage:
        results = Play(stage).run()
        print(*results, sep="\n\n")
        assert [str(result) for result in results if not result.holds] == []
        assert [result.check.name for result in results] == NAMES


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_mutation_is_seen(db, monkeypatch, mutation):
    name, body, seen_by = MUTATIONS[mutation]
    with staged(db, monkeypatch) as stage:
        mutate(stage, name, body)
        broken = {result.check.name: str(result) for result in Play(stage).run() if not result.holds}
    assert seen_by <= broken.keys(), broken


def test_a_transaction_that_is_open_while_the_remote_end_is_called_is_seen(db, monkeypatch):
    def careless(job):
        with job.transaction() as conn:
            vectors.drop(str(job.key), worker=job.worker, epoch=job.epoch)
            row = conn.execute("delete from collection where name = %s returning session_id", [job.key]).fetchone()
            if row is not None:
                purge.client.enqueue(conn, purge.DELETE, str(row[0]), on_conflict="earliest")
                log.step(conn, job, "dropped")
            job.complete(conn=conn)

    kept = registry.handlers[PURGE_COLLECTION]
    monkeypatch.setitem(registry.handlers, PURGE_COLLECTION, type(kept)(careless, kept.timeout, kept.is_async))
    with staged(db, monkeypatch) as stage:
        broken = [result.check.name for result in Play(stage).run() if not result.holds]
    assert broken == ["purge"]


def test_every_check_is_seen_to_fail():
    assert set().union(*(seen_by for _, _, seen_by in MUTATIONS.values())) == set(NAMES)


def test_nothing_holds_where_nothing_ran(db, monkeypatch):
    with staged(db, monkeypatch) as stage:
        checks.prepare(stage.conn, lease=1, allowance=1, longest=1)
        assert [result.check.name for result in checks.examine(stage.conn) if result.holds] == []
