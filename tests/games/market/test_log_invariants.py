"""Invariants of the log: they hold in markets of all kinds, and each is noticed where it is broken."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from agentsim.engine import Event, LoggedEvent, RandomDraw, Request
from agentsim.engine.play import GamePlay
from agentsim.games.market import GAME
from agentsim.games.market.artifacts.call_market import Called
from agentsim.games.market.invariants import invariants
from agentsim.games.market.order_book import Ordered, Traded, Withdrawn
from agentsim.games.market.state import Endowed
from agentsim.games.market.turn import Act
from tests.amounts import each_row
from tests.games.market.market import SMITH, buys, play, sells

MARKETS: dict[str, dict[str, Any]] = {
    "double auction": {"artifacts": ["marketplace", "dialogue", "bank"], "settings": {"marketplace": {"price_max": 9}}},
    "best quotes": {"settings": {"marketplace": {"quotes": "best", "cancel_after_trade": True, "price_max": 9}}},
    "call market": {"artifacts": ["call_market"], "settings": {"call_market": {"price_max": 9}}},
    "prediction market": {"artifacts": ["lmsr"]},
    "redemption": {"agents": [{"ids": ["A", "B"], "values": {"wheat": 30}}]},
    "at once": {"simultaneous": True, "settings": {"marketplace": {"price_max": 9}}},
}


def broken(course: Iterable[LoggedEvent | Request[Any]]) -> list[str]:
    return [each for each in invariants(course, ["A", "B", "C"]) if not isinstance(each, RandomDraw)]


def course_of(config: dict[str, Any], players: Sequence[str], bot: str, seed: int) -> list[LoggedEvent | Request[Any]]:
    """All events of a game, and each question where it is asked."""
    course, run = list[LoggedEvent | Request[Any]](), GamePlay(GAME, GAME.config.from_toml(config), players, seed)
    wave, told = run.start(), 0
    while wave is not None:
        course += [*run.log[told:], *(ask.request for ask in wave.asks)]
        told = len(run.log)
        wave = run.answer([GAME.bots[bot](ask.request, run.bot_rng(ask)) for ask in wave.asks])
    return [*course, *run.log[told:]]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MARKETS)
def test_invariants_hold_in_every_kind_of_market(name: str, seed: int) -> None:
    config = {"stock": {"wheat": 9}, "rounds": 15, **MARKETS[name]}
    assert broken(course_of(config, ["A", "B", "C"], "random", seed)) == []


def test_invariants_hold_in_an_experiment() -> None:
    table = {"kind": "smith_1962", **SMITH, "periods": 2}
    config = {"experiment": table, "queries": False, "briefing": False}
    assert broken(course_of(config, [f"T{number}" for number in range(22)], "zi_c", 1)) == []


PLAYED = play({"A": [sells(6, 2)], "B": [sells(5, 2)], "C": [buys(7, 3)]}, order=["ABC"])
"""Two asks, of which the bid takes the lower one first."""
ACT: Any = next(ask.request for ask in PLAYED.asks("A") if isinstance(ask.request, Act))


def changed(kind: type[Event], **fields: Any) -> list[LoggedEvent]:
    """The events of that market with other fields in the first one of a kind."""
    log = list(PLAYED.log)
    at = next(index for index, told in enumerate(log) if isinstance(told.event, kind))
    event: Any = log[at].event
    log[at] = log[at]._replace(event=replace(event, **fields))
    return log


@each_row(
    "kind, fields, problem",
    [
        (Traded, {"price": 7}, "orders at 5 and 7 trade at 7"),
        (Traded, {"resting": 1, "seller": "A", "price": 6}, "order 1 trades before order 2"),
        (Traded, {"quantity": 3}, "order 2 trades 3 of 2"),
        (Traded, {"seller": "C"}, "C trades with itself"),
        (Ordered, {"standing": 0}, "order 1 trades 1 of 0"),
        (Endowed, {"holdings": {"capital": 100, "wheat": 0}}, "A gives 1 wheat, and has 0"),
    ],
)
def test_a_broken_invariant_is_noticed(kind: type[Event], fields: dict[str, Any], problem: str) -> None:
    assert broken(PLAYED.log) == []
    assert problem in broken(changed(kind, **fields))


def test_an_order_that_was_withdrawn_does_not_trade() -> None:
    log = list(PLAYED.log)
    at = next(index for index, told in enumerate(log) if isinstance(told.event, Traded))
    gone = Withdrawn(2, "B", "wheat", "sell", 5, 2, sealed=False, why="cancelled")
    log.insert(at, log[at]._replace(event=gone))
    assert "order 2 trades 2 of 0" in broken(log)


def test_agents_are_told_of_what_they_hold() -> None:
    at = next(index for index, told in enumerate(PLAYED.log) if isinstance(told.event, Ordered))
    for capital, found in ((100, []), (99, ["A is told of 99 capital, and has 100"])):
        asked = replace(ACT, now=replace(ACT.now, held={**ACT.now.held, "capital": capital}))
        assert broken([*PLAYED.log[:at], asked, *PLAYED.log[at:]]) == found


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"price": 9}, "wheat is called at 9, and 4 to 6 clears it"),
        ({"quantity": 4}, "4 wheat are called, 3 wanted and 5 offered"),
    ],
)
def test_a_call_at_a_wrong_price_or_of_too_much_is_noticed(fields: dict[str, Any], problem: str) -> None:
    called = Called(1, "wheat", 5, 3, 4, 6, 3, 5)
    told = PLAYED.log[-1]
    assert broken([told._replace(event=called)]) == []
    assert broken([told._replace(event=replace(called, **fields))]) == [problem]
