"""Installs, upgrades and removes schema jobs with the package's own SQL files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import psycopg

from . import script
from .errors import NewerDatabase

APPLIED = "select coalesce(max(version), 0) from jobs.migration"


def install(dsn: str = "", echo: Callable[[str], None] = lambda text: None) -> None:
    """Install or upgrade, in one transaction under the installer's lock; any number may run at once."""
    path = script.directory() / "install.sql"
    with closing(_connect(dsn, echo)) as conn:
        known, applied = max(script.migrations(path)), _applied(conn)
        if applied > known:
            raise NewerDatabase(
                f"the database is at migration {applied} and this package knows {known}: upgrade the package"
            )
        script.run(conn, path, echo)


def uninstall(dsn: str = "", echo: Callable[[str], None] = lambda text: None) -> None:
    """Remove schema jobs and every job in it."""
    with closing(_connect(dsn, echo)) as conn:
        script.run(conn, script.directory() / "uninstall.sql", echo)


def _applied(conn: psycopg.Connection) -> int:
    try:
        row = conn.execute(APPLIED).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return 0
    return int(row[0]) if row else 0


def _connect(dsn: str, echo: Callable[[str], None]) -> psycopg.Connection:
    conn = psycopg.connect(dsn, autocommit=True, application_name="pgclaim install", client_encoding="utf8")
    conn.add_notice_handler(
        lambda notice: (
            echo(notice.message_primary or "") if notice.severity_nonlocalized == "WARNING" else None
        )
    )
    return conn
