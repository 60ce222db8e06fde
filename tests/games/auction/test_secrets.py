"""Private values: what a bid that others do not hear is worth changes nothing that they are asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.engine.simulate import Simulation
from agentsim.games.auction.bidding import BidCast, BidMade
from tests.games.auction.auction import play, requests, told

ORDER = ["ABC", "CAB", "BCA", "ABC", "CBA"]
ITEMS = "Compass 60, Kettle -5"


def _asked(played: Simulation, team: str) -> list[str]:
    return [json.dumps([request.to_json(), request.prompt().text()]) for request in requests(played, team)]


def _heard(played: Simulation, team: str) -> list[str]:
    events = [entry.event for entry in played.log if entry.heard_by(team)]
    return [json.dumps([event.data(), event.heading, event.content]) for event in events]


def _with(bid: int | None, place: int = 1, **config: Any) -> Simulation:
    """A game in which B makes this bid at that place, against a high bid of 30 of its 100."""
    bids: list[int | None] = [0, 0, 0]
    bids[place] = bid
    return play(ITEMS, {"A": [30], "B": bids, "C": [10, 0, 0]}, ORDER, budget=100, **config)


@pytest.mark.parametrize("place", [0, 1, 2], ids=["first iteration", "second", "next item"])
@pytest.mark.parametrize(
    ("one", "other"),
    [(101, 10**17), (101, 0), (777, None), (0, None)],
    ids=["over budget, and more so", "over budget, or a pass", "over budget, or unreadable", "a pass, or unreadable"],
)
def test_a_bid_that_does_not_count_is_the_same_to_others_whatever_it_was(
    one: int | None, other: int | None, place: int
) -> None:
    first, second = _with(one, place), _with(other, place)
    assert first.log != second.log, "it is in the log, or this would prove nothing"
    for team in "AC":
        assert _asked(first, team) == _asked(second, team)
        assert _heard(first, team) == _heard(second, team)


def test_a_bid_too_low_is_the_same_to_others_as_a_lower_one() -> None:
    first, second = _with(29), _with(3)
    assert first.log != second.log
    for team in "AC":
        assert (_asked(first, team), _heard(first, team)) == (_asked(second, team), _heard(second, team))


def test_one_that_counts_is_not_the_same() -> None:
    """The tests above can fail."""
    assert _asked(_with(40), "A") != _asked(_with(41), "A")
    assert _heard(_with(40), "A") != _heard(_with(41), "A")


@pytest.mark.parametrize("format_", ["sealed_first_price", "sealed_second_price"])
def test_a_losing_sealed_bid_that_sets_no_price_is_the_same_to_others_whatever_it_was(format_: str) -> None:
    first, second = (
        play(ITEMS, {"A": [50], "B": [low], "C": [40]}, ["BCA", "ABC"], format=format_, budget=100) for low in (7, 39)
    )
    assert first.log != second.log
    for team in "AC":
        assert (_asked(first, team), _heard(first, team)) == (_asked(second, team), _heard(second, team))


def test_reasoning_changes_nothing_that_others_hear() -> None:
    def game(words: str) -> Simulation:
        return play(bids={"A": [], "B": []}, bot=lambda request, rng: BidCast(bid=5, reasoning=words), order=["AB"])

    first, second = game("I bluff"), game("I mean it")
    assert _asked(first, "B") == _asked(second, "B")
    assert "bluff" not in "".join(_asked(first, "A"))
    heard = [line for line in _heard(first, "B") if "bluff" in line]
    assert all(json.loads(line)[0]["team"] == "B" for line in heard)
    assert heard


def test_every_private_bid_is_heard_by_its_own_team() -> None:
    for entry in told(_with(101), BidMade):
        bid = entry.event.data()
        assert entry.heard_by(bid["team"])
        assert bid["valid"] or entry.to == (bid["team"],)
