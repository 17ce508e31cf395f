"""python -m tests.demo [--episodes N] [--dsn DSN]; INPUT=file.jsonl takes other conversations."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from typing import Any

import psycopg
from pgclaim import installer
from rich.console import Console
from rich.text import Text

from tests.service import producer
from tests.service.producer import Episode
from tests.service.standin import Round, StandIn
from tests.tools.database import Cluster

from . import checks, corpus
from .board import Board
from .replicas import Replica, Replicas


class Trouble(Exception):
    """The demo could not come to its end."""


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.demo", description=__doc__)
    add = parser.add_argument
    add(
        "--episodes",
        type=int,
        default=240,
        help="how many episodes of the input are taken (default %(default)s)",
    )
    add(
        "--dsn",
        help="an empty database to run in (default: a server of the demo's own, PostgreSQL 18)",
    )
    add("--lease", type=float, default=3, help="seconds (default %(default)s)")
    add(
        "--latency",
        type=float,
        default=0.04,
        help="of the model, seconds (default %(default)s)",
    )
    add(
        "--adding",
        type=float,
        default=10,
        help="seconds over which the episodes are added (default %(default)s)",
    )
    add(
        "--allowance",
        type=float,
        default=10,
        help="seconds beyond the lease that recovery may take (default %(default)s)",
    )
    add(
        "--limit",
        type=float,
        default=300,
        help="seconds after which the demo gives up (default %(default)s)",
    )
    add(
        "--concurrency",
        type=int,
        default=4,
        help="jobs at one time in a replica (default %(default)s)",
    )
    return parser.parse_args(arguments)


@contextmanager
def database(dsn: str | None, say: Callable[[str], None]) -> Iterator[str]:
    if dsn is not None:
        yield dsn
        return
    say("starting a PostgreSQL 18 of its own, without a port")
    server = Cluster("embedded", {"fsync": "on", "full_page_writes": "on", "autovacuum": "on"})
    try:
        yield server.dsn()
    finally:
        server.remove()


def connect(dsn: str) -> Any:
    """A connection in autocommit mode that closes with its block."""
    return closing(psycopg.connect(dsn, autocommit=True, application_name="pgclaim demo"))


class Producer(threading.Thread):
    """Adds everything in small transactions. Each later stage waits for its gate, so that there is work left to be interrupted."""

    def __init__(self, dsn: str, adds: list[list[Episode]], pause: float) -> None:
        super().__init__(name="producer", daemon=True)
        self._dsn, self._pause = dsn, pause
        first, last = len(adds) * 2 // 5, len(adds) * 4 // 5
        self._stages = [adds[:first], adds[first:last], adds[last:]]
        self.gates = [threading.Event() for _ in self._stages]
        self.gates[0].set()
        self.error: BaseException | None = None

    @property
    def first_messages(self) -> int:
        """How many messages there are before the first interruption."""
        return sum(len(episode.sets) for add in self._stages[0] for episode in add)

    def run(self) -> None:
        try:
            with connect(self._dsn) as conn:
                for gate, stage in zip(self.gates, self._stages, strict=True):
                    gate.wait()
                    for episodes in stage:
                        producer.add_episodes(conn, episodes)
                        time.sleep(self._pause)
        except BaseException as error:
            self.error = error


class Demo:
    def __init__(
        self,
        conn: psycopg.Connection[Any],
        model: StandIn,
        replicas: list[Replica],
        feed: Producer,
        board: Board,
        limit: float,
    ) -> None:
        self.conn, self.model, self.replicas, self.feed, self.board = (
            conn,
            model,
            replicas,
            feed,
            board,
        )
        self._end = time.monotonic() + limit

    def value(self, statement: str, *arguments: Any) -> Any:
        row = self.conn.execute(statement.encode(), arguments).fetchone()
        return row[0] if row else None

    def wait(self, condition: Callable[[], Any], what: str, every: float = 0.1) -> Any:
        """The condition's first true value; the board goes on meanwhile."""
        while True:
            self.board.show(self.conn)
            if self.feed.error is not None:
                raise Trouble("the producer failed") from self.feed.error
            for replica in self.replicas:
                if replica.died:
                    raise Trouble(f"{replica.name} ended by itself:\n{replica.output[-4000:]}")
            found = condition()
            if found:
                return found
            if time.monotonic() > self._end:
                raise Trouble(f"gave up waiting: {what}")
            time.sleep(every)

    def ingested(self) -> int:
        return int(self.value("select count(*) from semantic_message where ingested_at is not null"))

    def caught(self, stage: int) -> tuple[Replica, list[Round]]:
        """Hold all answers until a replica is in the middle of a round; the one with most of them, and its rounds."""
        self.model.hold()
        self.feed.gates[stage].set()

        def found() -> tuple[Replica, list[Round]] | None:
            waiting = [round_ for round_ in self.model.waiting() if self.held(round_)]
            rounds = {replica.name: [round_ for round_ in waiting if round_.worker == replica.name] for replica in self.replicas}
            most = max(
                (r for r in self.replicas if r.state == "working"),
                key=lambda r: len(rounds[r.name]),
            )
            return (most, rounds[most.name]) if rounds[most.name] else None

        try:
            self.wait(found, "a replica in the middle of a round", every=0.02)
            time.sleep(0.3)  # a few more rounds get there; one would do
            return self.wait(found, "a replica in the middle of a round", every=0.02)
        except BaseException:
            self.model.let_go()
            raise

    def held(self, round_: Round) -> bool:
        """Is this claim still the live one?"""
        return bool(
            self.value(
                "select exists (select from jobs.job where kind = %s and key = %s and epoch = %s and state = 'running'"
                " and claimed_until > jobs.clock())",
                producer.KIND,
                round_.set_id,
                round_.epoch,
            )
        )

    def kill_one(self) -> None:
        orphans = 0
        while not orphans:
            replica, rounds = self.caught(1)
            try:
                # It stands still while its claims are written down, so that they are the ones it dies with.
                replica.pause()
                for round_ in rounds:
                    orphans += self.conn.execute(
                        "insert into demo.orphan (worker, set_id, token, epoch, claimed_until)"
                        " select worker, key, claimed_by, epoch, claimed_until from jobs.job"
                        " where kind = %s and key = %s and epoch = %s and state = 'running' and claimed_until > jobs.clock()",
                        [producer.KIND, round_.set_id, round_.epoch],
                    ).rowcount
                if orphans:
                    replica.kill()
                    self.conn.execute(
                        "insert into demo.killed (worker, killed_at) values (%s, jobs.clock())",
                        [replica.name],
                    )
                else:
                    replica.go_on()
            finally:
                self.model.let_go()
        self.board.event(f"SIGKILL: {replica.name} dies in the middle of {orphans} rounds; no replacement is started")

    def orphans_are_taken(self) -> bool:
        return bool(
            self.value(
                "select bool_and(exists (select from attempt as a where a.set_id = o.set_id and a.epoch > o.epoch)) from demo.orphan as o"
            )
        )

    def stop_outside_of_transactions(self, replica: Replica) -> None:
        """A process stopped in the middle of a transaction keeps its row locks; that is not what is to be shown."""
        while True:
            replica.pause()
            while "active" in (states := replica.backends(self.conn)):
                self.wait(lambda: True, "")
            if all(state == "idle" for state in states):
                return
            replica.go_on()
            time.sleep(0.01)

    def let_one_oversleep(self) -> None:
        replica, rounds = self.caught(2)
        try:
            self.stop_outside_of_transactions(replica)
            self.model.spare(rounds)
        finally:
            self.model.let_go()
        self.board.event(f"SIGSTOP: {replica.name} falls asleep in the middle of {len(rounds)} rounds")
        self.wait(
            lambda: not any(self.held(round_) for round_ in rounds),
            "the end of the sleeper's leases",
        )
        self.wait(
            lambda: any(self.passed_on(round_) for round_ in rounds),
            "the sleeper's sets to be taken by others",
        )
        replica.go_on()
        self.board.event(f"SIGCONT: {replica.name} wakes up after its leases have ended, and will try to write")
        self.wait(
            lambda: self.value("select count(*) from refused_write where worker = %s", replica.name),
            "its late results",
        )

    def passed_on(self, round_: Round) -> bool:
        """Has the set been claimed again?"""
        return bool(
            self.value(
                "select exists (select from attempt where set_id = %s and epoch > %s)",
                round_.set_id,
                round_.epoch,
            )
        )

    def finished(self) -> bool:
        return not self.feed.is_alive() and not self.value("select (select count(*) from jobs.job) + (select count(*) from jobs.trigger)")

    def run(self) -> None:
        self.wait(
            lambda: all(replica.backends(self.conn) for replica in self.replicas),
            "the replicas to start",
        )
        self.board.event(f"{len(self.replicas)} replicas are up")
        self.feed.start()
        self.wait(lambda: self.ingested() >= self.feed.first_messages / 2, "the first messages")
        self.kill_one()
        self.wait(self.orphans_are_taken, "the orphaned sets to be taken by others")
        self.board.event("what it held is taken by others")
        self.let_one_oversleep()
        self.board.event("its late results were refused")
        self.wait(self.finished, "the end of all jobs")
        self.board.event("all jobs are done")


