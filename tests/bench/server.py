"""The servers that are measured: fsync on, on a disk, autovacuum as it comes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psycopg

from tests.tools.database import INSTALL, Cluster

SETTINGS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "autovacuum": "on",
    "shared_buffers": "512MB",
    "max_wal_size": "4GB",
}


def start(name: str) -> Cluster:
    """A server named debian or embedded whose files lie on a disk (TMPDIR chooses another one)."""
    return Cluster(name, SETTINGS, Path(os.environ.get("TMPDIR", tempfile.gettempdir())))


def fresh(cluster: Cluster, dbname: str) -> str:
    """A new database with the schema installed; its connection string."""
    cluster.psql("postgres", f"create database {dbname}")
    cluster.psql(dbname, "-q", "-v", "ON_ERROR_STOP=1", "-f", str(INSTALL))
    return cluster.dsn(dbname)


def connect(dsn: str) -> psycopg.Connection:
    """A connection in autocommit; every statement is prepared at its first use and its plan is kept."""
    link = psycopg.connect(dsn, autocommit=True, prepare_threshold=0)
    link.execute("set plan_cache_mode = force_generic_plan")
    return link
