"""Bots: what each draws its prices from, and that all of them play every market there is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.engine.chance import Stream
from agentsim.games.market.bots import BOTS, _Trader
from agentsim.games.market.order_book import Ordered, Traded
from agentsim.games.market.turn import Act, Remembered, Signal
from tests.amounts import each_row
from tests.games.market.market import buys, play, sells, session


def test_zero_intelligence_draws_from_every_price_at_which_it_cannot_lose_and_from_no_other() -> None:
    played = session("zi_c", buyers=[[4]], sellers=[[7]], price_max=10, periods=1)
    asked = {ask.request.player: ask.request for ask in played.asks() if isinstance(ask.request, Act)}
    drawn: dict[str, set[int]] = {
        player: {
            BOTS["zi_c"](request_, Stream(str(number))).action_parameters["price"]  # type: ignore[attr-defined] # it acts
            for number in range(300)
        }
        for player, request_ in asked.items()
    }
    assert drawn == {"T0": {1, 2, 3, 4}, "T1": {7, 8, 9, 10}}


def test_unconstrained_it_draws_from_all_prices() -> None:
    played = session("zi_u", buyers=[[4]], sellers=[[7]], price_max=10, periods=1)
    request = next(ask.request for ask in played.asks() if isinstance(ask.request, Act))
    drawn = {BOTS["zi_u"](request, Stream(str(number))).action_parameters["price"] for number in range(300)}  # type: ignore[attr-defined] # it acts
    assert drawn == set(range(1, 11))


@pytest.mark.parametrize("bot", BOTS)
@pytest.mark.parametrize("simultaneous", [False, True])
def test_every_bot_plays_every_kind_of_market(bot: str, simultaneous: bool) -> None:
    everything: dict[str, Any] = {
        "goods": ["wheat", "cloth"],
        "stock": {"wheat": 3},
        "artifacts": ["marketplace", "dialogue", "bank"],
        "tools": ["calculator"],
        "agents": [{"ids": ["A"], "values": {"wheat": 9}}],
        "simultaneous": simultaneous,
        "ticker": True,
        "rounds": 6,
        "moderator": [{"round": 2, "question": "Why?"}],
    }
    assert play({"A": [], "B": [], "C": []}, queries={}, bot=bot, **everything).outcome.standings
    assert play({"A": [], "B": []}, queries={}, bot=bot, artifacts=["dialogue"], rounds=3).outcome.standings
    assert session(bot, periods=2, period_rounds=8).outcome.standings
    for name in ("call_market", "lmsr"):
        other: dict[str, Any] = {"artifacts": [name], "rounds": 4, "simultaneous": simultaneous, "redeem": False}
        assert play({"A": [], "B": []}, queries={}, bot=bot, **other).outcome.standings


def test_a_fundamentalist_buys_below_its_value_and_sells_above() -> None:
    values = [{"ids": ["F"], "values": {"wheat": 10}}]
    for first, side in ((sells(8), "buyer"), (buys(13), "seller")):
        played = play({"A": [first], "F": []}, bot="fundamentalist", queries={}, agents=values, rounds=1)
        assert [(getattr(trade, side), trade.price) for trade in played.events(Traded)] == [
            ("F", first.action_parameters["price"])
        ]


def trader(side: Any, limit: int, margin: float) -> _Trader:
    return _Trader(side, limit, margin, change=0.0, rate=0.5, momentum=0.0)


@each_row(
    "side, limit, margin, signal, moves",
    [
        # a trade at a price it would have taken: it could have had more
        ("sell", 100, 0.1, Signal("wheat", "buy", 120, traded=True), "up"),
        ("buy", 100, -0.1, Signal("wheat", "sell", 80, traded=True), "down"),
        # a trade, made by the other side, at a price that it could not match: it must do with less
        ("sell", 100, 0.3, Signal("wheat", "buy", 120, traded=True), "down"),
        ("buy", 100, -0.3, Signal("wheat", "sell", 80, traded=True), "up"),
        # a competitor's quote that nobody took is better than its own
        ("sell", 100, 0.3, Signal("wheat", "sell", 120, traded=False), "down"),
        ("buy", 100, -0.3, Signal("wheat", "buy", 80, traded=False), "up"),
        # a quote of the other side that nobody took, and a competitor's worse one, say nothing
        ("sell", 100, 0.3, Signal("wheat", "buy", 90, traded=False), "stays"),
        ("buy", 100, -0.3, Signal("wheat", "sell", 120, traded=False), "stays"),
        ("sell", 100, 0.1, Signal("wheat", "sell", 120, traded=False), "stays"),
        ("buy", 100, -0.1, Signal("wheat", "buy", 80, traded=False), "stays"),
    ],
)
def test_zip_moves_its_price_as_cliff_says(side: Any, limit: int, margin: float, signal: Signal, moves: str) -> None:
    this = trader(side, limit, margin)
    before = this.price
    this.learn(signal, Stream("luck"), step=1)
    change = this.price - before
    assert {"up": change > 0, "down": change < 0, "stays": change == 0}[moves]


def test_zip_never_quotes_a_loss() -> None:
    low = trader("sell", 100, 0.01)
    high = trader("buy", 100, -0.01)
    for _ in range(50):
        low.learn(Signal("wheat", "sell", 50, traded=False), Stream("luck"), step=1)
        high.learn(Signal("wheat", "buy", 150, traded=False), Stream("luck"), step=1)
    assert (low.price, high.price) == (100, 100)


def test_what_zip_learns_stands_in_its_working_memory() -> None:
    played = session("zip", periods=1)
    memory = {event.agent: json.loads(event.text) for event in played.events(Remembered)}
    for agent, said in memory.items():
        assert set(said["wheat"]) - {"period"} == {"standing", "buy" if int(agent[1:]) < 11 else "sell"}


def test_zip_keeps_the_margins_of_several_goods_and_sides_apart() -> None:
    values = [{"ids": ["A", "B"], "values": {"wheat": 20, "cloth": 150}}]
    values += [{"ids": ["C", "D"], "values": {"wheat": 10, "cloth": 100}}]
    played = play(
        dict.fromkeys("ABCD", ()),
        bot="zip",
        goods=["wheat", "cloth"],
        stock={"wheat": 9, "cloth": 9},
        capital=900,
        ticker=True,
        agents=values,
        settings={"marketplace": {"price_max": 200}},
        rounds=25,
    )
    memory = {event.agent: json.loads(event.text) for event in played.events(Remembered)}
    assert all(set(said[good]) == {"buy", "sell", "standing"} for said in memory.values() for good in said)
    assert all(set(said) == {"wheat", "cloth"} for said in memory.values())
    wheat = [order.price for order in played.events(Ordered) if order.good == "wheat"]
    assert max(wheat) < 40, "what cloth is worth says nothing of wheat"


def test_zip_carries_its_price_from_one_unit_to_the_next() -> None:
    first = _Trader.recalled(None, "buy", 100, Stream("a"))
    first.margin = -0.4
    second = _Trader.recalled(first.notes(), "buy", 80, Stream("a"))
    assert second.price == pytest.approx(60)
    third = _Trader.recalled(first.notes(), "buy", 50, Stream("a"))
    assert third.price == 50, "as far as it does not lose"
