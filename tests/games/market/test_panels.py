"""Panels and tables: what a page shows of a market agrees with the game, and shows nobody more than it heard."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.panel import Chart, DataTable, Network
from agentsim.engine.simulate import Simulation
from agentsim.games.market import GAME
from agentsim.games.market.artifacts.bank import Banked
from agentsim.games.market.experiment import PeriodEnded
from agentsim.games.market.order_book import Traded
from agentsim.games.market.panels import OpenOrders, Replayed, panels
from agentsim.games.market.state import MarketEnded
from agentsim.games.market.world import CAPITAL, Transferred
from tests.amounts import examples
from tests.games.market.market import buys, does, play, sells, smith

EVERYTHING: dict[str, Any] = {
    "goods": ["wheat", "cloth"],
    "stock": {"wheat": 8, "cloth": 8},
    "artifacts": ["marketplace", "bank"],
    "settings": {"marketplace": {"price_max": 12}},
    "rounds": 25,
}


def shown(played: Simulation) -> dict[str, Any]:
    return {panel.title: panel for panel in panels(played.log)}


@examples(10)
@given(seed=st.integers(0, 10**6))
def test_orders_and_holdings_replayed_from_events_are_those_of_the_game(seed: int) -> None:
    played = play({"A": [], "B": [], "C": []}, bot="random", queries={}, seed=seed, **EVERYTHING)
    replayed, orders = Replayed(), OpenOrders()
    for told in played.log:
        replayed.follow(told.event)
        orders.follow(told.event)
    (ended,) = played.events(MarketEnded)
    lent = {event.agent: event.deposit - event.loan for event in played.events(Banked)}
    for result in ended.results:
        assert replayed.held[result.agent][CAPITAL] == result.capital - lent.get(result.agent, 0)


def test_the_book_of_a_round_shows_the_best_prices_and_what_stands() -> None:
    played = play({"A": [sells(9, 3), sells(8, 1)], "B": [buys(5, 2), buys(9, 2)]}, order=["AB", "AB"])
    table: DataTable = shown(played)["Order book"]
    assert table.rows == ((1, "wheat", 2, 5, 9, 3, 0), (2, "wheat", 2, 5, 9, 2, 2))


def test_no_order_outlives_its_call() -> None:
    calls: dict[str, Any] = {"artifacts": ["call_market"], "settings": {"call_market": {"every": 2}}}
    played = play({"A": [sells(5, 3)], "B": [buys(7, 2)]}, rounds=2, **calls)
    assert shown(played)["Order book"].rows == ((1, "wheat", 2, 7, 5, 3, 0), (2, "wheat", 0, None, None, 0, 2))
    simultaneous = play({"A": [sells(5, 3)], "B": [buys(7, 2)]}, rounds=2, artifacts=["call_market"])
    assert "Order book" not in shown(simultaneous), "nothing rests at the end of a round"


def test_prices_and_volume_go_by_round() -> None:
    played = play({"A": [sells(5), does("skip"), sells(7, 2)], "B": [buys(5), does("skip"), buys(7, 2)]})
    charts = shown(played)
    assert charts["Prices"].series[0].values == (5, 5, 7)
    assert charts["Volume"].series[0].values == (1, 0, 2)
    assert charts["Prices"].rounds == charts["Volume"].rounds == (1, 2, 3), "where a reader's cursor stands"
    assert charts["Capital"].x == ("0", "1", "2", "3")
    assert [series.values for series in charts["Capital"].series] == [(100, 105, 105, 119), (100, 95, 95, 81)]
    assert [series.values[-1] for series in charts["Wheat held"].series] == [7, 13]


def test_an_experiment_shows_prices_beside_the_equilibrium_and_its_periods() -> None:
    played = smith()
    charts = shown(played)
    ended = played.events(PeriodEnded)
    prices: Chart = charts["Prices"]
    assert {series.name for series in prices.series} == {"price", "equilibrium"}
    level, paid = prices.series  # the prices lie on top
    assert len([value for value in paid.values if value]) == len(played.events(Traded))
    assert {value for value in level.values if value} == {200}
    assert [row[1] for row in charts["Periods"].rows] == [event.quantity for event in ended]
    assert charts["Allocative efficiency"].series[0].values[0] == round(100 * ended[0].allocative_efficiency, 2)
    assert charts["Convergence"].series[0].values[0] == round(ended[0].alpha, 2)
    assert charts["Volume"].series[0].values == tuple(event.quantity for event in ended)
    assert sum(row[-1] for row in charts["Surplus"].rows) == sum(event.surplus for event in ended)
    over = tuple(told.round for told in played.log if isinstance(told.event, PeriodEnded))
    assert charts["Convergence"].rounds == charts["Allocative efficiency"].rounds == over
    traded = [told.round for told in played.log if isinstance(told.event, Traded)]
    assert [at for at, value in zip(prices.rounds, paid.values, strict=True) if value] == traded


def test_what_one_trader_heard_shows_no_equilibrium_and_nobody_elses_holdings() -> None:
    played = smith()
    heard: dict[str, Any] = {
        panel.title: panel for panel in panels([told for told in played.log if told.heard_by("T3")])
    }
    assert {"Periods", "Convergence", "Surplus"}.isdisjoint(heard)
    assert [series.name for series in heard["Prices"].series] == ["price"]
    assert [series.name for series in heard["Capital"].series] == ["T3"]


def test_holdings_of_many_agents_are_tables_of_few_columns() -> None:
    played = smith()
    shares = shown(played)["Capital"]
    assert isinstance(shares, DataTable)
    assert shares.heat
    assert [row[0] for row in shares.rows] == [f"T{n}" for n in range(22)]
    assert len(shares.columns) <= 13
    assert shares.columns[1] == "0"
    assert shares.columns[-1] == str(played.log[-1].round)


def test_messages_trades_and_gifts_are_ties() -> None:
    played = play(
        {
            "A": [sells(5, 2), does("send", to="B", text="Thanks."), does("send", to="everyone", text="Hello.")],
            "B": [buys(5, 2), does("deposit", amount=10), does("skip")],
            "C": [],
        },
        artifacts=["marketplace", "dialogue", "bank"],
    )
    network: Network = shown(played)["Who deals with whom"]
    assert [node.name for node in network.nodes] == ["A", "B", "C"]
    assert {(edge.source, edge.target, edge.kind): edge.weight for edge in network.edges} == {
        ("A", "B", "units sold"): 2,
        ("A", "B", "messages"): 2,
        ("A", "C", "messages"): 1,
    }
    assert "gave" not in network.note
    assert {node.group for node in network.nodes} == {""}


def test_traders_of_known_sides_stand_side_by_side() -> None:
    network: Network = shown(smith())["Who deals with whom"]
    assert {node.group for node in network.nodes} == {"buyers", "sellers"}
    sides = {node.name: node.group for node in network.nodes}
    assert all(sides[edge.source] == "sellers" and sides[edge.target] == "buyers" for edge in network.edges)


def test_nobody_who_dealt_with_nobody_is_drawn() -> None:
    assert "Who deals with whom" not in shown(play({"A": [], "B": []}))


def test_tables_hold_trades_orders_and_periods() -> None:
    played = smith()
    tables = GAME.tables(played.log, [])
    trades, periods = tables["trades"], tables["periods"]
    assert len(trades.rows) == len(played.events(Traded))
    assert [row[:2] for row in periods.rows] == [(e.period, e.rounds) for e in played.events(PeriodEnded)]
    assert all(len(row) == len(frame.columns) for frame in tables.values() for row in frame.rows)
    assert {name: frame.rows for name, frame in GAME.tables([], []).items()} == {
        "trades": (),
        "orders": (),
        "periods": (),
        "calls": (),
    }


def test_an_artifact_is_called_by_its_name() -> None:
    played = play({"A": [does("deposit", amount=10)]}, artifacts=["bank"])
    assert [event.heading for event in played.events(Transferred)] == ["A gives the bank 10 capital"]
