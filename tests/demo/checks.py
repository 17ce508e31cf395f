"""What must hold at the end. Each check is one statement that answers (holds, detail); it needs no parameter."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent
from typing import Any

import psycopg


@dataclass(frozen=True)
class Check:
    name: str
    promise: str
    sql: str


@dataclass(frozen=True)
class Result:
    check: Check
    holds: bool
    detail: str


CHECKS: list[Check] = []


def check(name: str, promise: str, sql: str) -> None:
    CHECKS.append(Check(name, promise, dedent(sql).strip()))


check(
    "ingested",
    "every set was ingested to its last message",
    """
    select e.n = r.episodes and m.n = 3 * r.episodes and m.waiting = 0,
           format('%s sets, %s messages of %s episodes; %s still waiting', m.sets, m.n, e.n, m.waiting)
    from demo.run as r,
         (select count(*) as n from episode) as e,
         (select count(*) as n, count(distinct set_id) as sets, count(*) filter (where ingested_at is null) as waiting
          from semantic_message) as m
    """,
)
check(
    "once",
    "each episode is reflected in each of its sets exactly once, by what the model made of its text; one too long for it never",
    """
    with reflected as (
        select length(e.text) > r.longest as long,
               m.skipped is not null as skipped,
               count(f.id) as times,
               count(*) filter (where f.digest <> md5(e.text)) as wrong
        from semantic_message as m
        join episode as e on e.id = m.episode_id
        cross join demo.run as r
        left join feature as f on f.set_id = m.set_id and f.episode_id = m.episode_id
        group by m.set_id, m.episode_id, m.skipped, e.text, r.longest
    ), stray as (
        select f.id from feature as f
        where not exists (select from semantic_message as m where m.set_id = f.set_id and m.episode_id = f.episode_id)
    )
    select count(*) > 0 and bool_and(times = case when long then 0 else 1 end and skipped = long and wrong = 0)
               and (select count(*) from stray) = 0,
           format('%s once, %s too long and skipped; %s missing, %s too often, %s wrong, %s of no message',
                  count(*) filter (where times = 1 and not long), count(*) filter (where long and skipped),
                  count(*) filter (where times = 0 and not long),
                  count(*) filter (where times > case when long then 0 else 1 end),
                  coalesce(sum(wrong), 0), (select count(*) from stray))
    from reflected
    """,
)
check(
    "fenced",
    "every feature was written in a fenced transaction, and every mark is accounted for",
    """
    select l.messages = m.ingested and l.twice = 0 and f.unfenced = 0,
           format('%s fenced transactions wrote %s messages, %s are marked; %s features outside of them, %s claims wrote twice',
                  l.n, l.messages, m.ingested, f.unfenced, l.twice)
    from (select count(*) as n, coalesce(sum(messages), 0) as messages, count(*) - count(distinct token) as twice
          from fenced_write) as l,
         (select count(*) as ingested from semantic_message where ingested_at is not null) as m,
         (select count(*) as unfenced from feature as f
          where not exists (select from fenced_write as w where w.token = f.token and w.set_id = f.set_id)) as f
    """,
)
check(
    "alone",
    "no set was in two replicas at one time: each claim that wrote began after the write before it, by the database's clock",
    """
    with spans as (
        select claimed_at, written_at, epoch,
               lag(written_at) over sets as before,
               lag(epoch) over sets as epoch_before
        from fenced_write
        window sets as (partition by set_id order by written_at, epoch)
    )
    select count(*) > 0 and count(*) filter (where claimed_at < before or epoch <= epoch_before or written_at < claimed_at) = 0,
           format('%s fenced writes; %s overlap with the one before',
                  count(*), count(*) filter (where claimed_at < before or epoch <= epoch_before or written_at < claimed_at))
    from spans
    """,
)
check(
    "late",
    "results that came too late were refused, and nothing of them was written",
    """
    select count(*) > 0 and count(*) filter (where written) = 0,
           format('%s late results refused, with %s messages; %s of them in the tables',
                  count(*), coalesce(sum(messages), 0), count(*) filter (where written))
    from (select r.messages,
                 exists (select from fenced_write as w where w.token = r.token)
                 or exists (select from feature as f where f.token = r.token) as written
          from refused_write as r) as late
    """,
)
check(
    "failed",
    "no job ended in failed",
    """
    select count(*) = 0, format('%s failed jobs%s', count(*), ': ' || min(last_error)) from jobs.failed
    """,
)
check(
    "empty",
    "no job and no stored trigger is left",
    """
    select j.n = 0 and t.n = 0, format('%s jobs, %s stored triggers', j.n, t.n)
    from (select count(*) as n from jobs.job) as j, (select count(*) as n from jobs.trigger) as t
    """,
)
check(
    "recovery",
    "what the killed replica held was taken by another, not before its lease had ended and soon after",
    """
    select count(*) > 0 and coalesce(bool_and(next.worker <> o.worker and next.claimed_at >= o.claimed_until
                                              and next.claimed_at <= k.killed_at + r.lease + r.allowance), false)
               and count(*) filter (where next.claimed_at is null) = 0,
           format('%s claims orphaned, %s taken again; %s to %s s after the kill (lease %s s, allowed %s s more)',
                  count(*), count(next.claimed_at),
                  coalesce(round(extract(epoch from min(next.claimed_at - k.killed_at)), 1)::text, '?'),
                  coalesce(round(extract(epoch from max(next.claimed_at - k.killed_at)), 1)::text, '?'),
                  round(extract(epoch from max(r.lease)), 1), round(extract(epoch from max(r.allowance)), 1))
    from demo.orphan as o
    join demo.killed as k on k.worker = o.worker
    cross join demo.run as r
    left join lateral (
        select a.claimed_at, a.worker from attempt as a
        where a.set_id = o.set_id and a.epoch > o.epoch
        order by a.epoch limit 1
    ) as next on true
    """,
)
check(
    "calls",
    "the model was asked once per message, and again only for rounds that failed, crashed or came too late",
    """
    select r.llm_calls between w.messages and w.messages + 5 * (a.n - w.n),
           format('%s calls for %s messages; %s of %s rounds did not end in a write', r.llm_calls, w.messages, a.n - w.n, a.n)
    from demo.run as r,
         (select count(*) as n, coalesce(sum(messages), 0) as messages from fenced_write) as w,
         (select count(*) as n from attempt) as a
    """,
)


def examine(conn: psycopg.Connection[Any]) -> list[Result]:
    """All checks; one that has no answer does not hold."""
    results = []
    for each in CHECKS:
        row = conn.execute(each.sql.encode()).fetchone()
        results.append(
            Result(
                each,
                row is not None and row[0] is True,
                str(row[1]) if row else "no answer",
            )
        )
    return results
