"""What a handler is given: its job, and transactions that a lost claim cannot write in."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from .. import aio, client
from ..errors import LostClaim
from ..job import Interval, Job

Pool = ConnectionPool[psycopg.Connection[Any]]
AsyncPool = AsyncConnectionPool[psycopg.AsyncConnection[Any]]


class _Held(Job):
    lost = False
    """The claim is known to be lost (found by the heartbeat): a long handler may look here and stop."""
    settled = False
    """The handler has ended the claim itself, in a transaction of its own."""

    sockets: tuple[int, ...] = ()
    """File numbers of the connections that its transactions hold."""

    def abort(self) -> None:
        """Cut the transactions that a handler out of time keeps open: the server rolls them back."""
        for number in self.sockets:
            with suppress(OSError), socket.socket(fileno=os.dup(number)) as connected:
                connected.shutdown(socket.SHUT_RDWR)

    def check(self) -> None:
        """Raise LostClaim if the heartbeat has found the claim lost."""
        if self.lost:
            raise LostClaim(f"claim of job {self.id} is lost")

    @contextmanager
    def _settling(self) -> Iterator[None]:
        # Set before the commit, so that no heartbeat takes the ended claim for a lost one.
        self.settled = True
        try:
            yield
        except BaseException:
            self.settled = False
            raise

    @contextmanager
    def _using(self, conn: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> Iterator[None]:
        before, self.sockets = self.sockets, (*self.sockets, conn.fileno())
        try:
            yield
        except BaseException:
            self.settled = False  # rolled back
            raise
        finally:
            self.sockets = before


class HeldJob(_Held):
    """The job of a `def` handler."""

    pool: Pool

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """A READ COMMITTED transaction on a connection of the worker's pool, begun with jobs.fence."""
        with self.pool.connection() as conn, self._using(conn), conn.transaction():
            client.fence(conn, self.id, self.token)
            yield conn

    def complete(self, result: Any = None, *, conn: psycopg.Connection[Any]) -> str:
        """End the job in this transaction."""
        with self._settling():
            return client.complete(conn, self.id, self.token, result)

    def release(self, delay: Interval = 0, progress: bool = False, *, conn: psycopg.Connection[Any]) -> None:
        """Give the job back in this transaction, no attempt counted."""
        with self._settling():
            client.release(conn, self.id, self.token, delay, progress)


class AsyncHeldJob(_Held):
    """The job of an `async def` handler."""

    pool: AsyncPool

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        """A READ COMMITTED transaction on a connection of the worker's pool, begun with jobs.fence."""
        async with self.pool.connection() as conn:
            with self._using(conn):
                async with conn.transaction():
                    await aio.fence(conn, self.id, self.token)
                    yield conn

    async def complete(self, result: Any = None, *, conn: psycopg.AsyncConnection[Any]) -> str:
        """End the job in this transaction."""
        with self._settling():
            return await aio.complete(conn, self.id, self.token, result)

    async def release(
        self, delay: Interval = 0, progress: bool = False, *, conn: psycopg.AsyncConnection[Any]
    ) -> None:
        """Give the job back in this transaction, no attempt counted."""
        with self._settling():
            await aio.release(conn, self.id, self.token, delay, progress)
