"""One play with all consumers in which everything that can go wrong goes wrong once, in a fixed order, on a clock that is moved by hand.

With the schema as it is, all six checks hold at its end. With a part of it taken out, it still comes to its end, and a check does not hold.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from pgclaim import HeldJob, client

from tests.service import checks, producer
from tests.service.producer import KIND, SEMANTIC, SUBSYSTEMS, Episode
from tests.service.sessions import DELETE, PROVISION
from tests.service.stage import LEASE, Stage, wait_for

REPLAYS = 8
"""Turns of work: enough for all replays that are due, and a few moves of the clock."""


def talk(session: str, first: int, last: int) -> list[Episode]:
    return [
        Episode(session, n, "Ann" if n % 2 else "Bob", "word " * 40 if n == 4 else f"{session} says {n}: שלום 你好")
        for n in range(first, last + 1)
    ]


class Play:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def take(self, kind: str, key: Any, worker: str) -> HeldJob | None:
        """The claim of a key, if it is to be had."""
        found = client.claim_key(self.stage.conn, kind, str(key), worker=worker)
        return self.stage.held(found[0]) if found else None

    def start(self, kind: str, key: Any, worker: str) -> Future[str] | None:
        """Let a worker begin, and wait until it asks a remote end, which holds its answers back."""
        job = self.take(kind, key, worker)
        if job is None:
            return None
        running = self.stage.start(job)
        wait_for(lambda: running.done() or worker in {round_.worker for round_ in self.stage.model.waiting()}, f"a call of {kind} {key}")
        return running

    def two_at_it(self, kind: str, key: Any) -> None:
        """A worker outlives its lease while a remote end keeps it waiting; another takes the job; then the first gets its answer, and
        only then the other."""
        stage = self.stage
        stage.model.hold()
        late = self.start(kind, key, "late")
        assert late is not None, (kind, key)
        stage.db.advance(LEASE + 1)
        good = self.start(kind, key, "good")
        for worker, running in (("late", late), ("good", good)):
            stage.model.let_go(worker)
            if running is not None:
                running.result(60)
        stage.model.let_go()

    def killed_at(self, key: str) -> None:
        """A worker claims a set and is never heard of again."""
        conn = self.stage.conn
        job = self.take(KIND, key, "killed")
        if job is None:
            return
        conn.execute("insert into run.killed (worker, killed_at) values ('killed', jobs.clock())")
        conn.execute(
            "insert into run.orphan (worker, set_id, token, epoch, claimed_until) values ('killed', %s, %s, %s, %s)",
            [job.key, job.token, job.epoch, job.claimed_until],
        )
        self.stage.db.advance(LEASE + 1)

    def trigger_behind_a_completion(self, session: int, name: str) -> None:
        """A replay notes new messages of a set that is being ingested, and commits only after the ingestion has completed: what it left
        behind is a stored trigger and nothing else."""
        stage = self.stage
        producer.add(stage.conn, talk(name, 11, 12))
        ingest = self.take(KIND, "organisation", "good") or self.again(KIND, "organisation")
        replay = self.take(SEMANTIC, session, "slow")
        if replay is None:
            return
        with stage.db.connect() as gate, gate.transaction():
            gate.execute("lock table applied in share mode")
            running = stage.start(replay)
            wait_for(
                lambda: (
                    running.done()
                    or stage.value("select exists (select from pg_locks where not granted and relation = 'applied'::regclass)")
                ),
                "the replay at the gate",
            )
            if ingest is not None:
                stage.run(ingest)
        running.result(60)

    def again(self, kind: str, key: str) -> HeldJob | None:
        """The key's job, made for the purpose if there is none."""
        client.enqueue(self.stage.conn, kind, key)
        return self.take(kind, key, "good")

    def late_commit(self, session: int, name: str) -> None:
        """Of two producers in one session the first to publish is the last to commit, while the replays are running."""
        stage = self.stage
        producer.add(stage.conn, talk(name, 1, 1))
        replays = [self.take(kind, session, "good") for kind in SUBSYSTEMS]
        with stage.db.connect() as late, late.transaction():
            producer.add(late, talk(name, 2, 2))
            producer.add(stage.conn, talk(name, 3, 3))
            for job in replays:
                if job is not None:
                    stage.run(job)
        stage.work(REPLAYS, but=(KIND,))

    def run(self) -> list[checks.Result]:
        stage = self.stage
        checks.prepare(stage.conn, lease=LEASE, allowance=60, longest=stage.model.longest)
        stage.model.on_drop = self.note_drop

        red = producer.create_session(stage.conn, "red/1")
        self.two_at_it(PROVISION, red)
        for name in ("blue/1", "green/1"):
            producer.create_session(stage.conn, name)
        stage.work(REPLAYS)

        # deleted while it is being provisioned, and made again under the same name
        grey = producer.create_session(stage.conn, "grey/1")
        stage.model.hold()
        running = self.start(PROVISION, grey, "slow")
        producer.delete_session(stage.conn, "grey/1")
        producer.create_session(stage.conn, "grey/1")
        if (delete := self.take(DELETE, grey, "good")) is not None:
            stage.run(delete)
        stage.model.let_go()
        if running is not None:
            running.result(60)
        stage.work(REPLAYS)

        self.late_commit(red, "red/1")
        for name in ("red/1", "blue/1", "green/1"):
            producer.add(stage.conn, talk(name, 4, 10))
        stage.work(REPLAYS, but=(KIND,))
        stage.db.advance(1)
        self.two_at_it(KIND, "organisation")
        self.two_at_it(KIND, "conversation/blue")
        self.killed_at("conversation/red")
        stage.work(60)
        self.trigger_behind_a_completion(red, "red/1")
        stage.work(20)

        producer.delete_session(stage.conn, "green/1")
        stage.work(60)
        checks.note_remote(stage.conn, stage.model)
        return checks.examine(stage.conn)

    def note_drop(self, worker: str) -> None:
        """Nothing else runs now, so whatever is open is the dropper's own."""
        (row,) = self.stage.db.query(
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
            " and (backend_xid is not null or backend_xmin is not null or state like 'idle in transaction%')"
        )
        self.stage.db.query("insert into run.dropping (worker, open, still_open) values (%s, %s, %s)", [worker, row[0], row[0]])
