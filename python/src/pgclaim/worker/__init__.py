"""Runs handlers of registered kinds: `pgclaim work module:registry`."""

from .held import AsyncHeldJob, HeldJob
from .registry import Fail, Handler, Registry, Snooze
from .worker import Worker

__all__ = ["AsyncHeldJob", "Fail", "Handler", "HeldJob", "Registry", "Snooze", "Worker"]
