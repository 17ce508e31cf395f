"""The service's client of its language model: one HTTP call per message."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from dataclasses import dataclass

TIMEOUT = 120.0


class TooLong(Exception):
    """The message does not fit the model: asking again is of no use."""


@dataclass(frozen=True)
class Feature:
    digest: str
    words: int


def understand(set_id: str, episode: int, text: str, *, worker: str | None, epoch: int) -> Feature:
    """Turn a message into a feature. TooLong is for good; any other error may pass."""
    body = {
        "set": set_id,
        "episode": episode,
        "text": text,
        "worker": worker,
        "epoch": epoch,
    }
    request = urllib.request.Request(
        os.environ["LLM_URL"],
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
        method="POST",
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            answer = json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 413:
                raise TooLong(f"{len(text)} characters") from None
            raise
    return Feature(str(answer["digest"]), int(answer["words"]))
