"""Redemption: what a unit is worth to an agent can be had for it, and standings count it so."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from agentsim.games.market.artifacts.redemption import Redeemed
from agentsim.games.market.config import MarketConfig
from agentsim.games.market.turn import Act
from tests.games.market.market import SKIPS, buys, does, play, results, sells

TAILOR: dict[str, Any] = {"agents": [{"ids": ["A"], "values": {"wheat": 30}}]}


def redeems(quantity: int) -> Any:
    return does("redeem", good="wheat", quantity=quantity)


def test_a_unit_is_given_up_for_what_it_is_worth_to_its_agent_who_alone_learns_of_it() -> None:
    played = play({"A": [redeems(4), redeems(7)], "B": [SKIPS, SKIPS]}, **TAILOR)
    assert results(played) == [
        "You are paid 120 for 4 wheat.",
        "You skipped.",
        "Refused: that takes 7 wheat, and you have 6 free",
        "You skipped.",
    ]
    ((told, event),) = [(told.to, told.event) for told in played.log if isinstance(told.event, Redeemed)]
    assert (told, event.paid) == (("A",), 120)
    last = [ask.request for ask in played.asks("A") if isinstance(ask.request, Act)][-1]
    assert (last.now.held["capital"], last.now.held["wheat"]) == (220, 6)


def test_what_is_promised_to_an_order_cannot_be_redeemed() -> None:
    played = play({"A": [sells(50, 8), redeems(3)], "B": []}, **TAILOR)
    assert results(played, "A")[1] == "Refused: that takes 3 wheat, and you have 2 free"


@pytest.mark.parametrize(
    ("config", "a", "b"),
    [
        ({}, {"capital": 400, "wealth": 400}, {"capital": 100, "wealth": 100}),
        ({"redeem": False}, {"capital": 100, "wealth": 100}, {"capital": 100, "wealth": 100}),
    ],
)
def test_standings_count_what_could_be_redeemed(config: Any, a: Any, b: Any) -> None:
    played = play({"A": [], "B": []}, **TAILOR, **config)
    assert {each.player: each.score for each in played.outcome.standings} == {"A": a, "B": b}
    redeemed = play({"A": [redeems(10)], "B": []}, **TAILOR) if not config else played
    assert {each.player: each.score for each in redeemed.outcome.standings} == {"A": a, "B": b}


@pytest.mark.parametrize(("price", "wealth"), [(20, 100 - 20 + 11 * 30), (40, 100 - 40 + 11 * 40)])
def test_wealth_has_a_good_at_its_last_price_or_at_its_worth_whichever_is_more(price: int, wealth: int) -> None:
    played = play({"B": [sells(price)], "A": [buys(price)]}, **TAILOR)
    assert next(each.score for each in played.outcome.standings if each.player == "A")["wealth"] == wealth


def test_only_who_has_something_to_redeem_is_offered_it_and_its_goal_says_that_it_counts() -> None:
    played = play({"A": [SKIPS], "B": [SKIPS]}, **TAILOR)
    acts = {ask.request.player: ask.request for ask in played.asks() if isinstance(ask.request, Act)}
    assert {player: "redeem" in request.names for player, request in acts.items()} == {"A": True, "B": False}
    texts = {player: request.prompt().text() for player, request in acts.items()}
    assert "Goods that you can redeem count at their value to you" in texts["A"]
    assert "selling goods, which do not count at the end" in texts["B"]
    assert "redeem" in texts["A"], "as a trait of its own"
    assert "redeem" not in texts["B"].lower()
    assert "Number of artifacts: 1\n" in texts["A"], "which all have"
    plain = play({"A": [SKIPS], "B": []}, **TAILOR, redeem=False)
    assert "redeem" not in "".join(ask.request.prompt().text() for ask in plain.asks())


def test_redemption_is_not_named_among_the_artifacts() -> None:
    with pytest.raises(ValidationError, match="redemption is there by itself where agents have values"):
        MarketConfig.from_toml({"artifacts": ["marketplace", "redemption"]})
