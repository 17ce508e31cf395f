"""The one list of SQL calls. `client` and `aio` send them; nothing else speaks to the schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

from .errors import clean
from .job import (
    COLUMNS,
    Enqueued,
    Extended,
    Failed,
    Interval,
    Job,
    OutboxRow,
    to_instant,
    to_interval,
    to_json,
)

T = TypeVar("T")
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Call(Generic[T]):
    """A statement, its parameters, and how its rows are read."""

    sql: str
    params: tuple[Any, ...]
    read: Callable[[Rows], T]


def _value(rows: Rows) -> Any:
    return rows[0][0]


def _nothing(rows: Rows) -> None:
    return None


def _jobs(rows: Rows) -> list[Job]:
    return [Job(*row) for row in rows]


def _list(values: Sequence[Any] | None) -> list[Any] | None:
    return None if values is None else list(values)


def enqueue(
    kind: str,
    key: str | None = None,
    payload: Any = None,
    run_after: datetime | None = None,
    delay: Interval | None = None,
    priority: int | None = None,
    max_attempts: int | None = None,
    on_conflict: str = "reset",
) -> Call[Enqueued]:
    """Insert a job, or meet the live one of its key. Never waits; joins the caller's transaction."""
    return Call(
        "select id, outcome from jobs.enqueue(kind => %s::text, key => %s::text, payload => %s::jsonb,"
        " run_after => %s::timestamptz, delay => %s::interval, priority => %s::int,"
        " max_attempts => %s::int, on_conflict => %s::text)",
        (
            kind,
            key,
            to_json("payload", payload),
            to_instant("run_after", run_after),
            to_interval("delay", delay),
            priority,
            max_attempts,
            on_conflict,
        ),
        lambda rows: Enqueued(*rows[0]),
    )


def enqueue_many(
    kind: str,
    keys: Sequence[str | None],
    payloads: Sequence[Any] | None = None,
    run_after: Sequence[datetime | None] | None = None,
    priority: int | None = None,
    on_conflict: str = "reset",
) -> Call[int]:
    """The same for many jobs of one kind in one statement; returns how many triggers were taken."""
    return Call(
        "select jobs.enqueue_many(kind => %s::text, keys => %s::text[], payloads => %s::text[]::jsonb[],"
        " run_after => %s::timestamptz[], priority => %s::int, on_conflict => %s::text)",
        (
            kind,
            _list(keys),
            None if payloads is None else [to_json("payloads", payload) for payload in payloads],
            None if run_after is None else [to_instant("run_after", instant) for instant in run_after],
            priority,
            on_conflict,
        ),
        _value,
    )


def publish(stream: str, key: str, payload: Any) -> Call[int]:
    """Append a row to a stream, in the caller's transaction, and trigger its subscribers; returns its seq."""
    return Call(
        "select jobs.publish(stream => %s::text, key => %s::text, payload => %s::jsonb)",
        (stream, key, to_json("payload", payload)),
        _value,
    )


def publish_many(stream: str, keys: Sequence[str], payloads: Sequence[Any]) -> Call[list[int]]:
    """The same for many rows in one statement, in the order given."""
    return Call(
        "select seq from jobs.publish_many(stream => %s::text, keys => %s::text[],"
        " payloads => %s::text[]::jsonb[]) as seq",
        (stream, _list(keys), [to_json("payloads", payload) for payload in payloads]),
        lambda rows: [seq for (seq,) in rows],
    )


def claim(
    kinds: Sequence[str] | None = None,
    batch: int = 1,
    lease: Interval | None = None,
    worker: str | None = None,
) -> Call[list[Job]]:
    """Up to `batch` due jobs, each held until `claimed_until`."""
    return Call(
        f"select {COLUMNS} from jobs.claim(kinds => %s::text[], batch => %s::int, lease => %s::interval,"
        " worker => %s::text)",
        (_list(kinds), batch, to_interval("lease", lease), worker),
        _jobs,
    )


