"""The prediction market: Hanson's cost function, prices that add up to 1, a bounded loss, and how it ends."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from math import ceil, exp, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.simulate import Simulation, simulate
from agentsim.errors import ScenarioError
from agentsim.games.market import GAME
from agentsim.games.market.artifacts.lmsr import MAKER, Priced, Settled, cost, prices
from agentsim.games.market.experiment import PeriodEnded
from agentsim.games.market.panels import Replayed
from agentsim.games.market.state import PeriodBegan
from agentsim.games.market.turn import Observed
from agentsim.games.market.world import Exchanged
from tests.amounts import examples
from tests.games.market.market import SKIPS, SMITH, asks, does, play, results

SOLD = st.lists(st.integers(-300, 300), min_size=2, max_size=6)
LIQUIDITY = st.integers(1, 200)
GOODS = ["rain", "snow", "sun"]


def shares(side: str, good: str, quantity: int, price: int | None = None) -> Any:
    price = price or (100 if side == "buy" else 1)
    return does(side, good=good, price=price, quantity=quantity)


def bets(actions: dict[str, list[Any]], rules: dict[str, Any] | None = None, **config: Any) -> Simulation:
    table = {"goods": GOODS, "artifacts": ["lmsr"], "settings": {"lmsr": rules or {}}, "stock": {}, "capital": 5_000}
    return play(actions, **{**table, **config})


@given(SOLD, LIQUIDITY)
def test_prices_add_up_to_one_and_each_is_a_chance(sold: list[int], b: int) -> None:
    found = prices(sold, b)
    assert abs(sum(found, Decimal(0)) - 1) < Decimal("1e-25")
    assert all(0 <= price <= 1 for price in found)


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=5), st.integers(5, 100))
def test_the_cost_is_hansons_and_prices_are_its_slope(sold: list[int], b: int) -> None:
    assert float(cost(sold, b)) == pytest.approx(b * log(sum(exp(each / b) for each in sold)), abs=1e-9)
    step = [
        cost([each + (index == at) for at, each in enumerate(sold)], b) - cost(sold, b) for index in range(len(sold))
    ]
    for price, paid in zip(prices(sold, b), step, strict=True):
        assert price <= paid <= 1, "it rises while it is bought"


@given(SOLD, LIQUIDITY)
def test_a_share_of_every_outcome_costs_just_one_payout(sold: list[int], b: int) -> None:
    assert abs(cost([each + 1 for each in sold], b) - cost(sold, b) - 1) < Decimal("1e-25")


@examples(15)
@given(
    bought=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 90)), max_size=3),
    b=st.integers(1, 30),
    outcome=st.sampled_from(GOODS),
)
def test_the_maker_never_loses_more_than_b_ln_n_whatever_comes_true(
    bought: list[tuple[int, int]], b: int, outcome: str
) -> None:
    """Whoever knows the outcome and buys as much of it as can be bought takes nearly that much, and never more."""
    orders = [shares("buy", GOODS[place], quantity) for place, quantity in bought] or [SKIPS]
    rules = {"b": b, "most_shares": 150, "chances": {outcome: 1}}
    played = bets({"A": orders, "B": [shares("buy", outcome, 150)]}, rules, capital=100_000)
    (settled,) = played.events(Settled)
    assert settled.outcome == outcome
    assert settled.most_lost == ceil(100 * b * log(3))
    assert settled.lost <= settled.most_lost
    held = [standing.score["capital"] for standing in played.outcome.standings]
    assert sum(held) == 200_000 + settled.lost - settled.gained, "what the maker loses is what the traders gain"


@examples(6)
@given(seed=st.integers(0, 10**6), b=st.integers(1, 60))
def test_random_traders_never_take_more_than_the_maker_can_pay(seed: int, b: int) -> None:
    rules = {"b": b, "most_shares": 20}
    played = bets({"A": [], "B": [], "C": []}, rules, bot="random", queries={}, rounds=8, seed=seed)
    assert played.events(Settled)[0].lost <= ceil(100 * b * log(3))
    for event in played.events(Priced):
        assert sum(event.prices.values()) == pytest.approx(1, abs=2e-4)


def test_what_is_bought_and_sold_back_costs_nothing() -> None:
    orders = [shares("buy", "rain", 7), shares("buy", "snow", 3), shares("sell", "rain", 7), shares("sell", "snow", 3)]
    played = bets({"A": orders, "B": []}, {"b": 9})
    assert sum(each.paid * (1 if each.seller == MAKER else -1) for each in played.events(Exchanged)) == 0
    assert played.events(Settled)[0].lost == played.events(Settled)[0].gained == 0


def test_shares_are_bought_one_by_one_as_long_as_the_price_is_within_the_limit() -> None:
    played = bets({"A": [shares("buy", "rain", 50, price=50), shares("buy", "rain", 1, price=50)], "B": []}, {"b": 10})
    first, second = results(played, "A")
    paid = [each.price for each in played.events(Exchanged) for _ in range(each.quantity)]
    assert max(paid) == 49
    assert sum(paid) == pytest.approx(100 * float(cost([len(paid), 0, 0], 10) - cost([0, 0, 0], 10)), abs=1)
    assert first == f"Bought {len(paid)} rain for {sum(paid)}. The next share costs 52."
    assert second == "Nothing was traded: the next share costs 52."


def test_an_agent_sells_what_it_has_and_buys_what_it_can_pay() -> None:
    played = bets(
        {"A": [shares("sell", "sun", 1), shares("buy", "sun", 60), shares("buy", "sun", 40)], "B": []}, capital=4_000
    )
    assert results(played, "A")[:2] == [
        "Refused: that takes 1 sun, and you have 0 free",
        "Refused: quantity must be a whole number, 1 to 50",
    ]


def test_the_whole_limit_must_be_there_and_agents_are_told_so() -> None:
    played = bets({"A": [shares("buy", "rain", 2, price=60)], "B": []}, capital=119)
    assert results(played, "A") == ["Refused: that takes 120 capital, and you have 119 free"]
    text = played.asks()[0].request.prompt().text()
    assert "To buy you must have your price for every share you ask for." in text


def test_queries_say_what_the_next_share_costs_and_brings() -> None:
    queries = {"A": [asks("order_book", good="rain"), asks("chances")]}
    played = bets({"A": [shares("buy", "rain", 20), SKIPS], "B": []}, {"b": 20}, queries=queries)
    first, second = (event.observation for event in played.events(Observed))
    assert first == {"good": "rain", "bids": [{"price": 33, "quantity": 1}], "asks": [{"price": 34, "quantity": 1}]}
    assert second == {"chances": {"rain": 0.5761, "snow": 0.2119, "sun": 0.2119}}


def test_at_the_end_shares_of_the_outcome_are_paid_and_no_share_is_worth_anything() -> None:
    rules = {"chances": {"snow": 1}}
    orders = {"A": [shares("buy", "snow", 10), SKIPS], "B": [shares("buy", "sun", 10), SKIPS]}
    played = bets(orders, rules, standings="wealth")
    paid = {each.buyer: each.paid for each in reversed(played.events(Exchanged))}
    assert set(paid) == {"A", "B"}
    spent = {who: sum(each.paid for each in played.events(Exchanged) if each.buyer == who) for who in "AB"}
    score = {standing.player: standing.score for standing in played.outcome.standings}
    assert {who: each["wealth"] for who, each in score.items()} == {"A": 6_000 - spent["A"], "B": 5_000 - spent["B"]}
    replayed = Replayed()
    for told in played.log:
        replayed.follow(told.event)
    assert all(not replayed.held[who].get(good) for who in "AB" for good in GOODS)


def test_the_outcome_is_drawn_by_its_chances() -> None:
    rules = {"chances": {"rain": 3, "sun": 1}}
    drawn = [bets({"A": [], "B": []}, rules, seed=seed).events(Settled)[0].outcome for seed in range(40)]
    assert drawn.count("snow") == 0
    assert 20 < drawn.count("rain") < 40


def test_of_one_good_the_other_outcome_is_that_it_does_not_come_true() -> None:
    played = bets({"A": [shares("buy", "rain", 5)], "B": []}, {"chances": {"not rain": 1}}, goods=["rain"])
    assert list(played.events(Priced)[0].prices) == ["rain", "not rain"]
    assert (played.events(Settled)[0].outcome, played.events(Settled)[0].paid) == ("not rain", 0)


def test_shares_that_agents_begin_with_count_as_sold_and_are_paid() -> None:
    played = bets({"A": [shares("sell", "rain", 5)], "B": []}, {"chances": {"rain": 1}, "b": 10}, stock={"rain": 30})
    (settled,) = played.events(Settled)
    assert settled.paid == 55 * 100
    assert settled.lost <= settled.most_lost
    assert results(played, "A") == ["Sold 5 rain for 496. The next share brings 100."]


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"goods": []}, "the goods are its outcomes, and there are none"),
        ({"settings": {"lmsr": {"chances": {"hail": 1}}}}, "chances: hail is none of the outcomes rain, snow, sun"),
        ({"settings": {"lmsr": {"chances": {"sun": 0}}}}, "chances: one of them must be above 0"),
    ],
)
def test_a_market_without_outcomes_is_refused(config: dict[str, Any], problem: str) -> None:
    made: Any = GAME.config.from_toml({"goods": GOODS, "artifacts": ["lmsr"], **config})
    with pytest.raises(ScenarioError, match=problem):
        GAME.admit(made, ["A", "B"])


def test_an_experiment_runs_on_the_market_maker_and_periods_begin_alike() -> None:
    table = {"kind": "induced_values", **SMITH, "periods": 3, "period_rounds": 15}
    rules = ["buy_within_value", "sell_within_value"]
    config: dict[str, Any] = {
        "artifacts": ["lmsr"],
        "settings": {"lmsr": {"payout": 400, "b": 10}},
        "restrictions": rules,
    }
    config |= {"experiment": table, "queries": False, "briefing": False}
    played = simulate(GAME, config, [f"T{number}" for number in range(22)], bot="zi_c", seed=1)
    periods = played.events(PeriodEnded)
    assert all(each.quantity > 5 and each.mean_price is not None and 150 < each.mean_price < 250 for each in periods)
    assert all(each.allocative_efficiency > 0.8 for each in periods)
    firsts: list[Any] = [told.event for told in played.log if isinstance(told.event, PeriodBegan | Exchanged)]
    opening = [trade.price for began, trade in pairwise(firsts) if isinstance(began, PeriodBegan)]
    assert len(opening) == 3
    assert all(180 < price < 220 for price in opening), "each begins at half the payout"
    assert not played.events(Settled), "private values are paid, and no outcome is drawn"
    assert "comes true" not in played.asks("T0")[0].request.prompt().text()
    assert {"Chances", "Periods", "Supply and demand"} <= {panel.title for panel in GAME.panels(played.log, [])}
