"""The loop: claim up to the free places, run handlers, settle what ended, sleep until something is due.

Threads: this loop (claims and settles over one connection), the heartbeat (another), one thread per
running `def` handler, and one event loop for all `async def` handlers. Handlers never touch the loop's
connection; they hand in an Outcome.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import queue
import socket
import threading
import time
from collections import Counter

import psycopg

from .. import calls
from ..calls import seconds
from ..errors import BadArgument, LostClaim, NotInstalled, PgclaimError, sqlstate
from ..job import Interval, Job, to_interval
from .heartbeat import Heartbeat
from .held import AsyncHeldJob, HeldJob
from .link import Link, async_pool, conninfo, pool
from .registry import Registry
from .run import Outcome, Run, lease_of

log = logging.getLogger("pgclaim.worker")


class Worker:
    """Runs the handlers of a registry until `stop()`.

    lease: None = each kind's own. heartbeat: None = a third of the lease. poll: the longest sleep.
    grace: how long `stop()` waits for running handlers before their jobs are released.
    """

    def __init__(
        self,
        registry: Registry,
        dsn: str = "",
        *,
        concurrency: int = 10,
        lease: Interval | None = None,
        heartbeat: Interval | None = None,
        poll: Interval = 0.5,
        grace: Interval = 10,
        name: str | None = None,
        pool_size: int | None = None,
    ) -> None:
        for label, value in (("lease", lease), ("heartbeat", heartbeat), ("poll", poll), ("grace", grace)):
            to_interval(label, value)
        if not registry.handlers:
            raise BadArgument("the registry has no handler")
        if not 1 <= concurrency <= 1000:
            raise BadArgument(f"concurrency must be 1 to 1000, not {concurrency}")
        if seconds(poll) <= 0 or seconds(grace) < 0:
            raise BadArgument("poll must be longer than 0, and grace not negative")
        if heartbeat is not None:
            if lease is None:
                raise BadArgument("heartbeat can be given only together with lease")
            if not 0 < seconds(heartbeat) < seconds(lease) / 2:
                raise BadArgument(f"heartbeat ({heartbeat}) must be below half the lease ({lease})")
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self.counts: Counter[str] = Counter()
        """claimed, completed, failed, released, settled, lost, unsure (an answer was lost), trouble."""
        self._registry, self._concurrency, self._lease = registry, concurrency, lease
        self._poll, self._grace = seconds(poll), seconds(grace)
        self._dsn = conninfo(dsn, f"pgclaim {self.name}"[:63])
        self._pool_size = pool_size or concurrency
        self._link = Link(self._dsn)
        self._heartbeat = Heartbeat(
            self._dsn, lease, None if heartbeat is None else seconds(heartbeat), self._cancel
        )
        self._runs: list[Run] = []
        self._ended: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._ending = threading.Lock()
        self._stopping: float | None = None
        self._stops = itertools.count()
        self._hurry = False
        self._reached = False
        self._trouble = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def stop(self) -> None:
        """Claim no more; a second call cuts the grace short. Safe in a signal handler."""
        if next(self._stops) > 0:
            self._hurry = True
        self._stopping = self._stopping or time.monotonic()
        self._ended.put(None)

    def run(self, drain: bool = False) -> None:
        """Work until `stop()`; with `drain`, until no job is due or running."""
        self._open()
        try:
            while True:
                wait = self._turn()
                if not self._runs and (
                    self._stopping is not None or (drain and wait > 0 and not self._trouble)
                ):
                    break
                if self._given_up():
                    log.error("%d jobs could not be given back: their leases will end", len(self._runs))
                    break
                self._sleep(wait)
        finally:
            self._close()

    # -- the loop ----------

    def _turn(self) -> float:
        """One round; returns how long to sleep."""
        try:
            self._stop_late_handlers()
            self._settle()
            wait = self._claim()
            self._reached, self._trouble = True, 0
            return wait
        except (psycopg.Error, PgclaimError) as error:
            refused = isinstance(error, NotInstalled) or (sqlstate(error) or "")[:2] in ("28", "3D", "42")
            if refused and not self._reached:
                raise
            self.counts["trouble"] += 1
            self._trouble += 1
            wait = min(5.0, 0.1 * 2.0 ** min(self._trouble - 1, 10))
            log.warning("database trouble, trying again in %.1f s: %s", wait, error)
            return wait

    def _sleep(self, wait: float) -> None:
        try:
            if wait > 0:
                self._ended.get(timeout=wait)
            while True:
                self._ended.get_nowait()
        except queue.Empty:
            pass

    def _claim(self) -> float:
        free = self._concurrency - len(self._runs)
        if self._stopping is not None or free <= 0:
            return min(self._poll, 0.1) if self._stopping is not None else self._poll
        kinds = list(self._registry.handlers)
        jobs = self._link(calls.claim(kinds, free, self._lease, self.name))
        for job in jobs:
            self._start(job)
        if len(jobs) == free:
            return 0.0
        due = self._link(calls.next_due(kinds))
        return self._poll if due is None else min(self._poll, max(0.05, due))

    def _stop_late_handlers(self) -> None:
        out_of_grace = self._stopping is not None and (
            self._hurry or time.monotonic() > self._stopping + self._grace
        )
        for run in self._runs:
            if out_of_grace:
                self._end(run, Outcome("released"), cancel=True)
            elif run.overdue:
                text = f"the handler ran longer than its timeout of {run.handler.timeout:g} s"
                self._end(run, Outcome("failed", error=text), cancel=True)

    def _given_up(self) -> bool:
        """The database does not answer, and `stop()` cannot wait for ever."""
        if self._stopping is None or not self._trouble:
            return False
        return time.monotonic() > self._stopping + (0 if self._hurry else self._grace) + 10

    # -- running ----------

    def _start(self, job: Job) -> None:
        handler = self._registry.handlers[job.kind]
        held: HeldJob | AsyncHeldJob
        if handler.is_async:
            held = AsyncHeldJob(**vars(job))
            held.pool = self._async_pool
        else:
            held = HeldJob(**vars(job))
            held.pool = self._pool
        run = Run(held, handler, lease_of(job))
        self.counts["claimed"] += 1
        self._runs.append(run)
        self._heartbeat.add(run)
        if self._loop is not None and handler.is_async:
            run.task = asyncio.run_coroutine_threadsafe(self._run_async(run), self._loop)
        else:
            threading.Thread(target=self._run_sync, args=(run,), name=f"job-{job.id}", daemon=True).start()

    def _run_sync(self, run: Run) -> None:
        try:
            outcome = run.returned(run.handler.function(run.job))
        except BaseException as error:
            outcome = self._raised(run, error)
        self._end(run, outcome)

    async def _run_async(self, run: Run) -> None:
        try:
            outcome = run.returned(await run.handler.function(run.job))
        except BaseException as error:
            outcome = self._raised(run, error)
        self._end(run, outcome)

    def _raised(self, run: Run, error: BaseException) -> Outcome:
        outcome = run.raised(error)
        if outcome.verb == "failed" or (outcome.verb == "settled" and run.outcome is None):
            log.warning("job %s (%s) raised", run.job.id, run.job.kind, exc_info=error)
        return outcome

    def _end(self, run: Run, outcome: Outcome, cancel: bool = False) -> None:
        """The first outcome of a run stands, whoever brings it."""
        with self._ending:
            if run.outcome is not None:
                return
            # A handler that ended its claim itself may still be running when it is out of time.
            run.outcome = Outcome("settled") if run.job.settled else outcome
        self._ended.put(None)
        if cancel:
            self._cancel(run)
            run.job.abort()

    def _cancel(self, run: Run) -> None:
        if run.task is not None:
            run.task.cancel()

    # -- settling ----------

    def _settle(self) -> None:
        """Tell the database about every run that ended. What cannot be told now stays for the next round."""
        ended = [run for run in self._runs if run.outcome is not None]
        plain = [run for run in ended if (o := run.outcome) and o.verb == "completed" and o.result is None]
        trouble: Exception | None = None
        if len(plain) > 1:
            try:
                self._complete_many(plain)
                ended = [run for run in ended if run not in plain]
            except (psycopg.Error, PgclaimError) as error:
                log.warning("a batch of %d could not be completed, trying one by one: %s", len(plain), error)
                for run in plain:
                    self._repeat(run)
        for run in ended:
            try:
                self._settle_one(run)
            except (psycopg.Error, PgclaimError) as error:
                self._repeat(run)
                trouble = error
        if trouble is not None:
            raise trouble

    def _complete_many(self, runs: list[Run]) -> None:
        answers = self._link(
            calls.complete_many([run.job.id for run in runs], [run.job.token for run in runs])
        )
        for run, completed in zip(runs, answers, strict=True):
            self._done(run, "completed" if completed else self._refused(run))

    def _settle_one(self, run: Run) -> None:
        job, outcome = run.job, run.outcome
        assert outcome is not None
        try:
            if outcome.verb == "completed":
                self._link(calls.complete(job.id, job.token, outcome.result))
            elif outcome.verb == "failed":
                self._link(calls.fail(job.id, job.token, outcome.error, outcome.retry_in, outcome.final))
            elif outcome.verb == "released":
                self._link(calls.release(job.id, job.token, outcome.delay, outcome.progress))
            self._done(run, outcome.verb)
        except LostClaim as error:
            self._done(run, self._refused(run), str(error))
        except (BadArgument, psycopg.DataError) as error:
            # The handler's own values cannot be stored: that is a failed attempt, told in plain ASCII.
            text = (
                outcome.error
                if outcome.verb == "failed"
                else f"what the handler returned or raised is refused: {error}"
            )
            ascii_text = text.encode("ascii", "backslashreplace").decode("ascii")
            run.outcome = Outcome("failed", error=ascii_text, final=outcome.final)
            self._link(calls.fail(job.id, job.token, ascii_text, final=outcome.final))
            self._done(run, "failed")

    def _repeat(self, run: Run) -> None:
        if run.outcome is not None:
            run.outcome.repeated = True
        if run.overdue and self._trouble > 3:
            self._done(run, "lost", "it could not be settled before its deadline")

    def _refused(self, run: Run) -> str:
        return "unsure" if run.outcome is not None and run.outcome.repeated else "lost"

    def _done(self, run: Run, what: str, why: str = "") -> None:
        self._heartbeat.remove(run)
        self._runs.remove(run)
        self.counts[what] += 1
        if what == "lost":
            log.warning(
                "job %s (%s): the claim is lost, nothing is changed. %s", run.job.id, run.job.kind, why
            )
        elif what == "unsure":
            log.warning(
                "job %s (%s): settled already, or lost while the connection was down",
                run.job.id,
                run.job.kind,
            )

    # -- opening and closing ----------

    def _open(self) -> None:
        self._pool = pool(self._dsn, self._pool_size)
        self._async_pool = async_pool(self._dsn, self._pool_size)
        if any(handler.is_async for handler in self._registry.handlers.values()):
            self._loop = asyncio.new_event_loop()
            self._loop_thread = threading.Thread(
                target=self._loop.run_forever, name="pgclaim-async", daemon=True
            )
            self._loop_thread.start()
            asyncio.run_coroutine_threadsafe(self._async_pool.open(), self._loop).result()
        self._heartbeat.start()

    def _close(self) -> None:
        self._heartbeat.close()
        self._heartbeat.join(timeout=1)
        self._link.close()
        self._pool.close(timeout=1)
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._close_loop(self._loop), self._loop)
            self._loop_thread.join(timeout=2)
            if self._loop_thread.is_alive():
                log.warning("the event loop is blocked by a handler")

    async def _close_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        await self._async_pool.close(timeout=1)
        loop.stop()
