"""Provenance: what a run says of itself, in its journal's head and in its history's `volatile`. It reads no clock."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import Any

from agentsim import __version__
from agentsim.engine.game import Game
from agentsim.engine.reading import READER_VERSION
from agentsim.history.contents import Contents
from agentsim.scenario.scenario import Scenario

__all__ = ["head_of", "stamp", "volatile_of"]


def head_of(scenario: Scenario, game: Game, name: str, now: datetime) -> dict[str, Any]:
    """The journal's first record of a scenario with a seed."""
    return {
        "game": game.name,
        "rules_version": game.rules_version,
        "reader": READER_VERSION,
        "seed": scenario.seed,
        "name": name,
        "started_at": stamp(now),
        "versions": _versions(),
        "scenario": scenario.identity(),
        "run": scenario.run_part(),
        **({} if scenario.branch is None else {"fork": scenario.branch.record()}),
    }


def volatile_of(scenario: Scenario, contents: Contents, name: str, now: str, wall_s: float) -> dict[str, Any]:
    """The history's `volatile`; `wall_s` are the seconds of all sessions."""
    head = contents.head
    volatile: dict[str, Any] = {
        "name": name,
        "started_at": head["started_at"],
        "finished_at": now,
        "wall_s": round(wall_s, 3),
        "versions": head["versions"],
        "run": _run_part(scenario),
    }
    if contents.replies:
        volatile["replies"] = list(contents.replies)  # who reads that a model said it may want to know when
    if void := contents.void_calls():
        volatile["void_calls"] = void  # they were made, and the undisturbed run's `usage` has none of them
    if contents.structured:
        volatile["structured"] = dict(sorted(contents.structured.items()))
    return volatile


def stamp(moment: datetime) -> str:
    """A moment in UTC, as it is kept."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _run_part(scenario: Scenario) -> Mapping[str, Any]:
    part = scenario.run_part()
    return {"concurrency": part["limits"]["concurrency"], **part}


@cache  # looking one up reads a file
def _versions() -> dict[str, str]:
    names = ("openai", "pydantic", "tenacity")
    return {"agentsim": __version__, "python": platform.python_version(), **{name: version(name) for name in names}}
