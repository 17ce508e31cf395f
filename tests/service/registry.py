"""The one list of handlers: every consumer registers its own, a replica runs them all."""

from __future__ import annotations

from pgclaim import Registry

registry = Registry()
