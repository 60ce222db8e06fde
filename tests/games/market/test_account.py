"""An account of its own, from what was told alone, comes to the capital that the game ends with."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from agentsim.engine.simulate import simulate
from agentsim.games.market import GAME
from agentsim.games.market.artifacts.redemption import Redeemed
from agentsim.games.market.state import Endowed, MarketEnded
from agentsim.games.market.world import Trade, Transferred

MARKETS: dict[str, dict[str, Any]] = {
    "double auction": {"artifacts": ["marketplace", "dialogue"], "settings": {"marketplace": {"price_max": 12}}},
    "call market": {"artifacts": ["call_market"]},
    "goods that are redeemed": {"artifacts": ["marketplace"], "agents": [{"ids": ["A", "B"], "values": {"wheat": 30}}]},
}


def moves(event: Any) -> list[tuple[str, str, int]]:
    """The changes of holdings by an event: who, of what, how much."""
    match event:
        case Endowed():
            return [(event.agent, asset, amount) for asset, amount in event.holdings.items()]
        case Trade():
            price = event.price * event.quantity
            return [
                (event.buyer, "capital", -price),
                (event.seller, "capital", price),
                (event.buyer, event.good, event.quantity),
                (event.seller, event.good, -event.quantity),
            ]
        case Transferred():
            return [(event.giver, event.asset, -event.amount), (event.taker, event.asset, event.amount)]
        case Redeemed():
            gained = event.value * event.quantity
            return [(event.agent, event.good, -event.quantity), (event.agent, "capital", gained)]
    return []


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", MARKETS)
def test_what_was_told_accounts_for_all_capital_and_goods(name: str, seed: int) -> None:
    config: dict[str, Any] = {"goods": ["wheat"], "stock": {"wheat": 9}, "rounds": 15, **MARKETS[name]}
    played = simulate(GAME, config, ["A", "B", "C", "D"], bot="random", seed=seed)
    held = Counter[tuple[str, str]]()
    for told in played.log:
        for who, asset, amount in moves(told.event):
            held[who, asset] += amount
            assert who.startswith("@") or held[who, asset] >= 0, told.event
    worth = {who: 30 for each in config.get("agents", []) for who in each["ids"]}  # of wheat that can be redeemed
    (ended,) = (told.event for told in played.log if isinstance(told.event, MarketEnded))
    expected = {who: held[who, "capital"] + held[who, "wheat"] * worth.get(who, 0) for who in "ABCD"}
    assert {result.agent: result.capital for result in ended.results} == expected
    assert any(isinstance(told.event, Trade) for told in played.log), "or nothing was accounted for"
