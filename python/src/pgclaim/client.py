"""The calls, over a psycopg connection you already have. They never commit: the transaction is yours.

client.enqueue(conn, "greet", key="ann", payload={"name": "Ann"})
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg.rows import tuple_row
from psycopg.types.datetime import TimestamptzLoader

from . import calls
from .calls import Call
from .errors import translated

P = ParamSpec("P")
T = TypeVar("T")
Connection = psycopg.Connection[Any]


class Instant(TimestamptzLoader):
    """Python has no infinite instant: it is read as the first or last one there is."""

    def load(self, data: Any) -> datetime:
        if bytes(data) in (b"infinity", b"-infinity"):
            return (datetime.max if bytes(data) == b"infinity" else datetime.min).replace(tzinfo=UTC)
        return super().load(data)


def execute(conn: Connection, call: Call[T]) -> T:
    """Send one call. Nothing is prepared, so any pooler will do; the connection's factories do not matter."""
    try:
        with psycopg.Cursor(conn, row_factory=tuple_row) as cursor:
            cursor.adapters.register_loader("timestamptz", Instant)
            return call.read(cursor.execute(call.sql, call.params, prepare=False).fetchall())
    except (psycopg.Error, UnicodeEncodeError) as error:
        raise translated(error) from error


def _verb(call: Callable[P, Call[T]]) -> Callable[Concatenate[Connection, P], T]:
    def verb(conn: Connection, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return execute(conn, call(*args, **kwargs))

    functools.update_wrapper(verb, call, assigned=("__name__", "__doc__"), updated=())
    return verb


enqueue = _verb(calls.enqueue)
enqueue_many = _verb(calls.enqueue_many)
publish = _verb(calls.publish)
publish_many = _verb(calls.publish_many)
claim = _verb(calls.claim)
claim_key = _verb(calls.claim_key)
claim_tx = _verb(calls.claim_tx)
complete = _verb(calls.complete)
complete_many = _verb(calls.complete_many)
fail = _verb(calls.fail)
release = _verb(calls.release)
extend = _verb(calls.extend)
extend_many = _verb(calls.extend_many)
fence = _verb(calls.fence)
holds = _verb(calls.holds)
read = _verb(calls.read)
advance = _verb(calls.advance)
next_due = _verb(calls.next_due)
subscribe = _verb(calls.subscribe)
define = _verb(calls.define)
pause = _verb(calls.pause)
resume = _verb(calls.resume)
cancel = _verb(calls.cancel)
cancel_key = _verb(calls.cancel_key)
retry = _verb(calls.retry)
maintain = _verb(calls.maintain)
version = _verb(calls.version)
overview = _verb(calls.overview)
