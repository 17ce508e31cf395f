"""The command line: install, uninstall, status, enqueue, work, version.

The database is `--dsn`, else DATABASE_URL, else libpq's own variables (PGHOST, PGDATABASE, …).
"""

from __future__ import annotations

import importlib
import json
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import psycopg
import typer
from rich.console import Console
from rich.table import Table

from . import client, installer
from .errors import PgclaimError
from .worker import Registry, Worker

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
Dsn = Annotated[str, typer.Option(envvar="DATABASE_URL", help="libpq connection string or URI")]


def _stop(message: object) -> NoReturn:
    typer.echo(f"pgclaim: {message}", err=True)
    raise typer.Exit(1)


@contextmanager
def _readable_errors() -> Iterator[None]:
    try:
        yield
    except (PgclaimError, psycopg.Error, OSError) as error:
        _stop(str(error).strip())


@contextmanager
def _connected(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with (
        _readable_errors(),
        psycopg.connect(dsn, application_name="pgclaim", prepare_threshold=None) as conn,
    ):
        conn.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        yield conn


@app.command()
def install(dsn: Dsn = "") -> None:
    """Install or upgrade schema jobs."""
    with _readable_errors():
        installer.install(dsn, lambda text: typer.echo(text, err=True))
    with _connected(dsn) as conn:
        typer.echo(f"schema jobs is at version {client.version(conn)}")


@app.command()
def uninstall(dsn: Dsn = "", yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False) -> None:
    """Remove schema jobs and every job in it."""
    if not yes:
        typer.confirm("Remove schema jobs and every job in it?", abort=True)
    with _readable_errors():
        installer.uninstall(dsn, lambda text: typer.echo(text, err=True))


@app.command()
def status(
    dsn: Dsn = "", as_json: Annotated[bool, typer.Option("--json", help="one JSON array")] = False
) -> None:
    """One line per kind: what is due, running, failed."""
    with _connected(dsn) as conn:
        rows = client.overview(conn)
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table("kind", "due", "scheduled", "running", "expired", "failed", "oldest due", "paused")
    for row in rows:
        age = "" if row["oldest_due_age"] is None else f"{row['oldest_due_age']:.0f} s"
        counts = [str(row[name]) for name in ("due", "scheduled", "running", "expired", "failed")]
        table.add_row(row["kind"], *counts, age, "yes" if row["paused"] else "")
    Console().print(table)


@app.command()
def enqueue(
    kind: str,
    payload: Annotated[str | None, typer.Argument(help="JSON")] = None,
    key: Annotated[str | None, typer.Option()] = None,
    delay: Annotated[float | None, typer.Option(help="seconds")] = None,
    priority: Annotated[int | None, typer.Option()] = None,
    on_conflict: Annotated[str, typer.Option()] = "reset",
    dsn: Dsn = "",
) -> None:
    """Enqueue one job; prints its id and the outcome."""
    try:
        value = None if payload is None else json.loads(payload)
    except ValueError as error:
        _stop(f"the payload is not JSON: {error}")
    with _connected(dsn) as conn:
        job = client.enqueue(conn, kind, key, value, delay=delay, priority=priority, on_conflict=on_conflict)
    typer.echo(f"{job.id} {job.outcome}")


@app.command()
def work(
    registry: Annotated[str, typer.Argument(help="module:name of a pgclaim.Registry")],
    dsn: Dsn = "",
    concurrency: Annotated[int, typer.Option(help="jobs at one time")] = 10,
    lease: Annotated[float | None, typer.Option(help="seconds; default: the kind's")] = None,
    heartbeat: Annotated[float | None, typer.Option(help="seconds; default: a third of the lease")] = None,
    poll: Annotated[float, typer.Option(help="longest sleep, in seconds")] = 0.5,
    grace: Annotated[float, typer.Option(help="seconds that SIGTERM leaves to running handlers")] = 10,
    name: Annotated[str | None, typer.Option(help="label shown in jobs.running")] = None,
    pool_size: Annotated[int | None, typer.Option(help="connections for handlers' transactions")] = None,
    drain: Annotated[bool, typer.Option("--drain", help="end when no job is due")] = False,
) -> None:
    """Run handlers until SIGTERM or SIGINT (a second one does not wait for them)."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    with _readable_errors():
        worker = Worker(
            _registry(registry),
            dsn,
            concurrency=concurrency,
            lease=lease,
            heartbeat=heartbeat,
            poll=poll,
            grace=grace,
            name=name,
            pool_size=pool_size,
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: worker.stop())
        worker.run(drain)
    typer.echo(" ".join(f"{what}={count}" for what, count in sorted(worker.counts.items())), err=True)


@app.command()
def version(dsn: Dsn = "", offline: Annotated[bool, typer.Option("--offline")] = False) -> None:
    """The versions of the package and of the installed schema."""
    from . import __version__

    typer.echo(f"package {__version__}")
    if not offline:
        with _connected(dsn) as conn:
            typer.echo(f"schema {client.version(conn)}")


def _registry(path: str) -> Registry:
    module, _, name = path.partition(":")
    sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), name or "registry")
    except (ImportError, AttributeError) as error:
        _stop(f"{path}: {error}")
    if not isinstance(found, Registry):
        _stop(f"{path} is not a pgclaim.Registry")
    return found