def claim_key(
    kind: str, key: str, lease: Interval | None = None, worker: str | None = None
) -> Call[list[Job]]:
    """The live job of this key, if it is due and free."""
    return Call(
        f"select {COLUMNS} from jobs.claim_key(kind => %s::text, key => %s::text, lease => %s::interval,"
        " worker => %s::text)",
        (kind, key, to_interval("lease", lease), worker),
        _jobs,
    )


def claim_tx(kinds: Sequence[str] | None = None, batch: int = 1) -> Call[list[Job]]:
    """Up to `batch` due jobs, held by the caller's open transaction."""
    return Call(
        f"select {COLUMNS} from jobs.claim_tx(kinds => %s::text[], batch => %s::int)",
        (_list(kinds), batch),
        _jobs,
    )


def complete(id: int, token: UUID, result: Any = None) -> Call[str]:
    """End the job; returns what became of it: deleted, done, or pending (it was triggered again)."""
    return Call(
        "select jobs.complete(id => %s::bigint, token => %s::uuid, result => %s::jsonb)",
        (id, token, to_json("result", result)),
        _value,
    )


def complete_many(ids: Sequence[int], tokens: Sequence[UUID]) -> Call[list[bool]]:
    """End a batch; for each id in order, false where the claim was lost."""
    return Call(
        "select id, completed from jobs.complete_many(ids => %s::bigint[], tokens => %s::uuid[])",
        (_list(ids), _list(tokens)),
        lambda rows: [completed for _, completed in rows],
    )


def fail(
    id: int, token: UUID, error: str, retry_in: Interval | None = None, final: bool = False
) -> Call[Failed]:
    """Count a failed attempt: back to pending after the backoff, or failed at the last one."""
    return Call(
        "select state, run_after from jobs.fail(id => %s::bigint, token => %s::uuid, error => %s::text,"
        " retry_in => %s::interval, final => %s::boolean)",
        (id, token, clean(error), to_interval("retry_in", retry_in), final),
        lambda rows: Failed(*rows[0]),
    )


def release(id: int, token: UUID, delay: Interval = 0, progress: bool = False) -> Call[None]:
    """Give the job back without counting an attempt."""
    return Call(
        "select jobs.release(id => %s::bigint, token => %s::uuid, delay => %s::interval,"
        " progress => %s::boolean)",
        (id, token, to_interval("delay", delay), progress),
        _nothing,
    )


def extend(id: int, token: UUID, lease: Interval | None = None) -> Call[datetime | None]:
    """Heartbeat: the new end of the lease (None for a transaction lease)."""
    return Call(
        "select jobs.extend(id => %s::bigint, token => %s::uuid, lease => %s::interval)",
        (id, token, to_interval("lease", lease)),
        _value,
    )


def extend_many(
    ids: Sequence[int], tokens: Sequence[UUID], lease: Interval | None = None
) -> Call[list[Extended]]:
    """Heartbeat of a batch; a lost claim has no `claimed_until`."""
    return Call(
        "select id, claimed_until, cancelled from jobs.extend_many(ids => %s::bigint[], tokens => %s::uuid[],"
        " lease => %s::interval)",
        (_list(ids), _list(tokens), to_interval("lease", lease)),
        lambda rows: [Extended(*row) for row in rows],
    )


def fence(id: int, token: UUID) -> Call[None]:
    """Raise LostClaim unless the claim is live; keep it so until the transaction ends."""
    return Call("select jobs.fence(id => %s::bigint, token => %s::uuid)", (id, token), _nothing)


def holds(id: int, token: UUID) -> Call[bool]:
    """The same as a boolean."""
    return Call("select jobs.holds(id => %s::bigint, token => %s::uuid)", (id, token), _value)


def read(id: int, token: UUID, batch: int = 100) -> Call[list[OutboxRow]]:
    """Rows after the replay job's watermark, in an order in which none appears before one already read."""
    return Call(
        "select seq, stream, key, payload, published_at from jobs.read(id => %s::bigint, token => %s::uuid,"
        " batch => %s::int)",
        (id, token, batch),
        lambda rows: [OutboxRow(*row) for row in rows],
    )


