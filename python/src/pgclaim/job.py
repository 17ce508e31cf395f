"""The values that calls take and return."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from .errors import BadArgument

Interval = timedelta | int | float
"""A length of time: a timedelta, or a number of seconds."""

_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


@dataclass
class Job:
    """One row of jobs.job, as `claim` returns it."""

    id: int
    kind: str
    key: str | None
    state: str
    priority: int
    attempts: int
    max_attempts: int | None
    run_after: datetime
    claimed_by: UUID
    claimed_until: datetime | None
    worker: str | None
    last_error: str | None
    payload: Any
    result: Any
    created_at: datetime
    claimed_at: datetime | None
    finished_at: datetime | None
    epoch: int

    @property
    def token(self) -> UUID:
        """With `id`, the proof of this claim."""
        return self.claimed_by


COLUMNS = ", ".join(field.name for field in fields(Job))


class Enqueued(NamedTuple):
    id: int | None
    outcome: str


class Failed(NamedTuple):
    state: str
    run_after: datetime | None


class Extended(NamedTuple):
    id: int
    claimed_until: datetime | None
    cancelled: bool


class OutboxRow(NamedTuple):
    """One row of a stream, as `read` returns it."""

    seq: int
    stream: str
    key: str
    payload: Any
    published_at: datetime


def to_interval(name: str, value: Interval | None) -> timedelta | None:
    if value is None or isinstance(value, timedelta):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadArgument(f"{name} must be a timedelta or a finite number of seconds, not {value!r}")
    try:
        return timedelta(seconds=value)
    except OverflowError as error:
        raise BadArgument(f"{name} is too long: {value!r} seconds") from error


def to_instant(name: str, value: datetime | None) -> datetime | None:
    if value is not None and value.utcoffset() is None:
        raise BadArgument(f"{name} needs a time zone: {value!r}")
    return value


def to_json(name: str, value: Any) -> str | None:
    """None is SQL null. What jsonb cannot hold is refused here, before the statement is sent."""
    if value is None:
        return None
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise BadArgument(f"{name} is not valid JSON: {error}") from error
    if _NUL.search(text):
        raise BadArgument(f"{name} holds a NUL character, which jsonb cannot")
    return text
