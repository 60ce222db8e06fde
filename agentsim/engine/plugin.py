"""Loads what an entry point of another distribution offers, or names the distribution in an error.

Callers look for the entry points.
"""

from __future__ import annotations

from typing import Any, Protocol

from agentsim.errors import ScenarioError

__all__ = ["EntryPoint", "plugged"]


class EntryPoint(Protocol):
    """As `importlib.metadata` has it."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def dist(self) -> Any: ...
    def load(self) -> Any: ...


def plugged(entry: EntryPoint, kind: type) -> Any:
    """What an entry point leads to; `ScenarioError` where that fails, or is no such `kind` of thing of that name."""
    of = "" if entry.dist is None else f" of {entry.dist.name} {entry.dist.version}"
    where = f"{entry.name}{of} ({entry.value})"
    try:
        found = entry.load()
    except (Exception, SystemExit) as error:  # its author's code may raise anything, and must not end the program
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise ScenarioError(f"{where} cannot be loaded: {problem}") from error
    parts = dict.fromkeys(part for part in (*kind.__annotations__, *vars(kind)) if not part.startswith("_"))
    if missing := [part for part in parts if not hasattr(found, part)]:
        raise ScenarioError(f"{where} is no {kind.__name__.lower()}: it has no {', '.join(missing)}")
    if found.name != entry.name:
        raise ScenarioError(f"{where} calls itself {str(found.name)[:40]!r}")
    return found
