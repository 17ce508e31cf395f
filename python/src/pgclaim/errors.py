"""Exceptions, chosen by SQLSTATE and never by the text of a message."""

from __future__ import annotations

import psycopg


class PgclaimError(Exception):
    """Every error of this package; `sqlstate` is the database's code, or None for one raised here."""

    def __init__(self, message: str, sqlstate: str | None = None) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate


class LostClaim(PgclaimError):
    """JB001: the claim is no longer ours (expired, taken, cancelled, or the job is gone)."""


class AlreadyLive(PgclaimError):
    """JB002: a live job with this key exists (`on_conflict="raise"`)."""


class BadArgument(PgclaimError, ValueError):
    """22023: an argument is outside what is allowed; the message names it."""


class WrongTransaction(PgclaimError):
    """25000: the call needs READ COMMITTED."""


class NotInstalled(PgclaimError):
    """Schema jobs is missing, or older than this package."""


class NewerDatabase(PgclaimError):
    """The database has migrations that this package does not know."""


BY_SQLSTATE: dict[str, type[PgclaimError]] = {
    "JB001": LostClaim,
    "JB002": AlreadyLive,
    "22023": BadArgument,
    "25000": WrongTransaction,
    "3F000": NotInstalled,
    "42883": NotInstalled,
}


def sqlstate(error: BaseException) -> str | None:
    """The SQLSTATE of a database error, ours or the driver's."""
    if isinstance(error, psycopg.Error):
        return error.diag.sqlstate or error.sqlstate
    return error.sqlstate if isinstance(error, PgclaimError) else None


def translated(error: Exception) -> Exception:
    """The package's exception for a driver's, or the driver's own where there is none."""
    state = sqlstate(error)
    if isinstance(error, psycopg.Error) and state in BY_SQLSTATE:
        return BY_SQLSTATE[state](error.diag.message_primary or str(error), state)
    if isinstance(error, UnicodeEncodeError) or (isinstance(error, psycopg.DataError) and state is None):
        return BadArgument(f"a text cannot be sent to the database: {error}")
    return error


def clean(text: str) -> str:
    """Text that PostgreSQL can store: no NUL, no lone surrogates, of bounded length."""
    return text[:8000].replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")[:8000]


def describe(error: BaseException) -> str:
    """One cleaned text for `jobs.fail`; a database error shows its SQLSTATE."""
    try:
        text = str(error)
    except Exception:
        text = "(the exception has no readable text)"
    state = sqlstate(error)
    return clean(f"{type(error).__name__}{f' [{state}]' if state else ''}: {text}")
