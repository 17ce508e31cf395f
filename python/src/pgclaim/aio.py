"""The same calls to await, over an async psycopg connection.

Cancelling an await lets the statement end first (no call waits for a lock), so the connection stays whole;
a claim that was cut this way outside a transaction is released before the cancellation goes on.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from . import calls
from .calls import Call
from .client import Instant
from .errors import translated
from .job import Job

P = ParamSpec("P")
T = TypeVar("T")
Connection = psycopg.AsyncConnection[Any]


async def _send(conn: Connection, call: Call[T]) -> T:
    try:
        async with psycopg.AsyncCursor(conn, row_factory=tuple_row) as cursor:
            cursor.adapters.register_loader("timestamptz", Instant)
            await cursor.execute(call.sql, call.params, prepare=False)
            return call.read(await cursor.fetchall())
    except (psycopg.Error, UnicodeEncodeError) as error:
        raise translated(error) from error


async def _give_back(conn: Connection, jobs: list[Job]) -> None:
    for job in jobs:
        await _send(conn, calls.release(job.id, job.token))


async def _ended(task: asyncio.Task[T]) -> asyncio.CancelledError | None:
    """Wait until the task has ended, however often we are cancelled meanwhile."""
    cancelled = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled


async def execute(conn: Connection, call: Call[T]) -> T:
    """Send one call, and see it through."""
    task = asyncio.ensure_future(_send(conn, call))
    cancelled = await _ended(task)
    if cancelled is None:
        return task.result()
    if not task.cancelled() and task.exception() is None:
        jobs = task.result()
        idle = conn.info.transaction_status == TransactionStatus.IDLE
        if idle and isinstance(jobs, list) and jobs and isinstance(jobs[0], Job):
            back = asyncio.ensure_future(_give_back(conn, jobs))
            await _ended(back)
            if not back.cancelled():
                back.exception()  # a claim that cannot be given back ends with its lease
    raise cancelled


def _verb(call: Callable[P, Call[T]]) -> Callable[Concatenate[Connection, P], Awaitable[T]]:
    async def verb(conn: Connection, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await execute(conn, call(*args, **kwargs))

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
