"""A local HTTP server where the language model and the vector store stand: slow, sometimes failing, sometimes hanging, and it counts.

What happens to a call depends on the seed, on what is asked and on how often it was asked before, not on chance or on the time.
`hold()` keeps every answer back until `let_go()`, so that a test can stop or kill a worker in the middle of a round.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Round(NamedTuple):
    """Who asks: a worker, in its claim number `epoch` of a set (or of a collection)."""

    worker: str
    set_id: str
    epoch: int


@dataclass
class Collection:
    """What the vector store holds under a name, and the newest claim it has heard of there."""

    epoch: int = 0
    made: bool = False
    vectors: dict[int, str] = field(default_factory=dict)


Answer = tuple[int, dict[str, Any]]


class StandIn:
    """Runs from `with` to its end; `environment` says where the service sends its calls.

    `on_drop` is called before a collection is dropped, with the worker's name: what it sees there is the caller's to note.
    """

    def __init__(
        self,
        *,
        latency: float = 0.04,
        failing: float = 0.05,
        hanging: float = 0.01,
        hang: float = 5.0,
        longest: int = 150,
        seed: int = 0,
        on_drop: Callable[[str], None] | None = None,
    ) -> None:
        self.latency, self.failing, self.hanging, self.hang, self.longest = (
            latency,
            failing,
            hanging,
            hang,
            longest,
        )
        self.seed, self.on_drop = seed, on_drop
        self.counts: Counter[str] = Counter()
        """calls (of the model), answered, failed, hung, refused (too long); vector calls, stale, missing."""
        self.collections: dict[str, Collection] = {}
        self._asked: Counter[tuple[str, str]] = Counter()
        self._waiting: Counter[Round] = Counter()
        self._spared: set[Round] = set()
        self._let_go: set[str] = set()
        self._held = self._closed = False
        self._changed = threading.Condition()
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, answer = stand_in._answer(self.path.removeprefix("/"), call)
                body = json.dumps(answer).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True  # the caller was killed

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: Any, client_address: Any) -> None:
                stand_in._count("broken")  # the caller was killed before it had asked

        self._server = Server(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self._server.server_port}"
        self.url = f"{self.base}/understand"
        self.environment = {"LLM_URL": self.url, "VECTOR_URL": self.base, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}

    def __enter__(self) -> StandIn:
        threading.Thread(target=self._server.serve_forever, args=(0.1,), name="stand-in", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    # -- for those who watch ----------

    def hold(self) -> None:
        """Answer nobody from now on."""
        with self._changed:
            self._held = True
            self._let_go.clear()

    def let_go(self, worker: str | None = None) -> None:
        """Answer everybody again, or this worker alone."""
        with self._changed:
            if worker is None:
                self._held = False
            else:
                self._let_go.add(worker)
            self._changed.notify_all()

    def waiting(self) -> list[Round]:
        """The rounds whose answer is held back now."""
        with self._changed:
            return [round_ for round_, calls in self._waiting.items() if calls]

    def spare(self, rounds: list[Round]) -> None:
        """Answer these rounds without a fault, so that they surely come to their end."""
        with self._changed:
            self._spared.update(rounds)

    # -- one call ----------

    def _answer(self, what: str, call: dict[str, Any]) -> Answer:
        of_model = what == "understand"
        place = str(call["set"] if of_model else call["collection"])
        item = (f"{what} {place}", str(call["episode"]) if of_model else "")
        round_ = Round(str(call["worker"]), place, int(call["epoch"]))
        with self._changed:
            self.counts["calls" if of_model else "vector calls"] += 1
            self._asked[item] += 1
            lot = self._lots(*item, self._asked[item])
        if what == "drop" and self.on_drop is not None:
            self.on_drop(round_.worker)
        time.sleep(self.latency * (0.5 + self._lots(*item, 0)))
        with self._changed:
            self._waiting[round_] += 1
            self._changed.wait_for(lambda: not self._held or self._closed or round_.worker in self._let_go)
            self._waiting[round_] -= 1
            spared = round_ in self._spared
        if of_model and len(str(call["text"])) > self.longest:
            self._count("refused")
            return 413, {"error": f"a message of {len(str(call['text']))} characters; the model takes {self.longest}"}
        if not spared and lot < self.failing:
            self._count("failed")
            return 500, {"error": "overloaded"}
        # What hangs has had its effect at once, or has it only at the end: as with any remote call, nobody can know.
        hangs = not spared and lot < self.failing + self.hanging
        late = hangs and lot < self.failing + self.hanging / 2
        answer = None if late or of_model else self._store(what, call)
        if hangs:
            self._count("hung")
            with self._changed:
                self._changed.wait_for(lambda: self._closed, self.hang)
        if not of_model:
            return answer or self._store(what, call)
        self._count("answered")
        text = str(call["text"])
        return 200, {"digest": hashlib.md5(text.encode()).hexdigest(), "words": len(text.split())}

    def _store(self, what: str, call: dict[str, Any]) -> Answer:
        """The vector store: it serves nobody who comes with an older epoch than it has seen for this collection."""
        epoch = int(call["epoch"])
        with self._changed:
            collection = self.collections.setdefault(str(call["collection"]), Collection())
            if epoch < collection.epoch:
                self.counts["stale"] += 1
                return 409, {"error": f"epoch {epoch} is older than {collection.epoch}"}
            if what == "put" and not collection.made:
                self.counts["missing"] += 1
                return 404, {"error": "no such collection"}
            collection.epoch = epoch
            if what == "create":
                collection.made = True
            elif what == "drop":
                collection.made = False
                collection.vectors.clear()
            elif what == "put":
                collection.vectors |= {int(episode): str(digest) for episode, digest in call["vectors"].items()}
            else:
                return 400, {"error": f"unknown call {what}"}
            self.counts["answered"] += 1
        return 200, {}

    def _count(self, what: str) -> None:
        with self._changed:
            self.counts[what] += 1

    def _lots(self, what: str, item: str, time_asked: int) -> float:
        """The fate of a call, evenly spread over 0 to 1 and always the same."""
        digest = hashlib.sha256(f"{self.seed}\n{what}\n{item}\n{time_asked}".encode()).digest()
        return int.from_bytes(digest[:4], "big") / 2**32
