"""A local HTTP server where the language model stands: slow, sometimes failing, sometimes hanging, and it counts.

What happens to a call depends on the message and on how often it was asked before, not on chance or on the time.
`hold()` keeps every answer back until `let_go()`, so that a test can stop or kill a worker in the middle of a round.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Round(NamedTuple):
    """Who asks: a worker, in its claim number `epoch` of a set."""

    worker: str
    set_id: str
    epoch: int


class StandIn:
    """Runs from `with` to its end; `url` is where the service sends its calls."""

    def __init__(
        self,
        *,
        latency: float = 0.04,
        failing: float = 0.05,
        hanging: float = 0.01,
        hang: float = 5.0,
        longest: int = 150,
    ) -> None:
        self.latency, self.failing, self.hanging, self.hang, self.longest = (
            latency,
            failing,
            hanging,
            hang,
            longest,
        )
        self.counts: Counter[str] = Counter()
        """calls, answered, failed, hung, refused (too long)."""
        self._asked: Counter[tuple[str, int]] = Counter()
        self._waiting: Counter[Round] = Counter()
        self._spared: set[Round] = set()
        self._held = self._closed = False
        self._changed = threading.Condition()
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                status, answer = stand_in._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
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
        self.url = f"http://127.0.0.1:{self._server.server_port}/understand"

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

    def let_go(self) -> None:
        """Answer everybody again."""
        with self._changed:
            self._held = False
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

    def _answer(self, call: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        text, message = str(call["text"]), (str(call["set"]), int(call["episode"]))
        round_ = Round(str(call["worker"]), message[0], int(call["epoch"]))
        with self._changed:
            self.counts["calls"] += 1
            self._asked[message] += 1
            lot = lots(*message, self._asked[message])
        time.sleep(self.latency * (0.5 + lots(*message, 0)))
        with self._changed:
            self._waiting[round_] += 1
            self._changed.wait_for(lambda: not self._held or self._closed)
            self._waiting[round_] -= 1
            spared = round_ in self._spared
        if len(text) > self.longest:
            self._count("refused")
            return 413, {"error": f"a message of {len(text)} characters; the model takes {self.longest}"}
        if not spared and lot < self.failing:
            self._count("failed")
            return 500, {"error": "the model is overloaded"}
        if not spared and lot < self.failing + self.hanging:
            self._count("hung")
            with self._changed:
                self._changed.wait_for(lambda: self._closed, self.hang)
        self._count("answered")
        return 200, {
            "digest": hashlib.md5(text.encode()).hexdigest(),
            "words": len(text.split()),
        }

    def _count(self, what: str) -> None:
        with self._changed:
            self.counts[what] += 1


def lots(set_id: str, episode: int, time_asked: int) -> float:
    """The fate of a call, evenly spread over 0 to 1 and always the same."""
    digest = hashlib.sha256(f"{set_id}\n{episode}\n{time_asked}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32
