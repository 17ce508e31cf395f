"""Background jobs in PostgreSQL: claims, leases and fences as SQL functions, called from Python."""

from . import aio, client
from .errors import (
    AlreadyLive,
    BadArgument,
    LostClaim,
    NewerDatabase,
    NotInstalled,
    PgclaimError,
    WrongTransaction,
)
from .job import Enqueued, Extended, Failed, Interval, Job, OutboxRow
from .worker import AsyncHeldJob, Fail, HeldJob, Registry, Snooze, Worker

__version__ = "0.1.0"

__all__ = [
    "AlreadyLive",
    "AsyncHeldJob",
    "BadArgument",
    "Enqueued",
    "Extended",
    "Fail",
    "Failed",
    "HeldJob",
    "Interval",
    "Job",
    "LostClaim",
    "NewerDatabase",
    "NotInstalled",
    "OutboxRow",
    "PgclaimError",
    "Registry",
    "Snooze",
    "Worker",
    "WrongTransaction",
    "aio",
    "client",
]
