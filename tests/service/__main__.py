"""A replica of the service: a worker for every kind, and the purger. LLM_URL and VECTOR_URL say where the remote ends are.

python -m tests.service --dsn … --name replica-1
"""

from __future__ import annotations

import argparse
import logging
import signal

from pgclaim import Worker

from . import ingest, purge, sessions
from .registry import registry

CONSUMERS = (ingest, purge, sessions)
"""Imported, they have registered their handlers."""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.service", description=__doc__)
    add = parser.add_argument
    add("--dsn", required=True)
    add("--name", required=True, help="label in jobs.running and in the logs")
    add("--concurrency", type=int, default=8, help="jobs at one time (default %(default)s)")
    add("--poll", type=float, default=0.5, help="longest sleep, in seconds (default %(default)s)")
    add("--grace", type=float, default=5, help="seconds that SIGTERM leaves to running handlers (default %(default)s)")
    add("--batch", type=int, default=purge.BATCH, help="segments purged in one transaction (default %(default)s)")
    chosen = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    worker = Worker(registry, chosen.dsn, concurrency=chosen.concurrency, poll=chosen.poll, grace=chosen.grace, name=chosen.name)
    purger = purge.Purger(chosen.dsn, chosen.name, poll=chosen.poll, batch=chosen.batch)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: worker.stop())
    purger.start()
    worker.run()
    purger.stop()
    purger.join(chosen.grace)


if __name__ == "__main__":
    main()
