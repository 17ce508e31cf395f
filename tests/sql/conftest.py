from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.sql.play import Session
from tests.tools.database import Cluster, Database


@pytest.fixture
def session(db: Database) -> Iterator[Callable[..., Session]]:
    """Makes sessions on the test's database; they are ended before it is dropped."""
    made: list[Session] = []

    def make(**options: Any) -> Session:
        made.append(Session(db, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def own_cluster(cluster_name: str) -> Iterator[Cluster]:
    """A new server for this test alone, without any role or database of ours: the test may stop it."""
    server = Cluster(cluster_name)
    made: list[Database] = []
    create = server.create

    def remember(**options: Any) -> Database:
        made.append(create(**options))
        return made[-1]

    server.create = remember  # type: ignore[method-assign]
    yield server
    for database in made:
        database.close()
    server.remove()
