"""The six checks of a run's end. Each is one statement that answers (holds, what was found); it needs no parameter."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from textwrap import dedent
from typing import Any

import psycopg

from .standin import StandIn


@dataclass(frozen=True)
class Check:
    name: str
    promise: str
    sql: str


@dataclass(frozen=True)
class Result:
    check: Check
    holds: bool
    found: str

    def __str__(self) -> str:
        sql = "".join(f"    {line}\n" for line in self.check.sql.splitlines())
        return f"{sql}{'ok  ' if self.holds else 'FAIL'}  {self.check.name}: {self.check.promise}\n      {self.found}"


CHECKS: list[Check] = []


def check(name: str, promise: str, sql: str) -> None:
    CHECKS.append(Check(name, promise, dedent(sql).strip()))


check(
    "sessions",
    "every session was provisioned once; every deleted one is gone from all tables and from the vector store",
    """
    with life as (
        select
            l.session_id, l.deleted, s.status, c.state, v.made,
            (select count(*) from step as p where p.key = l.session_id::text and p.what = 'provisioned') as provisioned,
            (select count(*) from step as p where p.key = l.session_id::text and p.what = 'deleted') as ended,
            (select count(*) from episode as e where e.session_id = l.session_id)
            + (select count(*) from segment as g where g.session_id = l.session_id)
            + (select count(*) from run.vector as x where x.collection = 'session-' || l.session_id) as rows
        from session_log as l
        left join session as s on s.id = l.session_id
        left join collection as c on c.session_id = l.session_id
        left join run.collection as v on v.name = 'session-' || l.session_id
    ), judged as (
        select
            l.*,
            case
                when l.deleted then
                    l.status is null and l.state is null and l.rows = 0 and l.provisioned <= 1 and l.ended = 1
                    and not coalesce(l.made, false)
                else
                    coalesce(l.status = 'ready' and l.state = 'active' and l.provisioned = 1 and l.ended = 0 and l.made, false)
            end as good
        from life as l
    )
    select
        count(*) > 0 and bool_and(good),
        format('%s sessions: %s live, %s deleted (%s before they were provisioned); wrong: %s',
               count(*), count(*) filter (where not deleted), count(*) filter (where deleted),
               count(*) filter (where deleted and provisioned = 0),
               coalesce(string_agg(format('%s (%s, provisioned %s times, ended %s times, %s rows left)', session_id,
                                          coalesce(status, 'gone'), provisioned, ended, rows), ', ') filter (where not good), 'none'))
    from judged
    """,
)
check(
    "ingestion",
    "every episode is reflected in each of its sets exactly once, no set was in two replicas at one time, the model was not asked in vain",
    """
    with reflected as (
        select
            m.set_id, m.ingested_at is null as waiting, length(e.text) > n.longest as long, m.skipped is not null as skipped,
            count(f.id) as times, count(*) filter (where f.digest <> md5(e.text)) as wrong
        from semantic_message as m
        join episode as e on e.id = m.episode_id
        cross join run.note as n
        left join feature as f on f.set_id = m.set_id and f.episode_id = m.episode_id
        group by m.set_id, m.episode_id, e.text, n.longest
    ), messages as (
        select
            count(*) as n, count(distinct set_id) as sets, count(*) filter (where waiting) as waiting,
            count(*) filter (where not waiting and times < case when long then 0 else 1 end) as missing,
            count(*) filter (where times > case when long then 0 else 1 end) as doubled,
            count(*) filter (where not waiting and skipped <> long) + coalesce(sum(wrong), 0) as wrong
        from reflected
    ), expected as (
        select 3 * count(*) as n from published as p join session_log as l on l.session_id = p.session_id where not l.deleted
    ), stray as (
        select count(*) as n from feature as f
        where not exists (select from semantic_message as m where m.set_id = f.set_id and m.episode_id = f.episode_id)
           or not exists (select from fenced_write as w where w.set_id = f.set_id and w.token = f.token)
    ), spans as (
        select
            token, messages, claimed_at, written_at, epoch,
            lag(written_at) over sets as before, lag(epoch) over sets as epoch_before
        from fenced_write
        window sets as (partition by set_id order by written_at, epoch)
    ), writes as (
        select
            count(*) as n, coalesce(sum(messages), 0) as messages, count(*) - count(distinct token) as twice,
            count(*) filter (where claimed_at < before or epoch <= epoch_before or written_at < claimed_at) as overlaps
        from spans
    ), calls as (
        select n.model_calls as n, w.messages + 5 * ((select count(*) from attempt) - w.n) as most from run.note as n, writes as w
    )
    select
        m.n > 0 and m.n = e.n and m.waiting + m.missing + m.doubled + m.wrong + s.n = 0 and w.twice + w.overlaps = 0
        and c.n between w.messages and c.most,
        format('%s messages (%s expected) of %s sets: %s waiting, %s missing, %s doubled, %s wrong, %s stray features;'
               ' %s fenced writes, %s overlap, %s claims wrote twice; %s calls of the model, between %s and %s allowed',
               m.n, e.n, m.sets, m.waiting, m.missing, m.doubled, m.wrong, s.n, w.n, w.overlaps, w.twice, c.n, w.messages, c.most)
    from messages as m, expected as e, stray as s, writes as w, calls as c
    """,
)
check(
    "purge",
    "purged batch by batch, each full one in its own transaction, no row left and none purged twice; no transaction outlived a remote call",
    """
    with batch as (
        select
            b.session_id, b.rows, b.most, b.xid,
            row_number() over (partition by b.session_id order by b.id desc) as from_last
        from purge_batch as b
    ), gone as (
        select
            l.session_id,
            (select count(*) from segment as g where g.session_id = l.session_id) as left_over,
            (select count(*) from applied as a where a.session_id = l.session_id and a.kind = 'replay.segment' and a.written) as had,
            (select coalesce(sum(b.rows), 0) from batch as b where b.session_id = l.session_id) as purged
        from session_log as l where l.deleted
    ), found as (
        select
            (select count(*) from batch) as batches,
            (select count(*) from batch) - (select count(distinct xid) from batch) as shared,
            (select count(*) from batch where rows < most and from_last > 1) as torn,
            (select coalesce(sum(purged), 0) from gone) as purged,
            (select coalesce(sum(left_over), 0) from gone) as left_over,
            (select count(*) from gone where purged + left_over <> had) as unequal,
            (select count(*) from purge_batch as b where not exists (select from gone as g where g.session_id = b.session_id)) as stray,
            (select count(*) from run.dropping) as drops,
            (select coalesce(sum(still_open), 0) from run.dropping) as held
    )
    select
        batches > 0 and drops > 0 and shared + torn + left_over + unequal + stray + held = 0,
        format('%s rows purged in %s batches, %s left; %s batches torn, %s in a shared transaction, %s of no deleted session,'
               ' %s sessions whose rows do not add up; %s remote drops, outlived by %s transactions',
               purged, batches, left_over, torn, shared, stray, unequal, drops, held)
    from found
    """,
)
check(
    "replay",
    "each subsystem has seen every published episode of every session once and in order, and its watermark stands at the head",
    """
    with head as (
        select s.kind, p.session_id, count(*) as episodes, max(p.seq) as seq
        from jobs.subscription as s cross join published as p group by s.kind, p.session_id
    ), seen as (
        select a.*, lag(a.seq) over (partition by a.kind, a.session_id order by a.id) as before from applied as a
    ), per_key as (
        select
            h.kind, h.session_id, h.episodes, w.seq = h.seq as at_head, l.deleted, count(s.seq) as seen, count(distinct p.seq) as known,
            count(*) filter (where s.seq <= s.before) as back, count(*) filter (where not s.written) as passed_over
        from head as h
        join session_log as l on l.session_id = h.session_id
        left join jobs.watermark as w on w.kind = h.kind and w.key = h.session_id::text
        left join seen as s on s.kind = h.kind and s.session_id = h.session_id
        left join published as p on p.seq = s.seq and p.session_id = s.session_id
        group by h.kind, h.session_id, h.episodes, h.seq, w.seq, l.deleted
    ), stores as (
        select
            e.id, count(distinct g.id) as segments, count(distinct v.collection) as vectors,
            coalesce(bool_or(g.digest <> md5(e.text)), false)
            or coalesce(bool_or(v.digest <> md5(e.text) or v.collection <> 'session-' || e.session_id), false) as wrong
        from episode as e
        left join segment as g on g.episode_id = e.id
        left join run.vector as v on v.episode_id = e.id
        group by e.id
    ), found as (
        select
            count(*) as keys, coalesce(sum(episodes), 0) as episodes,
            count(*) filter (where at_head is not true) as behind,
            count(*) filter (where seen <> episodes or known <> episodes) as unequal,
            coalesce(sum(back), 0) as back,
            coalesce(sum(passed_over) filter (where not deleted), 0) as passed_over,
            (select count(*) from stores where segments <> 1 or vectors <> 1 or wrong) as stores
        from per_key
    )
    select
        keys > 0 and behind + unequal + back + passed_over + stores = 0,
        format('%s watermarks, %s not at the head; %s episodes to see, %s keys saw too many or too few, %s steps back, %s passed over,'
               ' %s episodes not once in long-term memory',
               keys, behind, episodes, unequal, back, passed_over, stores)
    from found
    """,
)
check(
    "late",
    "results that came too late were refused, and nothing of them is in the tables",
    """
    with late as (
        select token, messages from refused_write
        union all
        select token, 0 from refused_step
    ), written as (
        select token from feature
        union all select token from fenced_write
        union all select token from segment
        union all select token from applied
        union all select token from step
        union all select token from purge_batch
    )
    select
        count(*) > 0 and count(*) filter (where there) = 0,
        format('%s late results refused, of %s messages among others; %s of them in the tables',
               count(*), coalesce(sum(messages), 0), count(*) filter (where there))
    from (select l.*, exists (select from written as w where w.token = l.token) as there from late as l) as judged
    """,
)
check(
    "jobs",
    "no job is left but cancelled provisions, none failed; what a killed replica held was taken up after its lease and not much later",
    """
    with recovered as (
        select o.token, n.claimed_at >= o.claimed_until and n.claimed_at <= k.killed_at + r.lease + r.allowance as in_time,
               n.claimed_at - k.killed_at as after
        from run.orphan as o
        join run.killed as k on k.worker = o.worker
        cross join run.note as r
        left join lateral (
            select a.claimed_at from attempt as a where a.set_id = o.set_id and a.epoch > o.epoch order by a.epoch limit 1
        ) as n on true
    ), found as (
        select
            (select count(*) from jobs.job where state in ('pending', 'running')) as live,
            (select count(*) from jobs.trigger) as triggers,
            (select count(*) from jobs.job where state = 'failed') as failed,
            (select count(*) from jobs.job where state = 'cancelled') as cancelled,
            (select count(*) from jobs.job where state in ('cancelled', 'done') and kind <> 'session.provision') as others,
            (select count(*) from run.killed) as killed,
            (select count(*) from recovered) as orphans,
            (select count(*) from recovered where in_time is not true) as wrong,
            (select max(after) from recovered) as longest
    )
    select
        live + triggers + failed + others + wrong = 0 and killed > 0 and orphans > 0,
        format('%s live jobs, %s stored triggers, %s failed, %s cancelled provisions, %s others; %s replicas killed, %s claims orphaned,'
               ' %s not taken up in time, the last after %s',
               live, triggers, failed, cancelled, others, killed, orphans, wrong, date_trunc('second', longest))
    from found
    """,
)


def prepare(conn: psycopg.Connection[Any], *, lease: float, allowance: float, longest: int) -> None:
    """Where a run makes its notes."""
    with conn.transaction():
        conn.execute(files(__package__).joinpath("run.sql").read_bytes())
        conn.execute(
            "insert into run.note (lease, allowance, longest) values (make_interval(secs => %s), make_interval(secs => %s), %s)",
            [lease, allowance, longest],
        )


def note_remote(conn: psycopg.Connection[Any], remote: StandIn) -> None:
    """What the stand-in has seen, at the end."""
    with conn.transaction():
        conn.execute("update run.note set model_calls = %s", [remote.counts["calls"]])
        conn.execute("truncate run.collection, run.vector")
        for name, collection in remote.collections.items():
            conn.execute("insert into run.collection (name, made) values (%s, %s)", [name, collection.made])
            for episode, digest in collection.vectors.items():
                conn.execute("insert into run.vector (collection, episode_id, digest) values (%s, %s, %s)", [name, episode, digest])


def examine(conn: psycopg.Connection[Any]) -> list[Result]:
    """All six; one that has no answer does not hold."""
    results = []
    for each in CHECKS:
        row = conn.execute(each.sql.encode()).fetchone()
        results.append(Result(each, row is not None and row[0] is True, str(row[1]) if row else "no answer"))
    return results
