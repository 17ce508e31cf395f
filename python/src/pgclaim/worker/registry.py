"""Which function handles which kind, and what a handler may raise."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from ..calls import seconds
from ..errors import BadArgument
from ..job import Interval, to_interval

Function = TypeVar("Function", bound=Callable[..., Any])


class Snooze(Exception):
    """Give the job back without counting an attempt; `progress=True`: a batch is done and more remains."""

    def __init__(self, delay: Interval = 0, progress: bool = False) -> None:
        super().__init__(f"snoozed for {delay}")
        self.delay, self.progress = delay, progress


class Fail(Exception):
    """Fail the attempt with this message; `final=True`: it is not tried again."""

    def __init__(
        self, message: str = "failed by its handler", *, final: bool = False, retry_in: Interval | None = None
    ) -> None:
        super().__init__(message)
        self.final, self.retry_in = final, retry_in


@dataclass(frozen=True)
class Handler:
    function: Callable[..., Any]
    timeout: float
    is_async: bool


class Registry:
    """The handlers of one worker. It claims these kinds and no others."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}

    def handler(self, kind: str, *, timeout: Interval = timedelta(hours=1)) -> Callable[[Function], Function]:
        """Register a `def` or `async def`; after `timeout` its job is failed and no longer extended."""
        to_interval("timeout", timeout)
        if seconds(timeout) <= 0:
            raise BadArgument(f"timeout must be longer than 0, not {timeout}")

        def register(function: Function) -> Function:
            if kind in self.handlers:
                raise BadArgument(f"kind {kind!r} has a handler already")
            is_async = inspect.iscoroutinefunction(function)
            self.handlers[kind] = Handler(function, seconds(timeout), is_async)
            return function

        return register