def advance(id: int, token: UUID, upto: int) -> Call[bool]:
    """All rows up to this seq are handled; in the transaction of the writes. True = more to read now."""
    return Call(
        "select jobs.advance(id => %s::bigint, token => %s::uuid, upto => %s::bigint)",
        (id, token, upto),
        _value,
    )


def next_due(kinds: Sequence[str] | None = None) -> Call[float | None]:
    """Seconds until the next pending job of these kinds is due; 0 = now, None = there is none."""
    return Call(
        "select extract(epoch from jobs.next_due(kinds => %s::text[]))::float8", (_list(kinds),), _value
    )


def subscribe(stream: str, kind: str, from_start: bool = True) -> Call[None]:
    """Let jobs of this kind replay the stream, one for each key; the same again changes nothing."""
    return Call(
        "select jobs.subscribe(stream => %s::text, kind => %s::text, from_start => %s::boolean)",
        (stream, kind, from_start),
        _nothing,
    )


def define(
    kind: str,
    max_attempts: int | None = None,
    lease: Interval | None = None,
    backoff_base: Interval | None = None,
    backoff_max: Interval | None = None,
    jitter: float | None = None,
    keep_done: Interval | None = None,
    keep_failed: Interval | None = None,
) -> Call[None]:
    """Set the policy of a kind; None leaves a field as it is."""
    return Call(
        "select jobs.define(kind => %s::text, max_attempts => %s::int, lease => %s::interval,"
        " backoff_base => %s::interval, backoff_max => %s::interval, jitter => %s::float8,"
        " keep_done => %s::interval, keep_failed => %s::interval)",
        (
            kind,
            max_attempts,
            to_interval("lease", lease),
            to_interval("backoff_base", backoff_base),
            to_interval("backoff_max", backoff_max),
            jitter,
            to_interval("keep_done", keep_done),
            to_interval("keep_failed", keep_failed),
        ),
        _nothing,
    )


def pause(kind: str) -> Call[None]:
    """Claim no more jobs of this kind."""
    return Call("select jobs.pause(kind => %s::text)", (kind,), _nothing)


def resume(kind: str) -> Call[None]:
    """Undo `pause`."""
    return Call("select jobs.resume(kind => %s::text)", (kind,), _nothing)


def cancel(id: int) -> Call[str]:
    """Cancel a job; a running handler learns it at its next heartbeat."""
    return Call("select jobs.cancel(id => %s::bigint)", (id,), _value)


def cancel_key(kind: str, key: str) -> Call[str]:
    """Cancel the live job of this key."""
    return Call("select jobs.cancel_key(kind => %s::text, key => %s::text)", (kind, key), _value)


def retry(id: int) -> Call[str]:
    """Make a failed, cancelled or done job pending again."""
    return Call("select jobs.retry(id => %s::bigint)", (id,), _value)


def maintain() -> Call[dict[str, int]]:
    """Do all housekeeping now; returns how many jobs each part touched."""
    return Call(
        "select what, jobs from jobs.maintain()",
        (),
        lambda rows: {str(what): int(jobs) for what, jobs in rows},
    )


def version() -> Call[str]:
    """The version of the installed schema."""
    return Call("select jobs.version()", (), _value)


def overview() -> Call[list[dict[str, Any]]]:
    """One row per kind: how much is due, running, failed …, and how old the oldest due job is, in seconds."""
    names = ("kind", "due", "scheduled", "running", "expired", "queued", "done", "failed", "cancelled")
    return Call(
        f"select {', '.join(names)}, extract(epoch from oldest_due_age)::float8, paused from jobs.overview",
        (),
        lambda rows: [dict(zip((*names, "oldest_due_age", "paused"), row, strict=True)) for row in rows],
    )


def seconds(value: Interval) -> float:
    """An interval as a number, for clients that sleep."""
    return value.total_seconds() if isinstance(value, timedelta) else float(value)
