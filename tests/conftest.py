"""Servers and databases for the tests. Each pytest process starts its own pair of servers, when first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.tools.database import NAMES, Cluster, Database


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--pg",
        choices=NAMES,
        default=None,
        help="run on this server only (default: on both)",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "cluster_name" in metafunc.fixturenames:
        only = metafunc.config.getoption("--pg")
        metafunc.parametrize("cluster_name", [only] if only else NAMES, scope="session")


@pytest.fixture(scope="session")
def clusters() -> Iterator[Callable[[str], Cluster]]:
    """Gives the server of that name, started at its first use and kept for the whole run."""
    running: dict[str, Cluster] = {}

    def get(name: str) -> Cluster:
        if name not in running:
            running[name] = Cluster(name)
        return running[name]

    yield get
    for cluster in running.values():
        cluster.remove()


@pytest.fixture(scope="session")
def cluster(cluster_name: str, clusters: Callable[[str], Cluster]) -> Cluster:
    """The server under test: every test that uses it runs once on each. A test that stops it starts it again."""
    return clusters(cluster_name)


@pytest.fixture
def db(cluster: Cluster) -> Iterator[Database]:
    """A database of this test's own with the schema installed."""
    database = cluster.create()
    yield database
    database.drop()


@pytest.fixture
def empty_db(cluster: Cluster) -> Iterator[Database]:
    """A database of this test's own with nothing in it."""
    database = cluster.create(schema=False)
    yield database
    database.drop()