def report(console: Console, results: list[checks.Result]) -> bool:
    """Print the checks with their SQL; do all hold?"""
    for result in results:
        console.print()
        for line in result.check.sql.splitlines():
            console.print(
                f"    {line}",
                style="dim",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
        word, style = ("ok  ", "green") if result.holds else ("FAIL", "bold red")
        text = Text.assemble(
            (word, style),
            f"  {result.check.name}: {result.check.promise}\n      {result.detail}",
        )
        console.print(text, highlight=False, soft_wrap=True)
    good = all(result.holds for result in results)
    console.print()
    verdict = f"all {len(results)} checks hold" if good else f"{sum(not r.holds for r in results)} of {len(results)} checks FAIL"
    console.print(verdict, style="bold green" if good else "bold red")
    return good


def main(arguments: list[str] | None = None) -> int:
    chosen = options(arguments)
    console = Console()

    def say(text: str) -> None:
        console.print(f"demo: {text}", markup=False, highlight=False, soft_wrap=True)

    try:
        everything = corpus.load(os.environ.get("INPUT") or None)
        episodes = corpus.part(everything, chosen.episodes)
        adds = corpus.adds(episodes)
    except corpus.BadInput as error:
        say(str(error))
        return 2
    sets = {set_id for episode in episodes for set_id in episode.sets}
    messages = 3 * len(episodes)
    say(
        f"{len(episodes)} of the input's {len(everything)} episodes are taken (--episodes), from"
        f" {len({episode.session.split('/')[0] for episode in episodes})} conversations:"
        f" {len(sets)} sets, {messages} messages, one model call each"
    )
    started = time.monotonic()
    with (
        database(chosen.dsn, say) as dsn,
        StandIn(latency=chosen.latency, hang=chosen.lease * 1.5) as model,
        connect(dsn) as conn,
        Replicas() as replicas,
    ):
        installer.install(dsn)
        producer.install(conn, lease=chosen.lease)
        conn.execute(files(__package__).joinpath("schema.sql").read_bytes())
        conn.execute(
            "insert into demo.run (episodes, lease, allowance, longest)"
            " values (%s, make_interval(secs => %s), make_interval(secs => %s), %s)",
            [len(episodes), chosen.lease, chosen.allowance, model.longest],
        )
        say("schema jobs is installed; 5 % of the model's calls will fail, 1 % hang")
        say(f"a call takes some {model.latency * 1000:.0f} ms, a hanging one {model.hang:g} s; the lease is {chosen.lease:g} s")
        replicas += [Replica(f"replica-{n}", dsn, model.url, concurrency=chosen.concurrency) for n in (1, 2, 3)]
        feed = Producer(dsn, adds, chosen.adding / len(adds))
        trouble = None
        with Board(console, messages, replicas) as board:
            try:
                Demo(conn, model, replicas, feed, board, chosen.limit).run()
            except Trouble as error:
                trouble = error
            board.show(conn)
        conn.execute("update demo.run set llm_calls = %s", [model.counts["calls"]])
        counts = ", ".join(f"{name} {number}" for name, number in sorted(model.counts.items()))
        say(f"the model: {counts}")
        if trouble is not None:
            say(f"{trouble}{f': {trouble.__cause__!r}' if trouble.__cause__ else ''}")
        good = report(console, checks.examine(conn))
        say(f"took {time.monotonic() - started:.0f} s")
    return 0 if good and trouble is None else 1


if __name__ == "__main__":
    # Ended from outside, it still stops its replicas and its server.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
