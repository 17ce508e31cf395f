"""One attempt: the job, its handler, its deadline, and how it ended."""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal

from ..errors import BadArgument, LostClaim, clean, describe
from ..job import Interval, Job
from .held import AsyncHeldJob, HeldJob
from .registry import Fail, Handler, Snooze


@dataclass
class Outcome:
    """What is still to be said to the database about an attempt (`settled` and `lost`: nothing)."""

    verb: Literal["completed", "failed", "released", "settled", "lost"]
    result: Any = None
    error: str = ""
    retry_in: Interval | None = None
    final: bool = False
    delay: Interval = 0
    progress: bool = False
    repeated: bool = False
    """Sent before, and the answer did not arrive: a refusal may mean that it was done."""


@dataclass(eq=False)
class Run:
    job: HeldJob | AsyncHeldJob
    handler: Handler
    lease: float
    """Seconds, by the database's own instants."""
    started: float = field(default_factory=time.monotonic)
    extended: float = field(default_factory=time.monotonic)
    outcome: Outcome | None = None
    task: Future[None] | None = None

    @property
    def overdue(self) -> bool:
        return time.monotonic() > self.started + self.handler.timeout

    def returned(self, result: Any) -> Outcome:
        if self.job.settled:
            return Outcome("settled")
        return Outcome("lost") if self.job.lost else Outcome("completed", result)

    def raised(self, error: BaseException) -> Outcome:
        if self.job.settled:
            return Outcome("settled")
        if self.job.lost or isinstance(error, LostClaim):
            return Outcome("lost")
        if isinstance(error, Snooze):
            return Outcome("released", delay=error.delay, progress=error.progress)
        if isinstance(error, Fail):
            return Outcome("failed", error=clean(str(error)), retry_in=error.retry_in, final=error.final)
        return Outcome("failed", error=describe(error))


def lease_of(job: Job) -> float:
    if job.claimed_until is None or job.claimed_at is None:
        raise BadArgument(f"job {job.id} has no timestamp lease")
    return (job.claimed_until - job.claimed_at).total_seconds()
