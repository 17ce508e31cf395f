"""Opens psql on a fresh server with the schema installed; everything is gone when psql ends."""

from __future__ import annotations

import subprocess
import sys

from tests.tools.database import Cluster


def main(name: str) -> int:
    """Start the server of that name and hand the terminal to psql."""
    cluster = Cluster(name)
    try:
        database = cluster.create(name="pgclaim")
        print(f"PostgreSQL {cluster.major} ({name}), schema jobs installed. Try: select * from jobs.overview; \\df+ jobs.*")
        print(f"From another terminal: export PGHOST={cluster.host} PGUSER={cluster.user} PGDATABASE={database.name}", flush=True)
        return subprocess.run([cluster.bin / "psql", "-X", "-d", database.dsn], check=False).returncode
    finally:
        cluster.remove()


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["embedded"])))
