"""Runs the pgTAP files under pgtap/ on every server, by pg_prove."""

import subprocess
import sys
from pathlib import Path

from tests.tools.database import Cluster

ROOT = Path(__file__).resolve().parents[2]


def plain_pgtap() -> Path:
    """Debian's plain SQL file of pgTAP, for a server that has no package of its own."""
    return sorted(Path("/usr/share/postgresql").glob("*/extension/pgtap--*.sql"), key=lambda p: len(p.name))[0]


def run(name: str, files: list[Path]) -> int:
    """Runs the files on one server; returns pg_prove's exit code."""
    cluster = Cluster(name)
    try:
        database = cluster.create()
        with database.connect() as conn:
            conn.execute("create schema tap")
            conn.execute("set search_path to tap, public")
            if name == "debian":
                conn.execute("create extension pgtap schema tap")
            else:
                script = plain_pgtap().read_text().replace("\\echo", "--")
                conn.execute(script.encode())
            conn.execute(f'alter database "{database.name}" set search_path to tap, public')
        print(f"-- {name}: PostgreSQL {cluster.major}", flush=True)
        command = ["pg_prove", "-Q", "-h", cluster.host, "-p", str(cluster.port), "-U", cluster.user, "-d", database.name]
        return subprocess.run([*command, *map(str, files)], check=False).returncode
    finally:
        cluster.stop_immediately()
        cluster.remove()


def main(chosen: list[str]) -> int:
    """Runs all files, or those under the paths given, on both servers."""
    roots = [Path(c) for c in chosen] or [ROOT / "pgtap"]
    files = sorted(f for root in roots for f in ([root] if root.is_file() else root.rglob("*.sql")))
    return max(run(name, files) for name in ("debian", "embedded"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
