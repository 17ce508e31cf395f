"""The service's client of its vector store. Each call carries the claim's epoch: the store refuses one older than it has seen."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from typing import Any

TIMEOUT = 120.0


class Stale(Exception):
    """A later claim has been here already."""


class NoCollection(Exception):
    """There is no such collection, or it was dropped."""


def create(collection: str, *, worker: str | None, epoch: int) -> None:
    """Make the collection, or find that it is there."""
    _call("create", collection, worker, epoch)


def put(collection: str, vectors: dict[int, str], *, worker: str | None, epoch: int) -> None:
    """Store a vector for each episode; once more is the same."""
    _call("put", collection, worker, epoch, vectors={str(episode): digest for episode, digest in vectors.items()})


def drop(collection: str, *, worker: str | None, epoch: int) -> None:
    """Drop the collection and all that is in it, or find that it is gone."""
    _call("drop", collection, worker, epoch)


def _call(what: str, collection: str, worker: str | None, epoch: int, **more: Any) -> None:
    body = {"collection": collection, "worker": worker, "epoch": epoch, **more}
    request = urllib.request.Request(
        f"{os.environ['VECTOR_URL']}/{what}", json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            response.read()
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 409:
                raise Stale(f"{what} {collection}: epoch {epoch} is older than the store's") from None
            if error.code == 404:
                raise NoCollection(collection) from None
            raise
