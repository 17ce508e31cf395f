"""The core: one claim and one completion against the same writes by hand, batches, bulk, and a plan that stays.

Each measure is taken in alternate blocks with what it is compared to, so that a machine that is busy for a while
slows both. A figure is the median of the blocks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import psycopg

from tests.bench import server
from tests.tools.database import Cluster

Link = psycopg.Connection


@dataclass
class Figure:
    """One line of the table. `wanted` is the bound as text, `met` whether this run kept it (None: no bound)."""

    name: str
    value: float
    unit: str
    wanted: str = ""
    met: bool | None = None


def timed(work: Callable[[], object]) -> float:
    """Seconds that `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# -- the same writes by hand ------------------------------------------------------------------------------------

BY_HAND = """
create table by_hand (like jobs.job including defaults including identity including indexes including storage);
"""
HAND_CLAIM = """
update by_hand set state = 'running', claimed_by = gen_random_uuid(), claimed_at = clock_timestamp(),
    claimed_until = clock_timestamp() + interval '60 s', worker = %s, epoch = nextval('jobs.epoch')
where id = (select id from by_hand where state = 'pending' and kind = %s and priority = 0 and run_after <= clock_timestamp()
            order by kind, priority, run_after, id limit 1 for update skip locked)
returning *
"""
HAND_COMPLETE = "delete from by_hand where id = %s and claimed_by = %s and claimed_until > clock_timestamp()"
HAND_FILL = """
insert into by_hand (kind, key, run_after, created_at)
select 'bench', 'k' || n, clock_timestamp(), clock_timestamp() from generate_series(1, %s) as n
"""
FILL = "select jobs.enqueue_many('bench', array(select 'k' || n from generate_series(1, %s) as n))"
CLAIM = "select * from jobs.claim(%s, %s, null, %s)"
COMPLETE = "select jobs.complete(%s, %s)"
COMPLETE_MANY = "select * from jobs.complete_many(%s, %s)"


def drain_by_hand(link: Link, jobs: int) -> None:
    for _ in range(jobs):
        row = link.execute(HAND_CLAIM, ("w", "bench")).fetchone()
        assert row is not None
        link.execute(HAND_COMPLETE, (row[0], row[8]))


def drain_by_one(link: Link, jobs: int) -> None:
    for _ in range(jobs):
        row = link.execute(CLAIM, (["bench"], 1, "w")).fetchone()
        assert row is not None
        link.execute(COMPLETE, (row[0], row[8]))


def drain_by_batch(link: Link, jobs: int, batch: int = 100) -> None:
    left = jobs
    while left > 0:
        rows = link.execute(CLAIM, (["bench"], batch, "w")).fetchall()
        assert rows
        link.execute(COMPLETE_MANY, ([row[0] for row in rows], [row[8] for row in rows])).fetchall()
        left -= len(rows)


def bare(link: Link, rounds: int, jobs: int) -> list[Figure]:
    """Claim 1 + complete 1 over one connection against two prepared statements on a table like jobs.job."""
    link.execute(BY_HAND)
    by_hand, ours = [], []
    for _ in range(rounds):
        link.execute(HAND_FILL, (jobs,))
        link.execute(FILL, (jobs,))
        by_hand.append(timed(lambda: drain_by_hand(link, jobs)) / jobs)
        ours.append(timed(lambda: drain_by_one(link, jobs)) / jobs)
    ratio = median(ours) / median(by_hand)
    return [
        Figure("claim 1 + complete 1, by hand", median(by_hand) * 1e6, "µs/job"),
        Figure("claim 1 + complete 1, jobs.*", median(ours) * 1e6, "µs/job"),
        Figure("jobs.* ÷ by hand", ratio, "×", "≤ 2.5", ratio <= 2.5),
    ]


def batches(link: Link, rounds: int, jobs: int) -> list[Figure]:
    """Insert + claim + complete in batches of 100 against the same one by one, one connection."""
    one, many = [], []
    keys = [f"k{n}" for n in range(100)]

    def in_batches() -> None:
        for _ in range(jobs // 100):
            link.execute("select jobs.enqueue_many('bench', %s)", (keys,))
            drain_by_batch(link, 100)

    for _ in range(rounds):
        link.execute(FILL, (jobs // 10,))
        one.append(jobs / 10 / timed(lambda: drain_by_one(link, jobs // 10)))
        many.append(jobs / timed(in_batches))
    ratio = median(many) / median(one)
    return [
        Figure("batch 1: claim + complete", median(one), "jobs/s"),
        Figure("batches of 100: enqueue_many + claim + complete_many", median(many), "jobs/s"),
        Figure("batches of 100 ÷ batch 1", ratio, "×", "≥ 10", ratio >= 10),
    ]


def bulk(link: Link, rounds: int, jobs: int) -> list[Figure]:
    """One enqueue_many of 100,000 different keys against one bare INSERT of as many rows into a table like jobs.job."""
    keys = [f"k{n}" for n in range(jobs)]
    statement = "insert into by_hand (kind, key, run_after, created_at) select 'bench', k, now(), now() from unnest(%s::text[]) as k"
    by_hand, ours = [], []
    for _ in range(rounds):
        link.execute("truncate by_hand")
        link.execute("truncate jobs.job")
        by_hand.append(jobs / timed(lambda: link.execute(statement, (keys,))))
        ours.append(jobs / timed(lambda: link.execute("select jobs.enqueue_many('bench', %s)", (keys,))))
    link.execute("truncate by_hand")
    link.execute("truncate jobs.job")
    return [
        Figure("one bare INSERT of 100,000", median(by_hand), "jobs/s"),
        Figure("one enqueue_many of 100,000", median(ours), "jobs/s", "≥ 60,000", median(ours) >= 60000),
    ]


def pinned(link: Link, rounds: int, jobs: int) -> list[Figure]:
    """Claim + complete before and after an ANALYZE that sees an empty queue, with plans made anew."""
    before, after = [], []
    for _ in range(rounds):
        for figures, statistics in ((before, "full"), (after, "empty")):
            if statistics == "full":
                link.execute(FILL, (jobs,))
                link.execute("analyze jobs.job")
            else:
                link.execute("analyze jobs.job")
                link.execute(FILL, (jobs,))
            link.execute("discard plans")
            figures.append(timed(lambda: drain_by_one(link, jobs)) / jobs)
            link.execute("vacuum jobs.job")
    ratio = median(after) / median(before)
    return [
        Figure("claim + complete, analyzed full", median(before) * 1e6, "µs/job"),
        Figure("claim + complete, analyzed empty", median(after) * 1e6, "µs/job"),
        Figure("analyzed empty ÷ full", ratio, "×", "≤ 1.2", ratio <= 1.2),
    ]


def measure(cluster: Cluster, quick: bool) -> list[Figure]:
    """All figures of the core on one server."""
    link = server.connect(server.fresh(cluster, "core"))
    try:
        size = 1 if quick else 4
        return [
            *bare(link, 3 + 2 * size, 500 * size),
            *batches(link, 3 + size, 5000 * size),
            *bulk(link, 3, 100_000),
            *pinned(link, 3, 500 * size),
        ]
    finally:
        link.close()
