"""Extends leases from a thread and a connection of its own: no handler, loop or full pool can hold it up."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import psycopg

from .. import calls
from ..errors import PgclaimError
from ..job import Interval
from .link import Link
from .run import Run

log = logging.getLogger("pgclaim.worker")


class Heartbeat(threading.Thread):
    """Each claim is extended at a third of its lease (or every `interval` seconds)."""

    def __init__(
        self, dsn: str, lease: Interval | None, interval: float | None, lost: Callable[[Run], None]
    ) -> None:
        super().__init__(name="pgclaim-heartbeat", daemon=True)
        self._link = Link(dsn)
        self._lease, self._interval, self._lost = lease, interval, lost
        self._runs: dict[int, Run] = {}
        self._changed = threading.Condition()
        self._closing = False

    def add(self, run: Run) -> None:
        with self._changed:
            self._runs[id(run)] = run
            self._changed.notify()

    def remove(self, run: Run) -> None:
        with self._changed:
            self._runs.pop(id(run), None)

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()

    def run(self) -> None:
        trouble = 0.0
        while True:
            with self._changed:
                wait = trouble or self._until_next()
                if not self._closing and (wait is None or wait > 0):
                    self._changed.wait(wait)
                if self._closing:
                    break
                due = self._due()
            try:
                if due:
                    self._beat(due)
                trouble = 0.0
            except (psycopg.Error, PgclaimError) as error:
                trouble = min(1.0, min(run.lease for run in due) / 10)
                log.warning("heartbeat failed, trying again in %.1f s: %s", trouble, error)
        self._link.close()

    def _next(self, run: Run) -> float:
        return run.extended + (self._interval or run.lease / 3)

    def _live(self) -> list[Run]:
        return [run for run in self._runs.values() if not (run.job.lost or run.overdue)]

    def _until_next(self) -> float | None:
        soonest = min(map(self._next, self._live()), default=None)
        return None if soonest is None else max(0.0, soonest - time.monotonic())

    def _due(self) -> list[Run]:
        now = time.monotonic()
        return [run for run in self._live() if self._next(run) <= now]

    def _beat(self, runs: list[Run]) -> None:
        sent = time.monotonic()
        answers = self._link(
            calls.extend_many([run.job.id for run in runs], [run.job.token for run in runs], self._lease)
        )
        for run, answer in zip(runs, answers, strict=True):
            run.extended = sent
            # A claim that its own handler or the worker has just ended is not a lost one.
            if answer.claimed_until is None and run.outcome is None and not run.job.settled:
                run.job.lost = True
                log.warning(
                    "job %s (%s): the claim is lost%s",
                    run.job.id,
                    run.job.kind,
                    " (cancelled)" if answer.cancelled else "",
                )
                self._lost(run)
