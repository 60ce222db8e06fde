"""The invariants of the auction: each finds what it is for, in a course that is otherwise right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from agentsim.engine.event import Event
from agentsim.engine.simulate import Simulation
from agentsim.games.auction import GAME
from agentsim.games.auction.bidding import BidMade
from agentsim.games.auction.lots import ItemSold, Paid
from tests.amounts import each_row
from tests.games.auction.auction import FORMATS, play

ITEMS = "Compass 60, Kettle -5"
BIDS = {"A": [30], "B": [40], "C": [20]}


def broken(played: Simulation, change: Callable[[Event], Event] = lambda event: event) -> list[str]:
    """Return what the invariants say of a played auction, whose events are changed first."""
    course = [entry._replace(event=change(entry.event)) for entry in played.log]
    return [str(found) for found in GAME.invariants(course, list("ABC"))]


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("bot", ["random", "truthful", "sniper", "hoarder"])
def test_no_played_auction_breaks_an_invariant(format_: str, bot: str) -> None:
    for seed in range(5):
        played = play("random", {"A": [], "B": [], "C": []}, bot=bot, seed=seed, format=format_, budget=300)
        assert broken(played) == []


def changed(kind: type[Event], **values: object) -> Callable[[Event], Event]:
    """Return a change of the first event of a kind."""
    left = [kind]

    def change(event: Event) -> Event:
        if not left or not isinstance(event, left[0]):
            return event
        left.clear()
        found: Any = event  # the type of `replace` knows no base class whose subclasses are dataclasses
        return replace(found, **values)  # type: ignore[no-any-return] # it has the type of what it is given

    return change


@each_row(
    "format_, kind, values, found",
    [
        ("ascending", ItemSold, {"team": "A"}, "A takes Compass, and B had the highest bid"),
        ("ascending", ItemSold, {"price": 39}, "B takes Compass for 39, and its price is 40"),
        ("sealed_second_price", ItemSold, {"price": 40}, "B takes Compass for 40, and its price is 30"),
        ("all_pay", Paid, {"amount": 29}, "A pays 29, and owes 30"),
        ("ascending", Paid, {"budget": 961}, "B has 961 left of 1000 after it pays 40"),
        ("ascending", BidMade, {"valid": False}, "the bid of 30 by A does not count, with 1000 to spend and a high"),
        (
            "ascending",
            BidMade,
            {"amount": 1_001},
            "the bid of 1001 by A counts, with 1000 to spend and a high bid of 0",
        ),
        ("ascending", BidMade, {"iteration": 11}, "A bids in iteration 11 of at most 10"),
    ],
)
def test_an_invariant_finds(format_: str, kind: type[Event], values: dict[str, object], found: str) -> None:
    played = play(ITEMS, BIDS, ["ACB"] * 9, format=format_)
    assert broken(played) == []
    assert broken(played, changed(kind, **values))[0].startswith(found)


def test_an_invariant_finds_a_payment_that_is_not_made() -> None:
    played = play(ITEMS, BIDS, ["ACB"] * 9)
    course = [entry for entry in played.log if not (isinstance(entry.event, Paid) and entry.event.team == "B")]
    assert "B does not pay 40" in [*GAME.invariants(course, list("ABC"))]
