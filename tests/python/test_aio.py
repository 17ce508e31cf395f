"""The same calls to await, and cancelled awaits."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import psycopg
import pytest
from pgclaim import LostClaim, aio, client
from psycopg.pq import TransactionStatus
from support import rows, value


@asynccontextmanager
async def connected(db):
    async with await psycopg.AsyncConnection.connect(db.dsn, autocommit=True) as conn:
        yield conn


def test_a_job_from_enqueue_to_completion(db):
    async def play():
        async with connected(db) as conn:
            assert (await aio.enqueue(conn, "mail", key="ann", payload=[1])).outcome == "inserted"
            [job] = await aio.claim(conn, ["mail"])
            assert job.payload == [1]
            async with conn.transaction():
                await aio.fence(conn, job.id, job.token)
                assert await aio.complete(conn, job.id, job.token) == "deleted"
            with pytest.raises(LostClaim):
                await aio.extend(conn, job.id, job.token)

    asyncio.run(play())


def test_a_stream_from_publish_to_advance(db):
    async def play():
        async with connected(db) as conn:
            await aio.subscribe(conn, "episodes", "segments")
            first = await aio.publish(conn, "episodes", "ann", [1])
            [second] = await aio.publish_many(conn, "episodes", ["ann"], [None])
            [job] = await aio.claim(conn, ["segments"])
            assert [row.seq for row in await aio.read(conn, job.id, job.token)] == [first, second]
            async with conn.transaction():
                assert await aio.advance(conn, job.id, job.token, first) is True
            [row] = await aio.read(conn, job.id, job.token, 1)
            assert (row.seq, row.payload) == (second, None)

    asyncio.run(play())


async def cancelled_after(turns, awaitable):
    """The answer, or None where the cancellation came first. `turns` counts passes of the event loop."""
    task = asyncio.ensure_future(awaitable)
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    try:
        return await task
    except asyncio.CancelledError:
        return None


def test_a_cancelled_claim_leaves_no_job_without_an_owner(db):
    """C20, A26"""
    conn = db.connect()
    client.enqueue_many(conn, "mail", [None] * 200)

    async def play():
        owned = []
        async with connected(db) as aconn:
            for turn in range(200):
                owned += await cancelled_after(turn % 40, aio.claim(aconn, batch=2)) or []
                assert aconn.info.transaction_status == TransactionStatus.IDLE
        return owned

    owned = asyncio.run(play())
    running = [row[0] for row in rows(conn, "select id from jobs.job where state = 'running' order by id")]
    assert running == sorted(job.id for job in owned)
    assert value(conn, "select count(*) from jobs.job where attempts = 0") == 200


def test_a_cancelled_complete_and_a_cancelled_fence_leave_the_connection_whole(db):
    """C20, A26"""
    conn = db.connect()
    client.enqueue_many(conn, "mail", [None] * 60)
    jobs = client.claim(conn, batch=60)

    async def play():
        async with connected(db) as aconn:
            for turn, job in enumerate(jobs):
                if turn % 2:
                    await cancelled_after(turn % 20, aio.complete(aconn, job.id, job.token))
                else:
                    await cancelled_after(turn % 20, fenced(aconn, job))
                assert aconn.info.transaction_status == TransactionStatus.IDLE
                assert await aio.version(aconn) == "0.1.0"

    async def fenced(aconn, job):
        async with aconn.transaction():
            await aio.fence(aconn, job.id, job.token)
            await asyncio.sleep(0)

    asyncio.run(play())
    for job in jobs:
        if rows(conn, "select from jobs.job where id = %s", job.id):
            assert client.complete(conn, job.id, job.token) == "deleted"
    assert value(conn, "select count(*) from jobs.job") == 0
