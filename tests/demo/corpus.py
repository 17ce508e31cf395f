"""Real input: the dialogues of PyPI's chatterbot-corpus, or a JSON Lines file."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from tests.service.producer import Episode


class BadInput(Exception):
    """The input cannot be used; the message says where."""


def load(path: str | None) -> list[Episode]:
    """All episodes of the file, or of the corpus when there is none, in order."""
    episodes = list(of_file(Path(path)) if path else of_corpus())
    if not episodes:
        raise BadInput(f"{path or 'the corpus'} holds no episode")
    return sorted(episodes, key=lambda episode: (episode.session, episode.position))


def of_corpus() -> Iterable[Episode]:
    """A category of a language is a session, an utterance an episode; speakers alternate."""
    spec = importlib.util.find_spec("chatterbot_corpus")
    if spec is None or not spec.submodule_search_locations:
        raise BadInput("the package chatterbot-corpus is not installed: run `make setup`, or give a file by INPUT")
    for path in sorted(Path(spec.submodule_search_locations[0]).glob("data/*/*.yml")):
        content = yaml.load(
            path.read_text(encoding="utf-8"),
            getattr(yaml, "CSafeLoader", yaml.SafeLoader),
        )
        language, position = path.parent.name, 0
        for dialogue in content.get("conversations") or []:
            for turn, utterance in enumerate(dialogue if isinstance(dialogue, list) else [dialogue]):
                position += 1
                yield Episode(
                    f"{language}/{path.stem}",
                    position,
                    f"{language} {'AB'[turn % 2]}",
                    str(utterance),
                )


def of_file(path: Path) -> Iterable[Episode]:
    """One line per episode: {"session", "position", "speaker", "text", "at"}."""
    seen: dict[tuple[str, int], int] = {}
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                episode = of_line(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise BadInput(f"{path}, line {number}: not an episode: {error!r}") from error
            place = (episode.session, episode.position)
            if place in seen:
                raise BadInput(f"{path}, line {number}: session and position as in line {seen[place]}")
            seen[place] = number
            yield episode


def of_line(value: Any) -> Episode:
    if not isinstance(value, dict):
        raise TypeError("not an object")
    at = value.get("at")
    texts = [
        str(value["session"]),
        str(value["speaker"]),
        str(value["text"]),
        "" if at is None else str(at),
    ]
    for text in texts:
        if "\0" in text:
            raise ValueError("a text with a NUL character, which PostgreSQL cannot store")
        text.encode("utf-8")
    return Episode(texts[0], int(value["position"]), texts[1], texts[2], texts[3] or None)


def part(episodes: list[Episode], most: int) -> list[Episode]:
    """At most so many episodes, as evenly from the conversations as it goes, but at least twenty of each that is taken."""
    conversations = [list(group) for _, group in groupby(episodes, key=lambda episode: episode.session.split("/")[0])]
    share = max(20, -(-most // len(conversations)))
    taken = [episode for conversation in conversations for episode in conversation[:share]]
    return taken[:most]


FEWEST = 5
"""Episodes: with fewer there is no middle to kill a replica in."""


def adds(episodes: list[Episode]) -> list[list[Episode]]:
    """What is added together: up to five episodes of one session, the sessions taking turns. At least five adds."""
    if len(episodes) < FEWEST:
        raise BadInput(f"{len(episodes)} episodes are too few for the demo: it takes {FEWEST}")
    size = min(5, len(episodes) // FEWEST)
    chunks: list[tuple[int, list[Episode]]] = []
    for _, group in groupby(episodes, key=lambda episode: episode.session):
        session = list(group)
        chunks += [(turn, session[start : start + size]) for turn, start in enumerate(range(0, len(session), size))]
    return [chunk for _, chunk in sorted(chunks, key=lambda pair: pair[0])]
