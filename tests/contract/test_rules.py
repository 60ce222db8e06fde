"""What every game promises, whatever the game: the checks that ship with the package, for every game there is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from agentsim import games
from agentsim.engine.event import Event
from agentsim.engine.request import Request
from agentsim.testing import CHECKS
from tests.amounts import amounts
from tests.contract.golden import GOLDEN
from tests.contract.harness import GAMES, case

ELSEWHERE = {"fallbacks_legal", "golden_files", "private_words"}
"""Checks that have a test of their own name, because a promise names it."""
NOTHING = {
    ("auction", "no_control_tokens"),  # no player of an auction reads another's words
    *((game, "warnings_true") for game in ("agent_island", "werewolf")),  # what can be said there, holds
    ("society", "warnings_true"),  # it warns of nothing: what holds is judged when its turn comes
    ("market", "warnings_true"),  # whether an action can be done is for its artifact to say, once it is chosen
    *((game, "laws_hold") for game in ("market", "society")),  # their invariants are those of their states
    *(("prisoners", check) for check in ("laws_hold", "warnings_true")),  # the tutorial's game, which is put in here
}
"""Where a game has nothing of what is looked for."""


def look(name: str, check: str, seeds: int = 3) -> str:
    """The check finds nothing in the game; what it looked at."""
    golden = {"golden": GOLDEN} if (GOLDEN / f"{name}.txt").exists() else {}
    report = CHECKS[check](case(name, seeds), **golden if check == "golden_files" else {})
    assert not report.findings, str(report)
    return report.looked_at


@amounts("seeds", 2, 20)
@pytest.mark.parametrize("check", [check for check in CHECKS if check not in ELSEWHERE])
@pytest.mark.parametrize("name", GAMES)
def test_the_game_passes(name: str, check: str, seeds: int) -> None:
    looked_at = look(name, check, seeds)
    assert looked_at.startswith("nothing") == ((name, check) in NOTHING), "this proved nothing"


@pytest.mark.parametrize("name", GAMES)
def test_every_fallback_is_legal_and_a_function_of_the_request(name: str) -> None:
    look(name, "fallbacks_legal")


def _kinds(base: type[Any]) -> Iterator[type[Any]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)


@pytest.mark.parametrize("name", GAMES)
def test_a_game_lists_every_event_and_request_of_its_package(name: str) -> None:
    """But bases: an event that is told only as one of its subclasses, and a request that others are made of."""
    game = games.find(name)
    package = f"{sys.modules[game.__module__].__package__}."
    events = {kind for kind in _kinds(Event) if kind.__module__.startswith(package) and not kind.is_base}
    requests = {
        kind
        for kind in _kinds(Request)
        if kind.__module__.startswith(package) and hasattr(kind, "answer") and not kind.__subclasses__()
    }
    assert events == set(game.events)
    assert requests == set(game.requests)
