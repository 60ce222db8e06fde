"""The call market: one price at which the most trades, who trades at it, what others hear, and experiments on it."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.event import Everyone
from agentsim.engine.panel import Chart, DataTable
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.market import GAME
from agentsim.games.market.artifacts.call_market import Called
from agentsim.games.market.experiment import PeriodEnded
from agentsim.games.market.order_book import Ordered, Withdrawn
from agentsim.games.market.panels import Replayed
from agentsim.games.market.turn import Act, Acted, Memory
from agentsim.games.market.world import Exchanged, Quote, clearing, matches
from tests.amounts import examples
from tests.cli.command_line import ROOT
from tests.games.market.market import SKIPS, SMITH, asks, buys, does, play, results, sells

CALL: dict[str, Any] = {"artifacts": ["call_market"]}
QUOTES = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 4)), min_size=1, max_size=7)


def trades(played: Simulation) -> list[tuple[str, str, int, int]]:
    return [(each.buyer, each.seller, each.price, each.quantity) for each in played.events(Exchanged)]


@given(QUOTES, QUOTES)
def test_at_every_clearing_price_and_at_no_other_the_most_units_trade(bids: list[Quote], asks: list[Quote]) -> None:
    bids, asks = sorted(bids, reverse=True), sorted(asks)
    found = clearing(bids, asks)

    def wanted(price: int, *, more: int = 0) -> int:
        return sum(units for bid, units in bids if bid >= price + more)

    def offered(price: int, *, more: int = 0) -> int:
        return sum(units for ask, units in asks if ask <= price - more)

    most = max(min(wanted(price), offered(price)) for price in range(1, 13))
    assert found.quantity == most == sum(units for _, _, units in matches(bids, asks))
    if most:
        # as many as can trade, and none left out who would gain by the price
        clears = [
            price
            for price in range(1, 13)
            if min(wanted(price), offered(price)) == most and max(wanted(price, more=1), offered(price, more=1)) <= most
        ]
        assert clears == list(range(found.low, found.high + 1))


@examples(8)
@given(seed=st.integers(0, 10**6), every=st.integers(1, 3), single=st.booleans(), k=st.sampled_from([0, 50, 100]))
def test_money_and_goods_are_conserved_and_nobody_pays_more_than_it_bid(
    seed: int, every: int, single: bool, k: int
) -> None:
    rules = {"every": every, "single_unit": single, "k": k, "price_max": 12}
    played = play(
        {"A": [], "B": [], "C": []}, bot="random", rounds=9, seed=seed, settings={"call_market": rules}, **CALL
    )
    replayed, worst = Replayed(), dict[tuple[str, str], int]()
    for told in played.log:
        replayed.follow(told.event)
        match told.event:
            case Ordered(agent=agent, side=side, price=price):  # the best that it ever bid or asked
                worst[agent, side] = (
                    max(price, worst.get((agent, side), price))
                    if side == "buy"
                    else min(price, worst.get((agent, side), price))
                )
            case Called():
                call = told.event
            case Exchanged(buyer=buyer, seller=seller, price=price):
                assert price == call.price
                assert buyer != seller
                assert worst[seller, "sell"] <= price <= worst[buyer, "buy"]
    assert sum(held["capital"] for held in replayed.held.values()) == 300
    assert sum(held["wheat"] for held in replayed.held.values()) == 30


def test_one_price_in_the_middle_of_the_range_holds_for_all_trades_of_a_call() -> None:
    orders = {"A": [buys(10, 2)], "B": [buys(8)], "C": [sells(3, 2)], "D": [sells(6)]}
    played = play(orders, order=["ABCD"], **CALL)
    (call,) = played.events(Called)
    assert (call.low, call.high, call.price, call.quantity, call.wanted, call.offered) == (6, 8, 7, 3, 3, 3)
    assert trades(played) == [("A", "C", 7, 2), ("B", "D", 7, 1)]


@pytest.mark.parametrize(("k", "price"), [(0, 6), (25, 6), (50, 7), (100, 8)])
def test_k_says_where_in_the_range_the_price_is(k: int, price: int) -> None:
    played = play({"A": [buys(8)], "B": [sells(6)]}, settings={"call_market": {"k": k}}, **CALL)
    assert [each.price for each in played.events(Exchanged)] == [price]


def test_of_equal_orders_the_earliest_trades_and_what_is_not_met_is_withdrawn() -> None:
    orders = {"A": [buys(5)], "B": [buys(5)], "C": [buys(5)], "D": [sells(5, 2)]}
    played = play(orders, order=["CABD"], **CALL)
    assert trades(played) == [("C", "D", 5, 1), ("A", "D", 5, 1)]
    (gone,) = played.events(Withdrawn)
    assert (gone.agent, gone.why, gone.quantity) == ("B", "unmet", 1)


def test_orders_are_sealed_and_the_price_is_public() -> None:
    played = play(
        {"A": [buys(7), SKIPS], "B": [sells(5), SKIPS]}, queries={"B": [asks("none"), asks("last_calls")]}, **CALL
    )
    audience = {type(told.event): told.to for told in played.log}
    assert (audience[Called], audience[Exchanged]) == (Everyone, Everyone)
    assert [told.to for told in played.log if isinstance(told.event, Ordered)] == [("A",), ("B",)]
    second = [ask.request for ask in played.asks("B") if isinstance(ask.request, Act)][1]
    assert '{"sold": 1, "good": "wheat", "price": 6}' in second.prompt().text(), (
        "it is news of what it did not do itself"
    )
    assert '"calls": [{"round": 1, "good": "wheat", "price": 6, "quantity": 1}]' in second.prompt().text()


def test_an_agent_never_trades_with_itself() -> None:
    played = play({"A": [buys(7), sells(7), sells(8)], "B": []}, settings={"call_market": {"every": 3}}, **CALL)
    assert results(played, "A")[1] == "Refused: it would meet an order of your own"
    assert not played.events(Exchanged)


def test_orders_wait_for_the_call_and_can_be_replaced_and_cancelled_until_then() -> None:
    orders = {
        "A": [buys(9), does("replace", order=1, price=4, quantity=2), SKIPS],
        "B": [sells(3), SKIPS, does("cancel", order=2)],
        "C": [SKIPS, sells(4), SKIPS],
    }
    played = play(orders, order=["ABC"] * 3, settings={"call_market": {"every": 3}}, **CALL)
    assert trades(played) == [("A", "C", 4, 1)]
    assert [call.round for call in played.events(Called)] == [3]


def test_what_waits_when_the_game_ends_is_called_at_the_end() -> None:
    played = play({"A": [buys(5)], "B": [sells(5)]}, settings={"call_market": {"every": 9}}, rounds=2, **CALL)
    assert trades(played) == [("A", "B", 5, 1)]


def experiment(bot: str, **given_: Any) -> Simulation:
    table = {"kind": "induced_values", **SMITH, "periods": 4, "period_rounds": 1, **given_}
    rules = ["buy_within_value", "sell_within_value"]
    config = {**CALL, "experiment": table, "queries": False, "briefing": False, "restrictions": rules}
    return simulate(GAME, config, [f"T{number}" for number in range(22)], bot=bot, seed=1)


def test_truthful_traders_find_the_equilibrium_in_every_period() -> None:
    played = experiment("truthful")
    for period in played.events(PeriodEnded):
        assert (period.allocative_efficiency, period.alpha, period.quantity) == (1.0, 0.0, 6)
        assert (period.mean_price, period.equilibrium_price) == (200, 200)
    frame = GAME.tables(played.log, [])["calls"]
    assert frame.columns[:4] == ("round", "good", "price", "quantity")
    assert [row[:4] for row in frame.rows] == [(number, "wheat", 200, 6) for number in range(1, 5)]


def test_an_experiment_at_a_call_market_is_shown_like_any_other() -> None:
    played = experiment("zip", periods=5)
    shown: dict[str, Any] = {panel.title: panel for panel in GAME.panels(played.log, [])}
    ended = played.events(PeriodEnded)
    assert [row[1] for row in shown["Periods"].rows] == [event.quantity for event in ended]
    schedules: Chart = shown["Supply and demand"]
    assert [series.values for series in schedules.series] == [tuple(range(325, 50, -25)), tuple(range(75, 350, 25))]
    assert isinstance(shown["Calls"], DataTable)
    heard = {panel.title for panel in GAME.panels([told for told in played.log if told.heard_by("T3")], [])}
    assert "Supply and demand" not in heard
    assert {"Calls", "Prices"} <= heard


def test_traders_hear_of_prices_that_were_made_after_their_turn_and_of_each_once() -> None:
    acts = [ask.request for ask in experiment("zip").asks("T0") if isinstance(ask.request, Act)]
    played = experiment("zip")
    for before, act in zip(played.events(PeriodEnded), acts[1:], strict=False):
        assert len(act.now.signals) == before.quantity
        assert {signal.side for signal in act.now.signals} <= {None}
    assert Memory.simultaneous is False


def test_the_shipped_config_names_its_equilibrium() -> None:
    config = tomllib.loads((ROOT / "configs" / "call_market.toml").read_text(encoding="utf-8"))["game_config"]
    assert {name: config["experiment"][name] for name in SMITH} == SMITH
    assert not [event for event in experiment("truthful").events(Acted) if not event.accepted]


def test_a_call_that_nothing_met_is_read_without_nulls() -> None:
    queries = {"A": [asks("last_calls"), asks("last_calls"), asks("last_calls")]}
    played = play({"A": [buys(3), SKIPS, SKIPS]}, queries=queries, artifacts=["call_market"])
    text = played.asks()[-1].request.prompt().text()
    assert '{"round": 1, "good": "wheat", "quantity": 0}' in text
    assert "null" not in text
