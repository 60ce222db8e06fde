"""The checks of `agentsim check` on every game."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentsim import games
from agentsim.engine.event import Event
from agentsim.engine.game import bots_of
from agentsim.engine.request import Request
from agentsim.testing import CHECKS
from tests.amounts import amounts
from tests.contract.golden import GOLDEN
from tests.contract.harness import GAMES, alone, case

ELSEWHERE = {"fallbacks_legal", "golden_files", "private_words", "same_process"}
"""The checks that have a test of their own: a promise in docs/promises.md names it, or one call examines all games."""
OF_ALL = {"games_end", "leaves_shown"}
"""The checks for which a game shows something in some of its scenarios only."""
NOTHING = {
    ("auction", "no_control_tokens"),  # players of an auction never read each other's texts
    *((game, "warnings_true") for game in ("agent_island", "werewolf")),  # all actions that can be read are legal there
    ("society", "warnings_true"),  # legality is checked later, at the agent's turn
    ("market", "warnings_true"),  # the artifact decides after the choice whether an action is possible
    ("society", "invariants_hold"),  # its state checks the invariants
    *(("prisoners", check) for check in ("invariants_hold", "warnings_true")),  # the game of the tutorial
}
"""The checks that find nothing to look at in a game."""


def look(name: str, check: str, seeds: int = 3, *, others: bool = True) -> str:
    """Run a check, which must find nothing, and return what it looked at; without `others` in `tiny.toml` alone."""
    golden = {"golden": GOLDEN} if (GOLDEN / f"{name}.txt").exists() else {}
    report = CHECKS[check](
        case(name, seeds) if others else alone(name, seeds), **golden if check == "golden_files" else {}
    )
    assert not report.findings, str(report)
    return report.looked_at


@amounts("seeds", 2, 4)
@pytest.mark.parametrize("check", [check for check in CHECKS if check not in ELSEWHERE])
@pytest.mark.parametrize("name", GAMES)
def test_the_game_passes(name: str, check: str, seeds: int) -> None:
    looked_at = look(name, check, seeds, others=seeds > 2 or check in OF_ALL)
    assert looked_at.startswith("nothing") == ((name, check) in NOTHING), "this proved nothing"


@amounts("others", False, True)
def test_every_game_is_the_same_in_another_process(others: bool) -> None:
    """All games are played in one pair of processes, as scenarios of one case."""
    scenarios = [
        replace(each, tiny=Path(f"{name}_{each.name}"), partial=True)
        for name in GAMES
        for each in (case(name), *(case(name).others if others else ()))
    ]
    report = CHECKS["same_process"](replace(case(GAMES[0]), others=tuple(scenarios)))
    assert not report.findings, str(report)
    least = sum(3 + len(bots_of(each.game)) for each in scenarios)
    assert report.looked_at == f"{least + 3 + len(bots_of(case(GAMES[0]).game))} games"


@pytest.mark.parametrize("name", GAMES)
def test_every_fallback_is_legal_and_a_function_of_the_request(name: str) -> None:
    look(name, "fallbacks_legal")


def _kinds(base: type[Any]) -> Iterator[type[Any]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)


@pytest.mark.parametrize("name", GAMES)
def test_a_game_lists_every_event_and_request_of_its_package(name: str) -> None:
    """The exceptions are bases: an event that is told only as its subclasses, and a request that others derive from."""
    game = games.find(name)
    package = f"{sys.modules[game.__module__].__package__}."
    events = {kind for kind in _kinds(Event) if f"{kind.__module__}.".startswith(package) and not kind.is_base}
    requests = {
        kind
        for kind in _kinds(Request)
        if f"{kind.__module__}.".startswith(package) and hasattr(kind, "answer") and not kind.__subclasses__()
    }
    assert events == set(game.events)
    assert requests == set(game.requests)
