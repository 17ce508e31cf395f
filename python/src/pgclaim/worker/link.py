"""The worker's connections: alive or replaced, and READ COMMITTED whatever the database's default."""

from __future__ import annotations

from typing import Any, TypeVar

import psycopg
from psycopg import IsolationLevel
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from .. import client
from ..calls import Call
from .held import AsyncPool, Pool

T = TypeVar("T")

# A peer that vanished without a word is noticed within seconds.
ALIVE = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 15000,
}
# The loop must not wait for a transaction that a handler keeps open.
PATIENCE = "set local lock_timeout = '2s'"
# Nothing is prepared: a pooler may give every transaction another session.
SETTINGS: dict[str, Any] = {"autocommit": True, "prepare_threshold": None}


def conninfo(dsn: str, name: str) -> str:
    """The DSN with keepalives and an application_name, unless it says otherwise."""
    return make_conninfo(
        dsn,
        **{k: v for k, v in ({"application_name": name} | ALIVE).items() if k not in conninfo_to_dict(dsn)},
    )


class Link:
    """One connection, for one thread, opened at the first call and again after it broke."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._conn: psycopg.Connection[Any] | None = None

    def __call__(self, call: Call[T]) -> T:
        if self._conn is None or self._conn.closed:
            self._conn = psycopg.connect(self._dsn, **SETTINGS)
            self._conn.isolation_level = IsolationLevel.READ_COMMITTED
        with self._conn.transaction():
            self._conn.execute(PATIENCE)
            return client.execute(self._conn, call)

    def close(self) -> None:
        if self._conn is not None:
            self._conn.close()


def pool(dsn: str, size: int) -> Pool:
    """For the transactions of `def` handlers."""

    def configure(conn: psycopg.Connection[Any]) -> None:
        conn.isolation_level = IsolationLevel.READ_COMMITTED
        conn.read_only = False

    return ConnectionPool(
        dsn,
        min_size=0,
        max_size=size,
        timeout=120,
        open=True,
        kwargs=SETTINGS,
        configure=configure,
        check=ConnectionPool.check_connection,
    )


def async_pool(dsn: str, size: int) -> AsyncPool:
    """For the transactions of `async def` handlers; opened on their event loop."""

    async def configure(conn: psycopg.AsyncConnection[Any]) -> None:
        await conn.set_isolation_level(IsolationLevel.READ_COMMITTED)
        await conn.set_read_only(False)

    return AsyncConnectionPool(
        dsn,
        min_size=0,
        max_size=size,
        timeout=120,
        open=False,
        kwargs=SETTINGS,
        configure=configure,
        check=AsyncConnectionPool.check_connection,
    )
