"""Runs the pgTAP files under pgtap/ by pg_prove, on both servers at the same time.

Each server gets one database with the schema and pgTAP (in schema `tap`), and its files run one after the other:
some of them replace jobs.clock() inside their transaction.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.tools.database import NAMES, ROOT, Cluster, Database, debian_bin


def plain_pgtap() -> Path:
    """Debian's plain SQL file of pgTAP, for a server that has no package of its own."""
    extensions = Path("/usr/share/postgresql") / debian_bin().parent.name / "extension"
    plain = extensions / "pgtap.sql"
    if plain.exists():
        return plain
    whole = [path for path in extensions.glob("pgtap--*.sql") if path.stem.count("--") == 1]
    if not whole:
        raise RuntimeError(f"no pgTAP in {extensions}: run `make setup`")
    return max(whole, key=lambda path: [int(part) for part in path.stem.split("--")[1].split(".")])


def prepare(cluster: Cluster) -> Database:
    """A database with the schema and pgTAP, both found as on any other server."""
    database = cluster.create(name="pgtap")
    database.psql("create schema tap; grant usage on schema tap to public;")
    if cluster.name == "debian":
        database.psql("create extension pgtap schema tap;")
    else:
        load = plain_pgtap().read_text().replace("\\echo", "-- echo")
        database.psql(f"set search_path = tap;\n{load}")
    database.psql("alter database pgtap set search_path = tap, public;")
    return database


def run(name: str, files: list[Path]) -> tuple[int, str]:
    """Run the files on one server: pg_prove's exit code and what it printed."""
    cluster = Cluster(name)
    try:
        database = prepare(cluster)
        done = subprocess.run(
            [
                *("pg_prove", "--norc", "--failures", "--comments", "--nocolor", "--ext", ".sql"),
                *("--psql-bin", str(cluster.bin / "psql")),
                *("-h", cluster.host, "-p", str(cluster.port), "-U", cluster.user, "-d", database.name),
                *(str(path) for path in files),
            ],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        title = f"-- pgTAP on {name}, PostgreSQL {cluster.major}: {len(files)} files"
        return done.returncode, f"{title}\n{done.stdout}"
    finally:
        cluster.remove()


def main(chosen: list[str]) -> int:
    """Run every file, or those of the paths given; non-zero when one of them failed on one of the servers."""
    roots = [Path(path).resolve() for path in chosen] or [ROOT / "pgtap"]
    found = sorted({path for root in roots for path in ([root] if root.is_file() else root.rglob("*.sql"))})
    if not found:
        print(f"no pgTAP files in {chosen}")
        return 1
    files = [path.relative_to(ROOT) for path in found]
    worst = 0
    with ThreadPoolExecutor() as threads:
        for code, output in threads.map(lambda name: run(name, files), NAMES):
            print(output, flush=True)
            worst = max(worst, code)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
