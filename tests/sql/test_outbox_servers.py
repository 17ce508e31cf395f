"""The outbox across a crash, and in another cluster."""

from __future__ import annotations

import subprocess

from tests.sql.play import Session, refused
from tests.sql.test_install import dump
from tests.sql.test_outbox import KIND, STREAM, advance, mark, publish, read


def test_a_crash_with_an_open_advance_an_open_producer_and_a_prepared_one(own_cluster):
    """
    Committed: two rows, an advance over the first. Prepared: a producer of the key. Open: an advance over the second row, and a producer.
    pg_ctl stop -m immediate, start. The mark stands at the first row; a new row has a higher number than any before and waits for the
    prepared transaction, as it did before; then all come in order. The claim is the same.
    """
    db = own_cluster.create()
    worker, prepared, opened = (Session(db) for _ in range(3))
    worker.one("subscribe", stream=STREAM, kind=KIND)
    worker.claim()
    rows = [publish(worker, "a") for _ in range(2)]
    job = worker.take(KIND, lease="1 day")
    assert read(worker, job) == rows
    assert advance(worker, job, rows[0]) is True
    prepared.begin()
    second = publish(prepared, "a")
    prepared.run("prepare transaction 'outbox'")
    opened.begin()
    lost = publish(opened, "a")
    worker.begin()
    advance(worker, job, rows[1])
    own_cluster.stop_immediately()
    for s in (worker, prepared, opened):
        s.close()
    own_cluster.start()

    s = Session(db)
    assert mark(s, "a") == [(rows[0],)]
    new = publish(s, "a")
    assert new > lost > second
    assert read(s, job) == [rows[1]]
    s.run("commit prepared 'outbox'")
    assert read(s, job) == [rows[1], second, new]
    assert advance(s, job, new) is False
    assert s.complete(job) == "pending", "the new row has triggered it"
    job = s.take(KIND)
    assert read(s, job) == []
    assert s.complete(job) == "deleted"
    s.close()


def test_a_dump_restored_in_another_cluster_neither_loses_nor_repeats_rows(clusters):
    """
    C30: two kinds, one row behind the other; a dump of the first server is restored into the second, whose transaction ids start elsewhere,
    the sequence is set back as by a replica. Each kind gets what it had not handled, and new rows after that, each once.
    """
    source = clusters("debian").create()
    target = clusters("embedded").create(schema=False)
    try:
        old = Session(source)
        for kind in (KIND, "vectors"):
            old.one("subscribe", stream=STREAM, kind=kind)
        old.claim()
        rows = [publish(old, key) for key in "aabab"]
        job = old.take(KIND, lease="1 day")
        assert job.key == "a"
        assert advance(old, job, rows[1]) is True
        old.run("select pg_current_xact_id() from generate_series(1, 1000)")
        old.close()
        clusters("embedded").template()
        restored = subprocess.run(
            [clusters("embedded").bin / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", target.dsn],
            input=dump(source),
            capture_output=True,
            text=True,
        )
        assert restored.returncode == 0, restored.stderr
        target.query("select setval('jobs.outbox_seq', 1, false)")
        new = Session(target)
        assert read(new, job) == [rows[3]]
        more = {key: publish(new, key) for key in "abc"}
        assert min(more.values()) > rows[-1]
        target.advance(86400)
        expected = {
            KIND: {"a": [rows[3], more["a"]], "b": [rows[2], rows[4], more["b"]], "c": [more["c"]]},
            "vectors": {"a": [rows[0], rows[1], rows[3], more["a"]], "b": [rows[2], rows[4], more["b"]], "c": [more["c"]]},
        }
        got: dict[str, dict[str, list[int]]] = {KIND: {}, "vectors": {}}
        for one in new.claim(KIND, "vectors", batch=10):
            got[one.kind][one.key] = read(new, one)
            assert advance(new, one, got[one.kind][one.key][-1]) is False
            assert new.complete(one) == "deleted"
        assert got == expected
        assert new.run("select 1 from jobs.outbox union all select 1 from jobs.lag") == []
        with refused("JB001"):
            advance(new, job, rows[3])
        new.close()
    finally:
        target.drop()
        source.drop()
