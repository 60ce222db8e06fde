"""Experiments: schedules and their measures, periods, what bots achieve, and the configs that ship."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.chance import Stream
from agentsim.engine.event import Everyone, LoggedEvent
from agentsim.engine.simulate import Simulation, simulate
from agentsim.errors import ScenarioError
from agentsim.games.market import GAME
from agentsim.games.market.bots import zip_act
from agentsim.games.market.experiment import PeriodEnded, alpha, equilibrium
from agentsim.games.market.order_book import Ordered, Traded
from agentsim.games.market.state import Endowed, PeriodBegan
from agentsim.games.market.turn import MOST_SIGNALS, Act, Acted, ActionChosen, Signal, Ticker, ticker_line
from tests.amounts import some_of
from tests.games.market.market import SMITH, session, smith

CONFIGS = Path(__file__).parents[3] / "configs"
GODE_SUNDER = sorted(CONFIGS.glob("gode_sunder_*.toml"))


def efficiency(played: Simulation) -> float:
    return float(mean(event.allocative_efficiency for event in played.events(PeriodEnded)))


def shipped(path: Path, bot: str, **config: Any) -> Simulation:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    players = [f"{each['id']}{number}" for each in table["players"] for number in range(each["count"])]
    return simulate(GAME, {**table["game_config"], **config}, players, bot=bot, seed=2)


def test_smiths_first_test_has_its_equilibrium() -> None:
    found = equilibrium(SMITH["buyers"], SMITH["sellers"])
    assert (found.price, found.quantity, found.surplus) == (200, 6, 750)
    text = tomllib.loads((CONFIGS / "smith_1962.toml").read_text(encoding="utf-8"))
    table = text["game_config"]["experiment"]
    assert {name: table[name] for name in SMITH} == SMITH


@pytest.mark.parametrize(
    ("values", "costs", "price", "quantity", "surplus"),
    [
        ([[10]], [[4]], 7, 1, 6),
        ([[10, 8]], [[1, 2]], 5, 2, 15),
        ([[10], [6]], [[4], [9]], 7.5, 1, 6),
        ([[5]], [[9]], 7, 0, 0),
    ],
)
def test_the_equilibrium_is_in_the_middle_of_the_prices_that_clear_the_market(
    values: list[list[int]], costs: list[list[int]], price: float, quantity: int, surplus: int
) -> None:
    found = equilibrium(values, costs)
    assert (found.price, found.quantity, found.surplus) == (price, quantity, surplus)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=9), st.lists(st.integers(1, 50), min_size=1, max_size=9))
def test_no_set_of_pairs_gains_more_than_the_equilibrium(values: list[int], costs: list[int]) -> None:
    found = equilibrium([[value] for value in values], [[cost] for cost in costs])
    best = 0
    for count in range(1, min(len(values), len(costs)) + 1):
        best = max(best, sum(sorted(values)[-count:]) - sum(sorted(costs)[:count]))
    assert found.surplus == best
    if found.quantity:
        assert sum(value > found.price for value in values) <= found.quantity
        assert sum(cost < found.price for cost in costs) <= found.quantity


def test_alpha_is_smiths() -> None:
    assert alpha([190, 210], 200) == pytest.approx(5.0)
    assert alpha([200, 200], 200) == 0
    assert alpha([], 200) is None


def test_a_period_says_in_figures_what_it_achieved() -> None:
    played = session("zi_c", buyers=[[10, 8]], sellers=[[4, 9]], price_max=12, periods=1)
    (ended,) = played.events(PeriodEnded)
    prices = [trade.price for trade in played.events(Traded)]
    assert (ended.quantity, ended.equilibrium_quantity, ended.most_surplus) == (len(prices), 1, 6)
    assert ended.mean_price == mean(prices)
    assert ended.allocative_efficiency == ended.surplus / 6 == 1
    assert sum(ended.profits.values()) == ended.surplus
    (told,) = [told for told in played.log if isinstance(told.event, PeriodEnded)]
    assert told.to == (), "the equilibrium is nobody's to know"


def test_endowments_are_renewed_every_period_and_values_are_private() -> None:
    played = smith()
    given_ = [told for told in played.log if isinstance(told.event, Endowed)]
    assert len(given_) == 3 * 22
    assert all(told.to == (told.event.agent,) for told in given_ if isinstance(told.event, Endowed))
    first = {event.agent: event.holdings for event in played.events(Endowed)[:22]}
    last = {event.agent: event.holdings for event in played.events(Endowed)[-22:]}
    assert first == last
    assert first["T0"] == {"capital": 400}
    assert first["T21"] == {"wheat": 1}


def test_the_ticker_says_where_a_period_begins() -> None:
    played = session("zip", buyers=[[30], [10]], sellers=[[5], [25]], price_max=30, periods=3, period_rounds=4)
    acts = [ask.request for ask in played.asks() if isinstance(ask.request, Act)]
    stale = [each for each in acts if each.now.stale]
    assert stale, "some heard the end of a period only in the next one"
    assert all(each.now.period in {2, 3} for each in stale)
    for each in acts:
        text = each.prompt().text()
        assert ("Quotes of the earlier period no longer rest." in text) == bool(each.now.stale)
    first = stale[0].now
    quotes = [event for event in _told_in(played, first.period) if isinstance(event, Ordered | Traded)]
    assert [signal.price for signal in first.signals[first.stale :]] <= [event.price for event in quotes]


def test_zip_takes_no_quote_of_an_earlier_period_for_a_standing_one() -> None:
    played = session("zip", buyers=[[30]], sellers=[[5]], price_max=30, periods=2)
    said = {"wheat": {"buy": [30, -0.1, 0.0], "standing": {"buy": 29}, "period": 1}}
    acts = [ask.request for ask in played.asks("T0") if isinstance(ask.request, Act)]
    for period, learns in ((1, True), (2, False)):
        act = next(each for each in acts if each.now.period == period)
        recalled = replace(act, now=replace(act.now, memory=json.dumps(said), signals=(), stale=0))
        margin = json.loads(zip_act(recalled, Stream("a")).working_memory)["wheat"]["buy"][1]
        assert (margin != -0.1) == learns
    quoted = replace(act.now, memory="", signals=(Signal("wheat", "sell", 9, traded=False),), stale=1)
    notes = json.loads(zip_act(replace(act, now=quoted), Stream("a")).working_memory)["wheat"]
    assert notes["standing"] == {}, "what it heard of the last period it has learned from, and that is all"


def _told_in(played: Simulation, period: int | None) -> list[Any]:
    """Everything told in one period."""
    out, number = [], 0
    for told in played.log:
        number += isinstance(told.event, PeriodBegan)
        out += [told.event] if number == period else []
    return out


def test_the_market_keeps_a_bounded_number_of_signals() -> None:
    ticker, total = Ticker("everybody"), 3 * MOST_SIGNALS + 2
    for price in range(1, total + 1):
        ticker.hear(LoggedEvent(Ordered(price, "A", "wheat", "buy", price, 1, sealed=False, standing=1), Everyone, 1))
    shown = [[signal.price for signal in ticker.between(first, total)] for first in (0, total - 2, total)]
    assert shown == [[*range(2 * MOST_SIGNALS + 1, total + 1)], [total - 1, total], []]
    assert ticker.total == total


def test_a_ticker_says_how_many_it_does_not_show_and_where_every_period_begins() -> None:
    signals = [Signal("wheat", "buy", price, traded=False) for price in range(1, 104)]
    line = ticker_line(signals, [2, 5, 103])
    assert line.startswith("3 earlier ones are not shown; bid 4; bid 5; a new period began; bid 6;")
    assert line.endswith("bid 103; a new period began.")


def test_equal_trades_in_a_row_are_counted_in_a_ticker() -> None:
    prices = [4, 4, 4, 5, 4, 4]
    signals = [Signal("wheat", None, price, traded=True) for price in prices]
    assert ticker_line(signals) == "traded at 4 (3 times); traded at 5; traded at 4 (2 times)."
    assert ticker_line(signals, [2]).startswith("traded at 4 (2 times); a new period began; traded at 4; traded at 5")


def test_who_only_buys_is_not_offered_to_sell() -> None:
    played = session("zi_c", buyers=[[10]], sellers=[[4]], price_max=12, periods=1)
    (buyer,) = {type(ask.request): ask.request for ask in played.asks("T0") if isinstance(ask.request, Act)}.values()
    assert buyer.names == ("skip", "buy", "replace", "cancel")
    assert buyer.schema()["properties"]["action"]["enum"] == list(buyer.names)
    assert "Choose one of skip, buy, replace, cancel." in buyer.prompt().text()
    chosen = ActionChosen(action="sell", action_parameters={"good": "wheat", "price": 5, "quantity": 1})
    buyer.check(chosen)  # which is no bad reply, but refused in the words of the rule


def test_units_trade_in_order_and_nobody_trades_more_than_it_has() -> None:
    played = session("zi_u", buyers=[[30, 20, 10]], sellers=[[5, 15, 25]], price_max=30, periods=2)
    worth = [ask.request.now.unit for ask in played.asks("T0") if isinstance(ask.request, Act)]
    numbers = [unit.number for unit in worth if unit is not None]
    assert all(later - earlier in {0, 1} or later == 1 for earlier, later in pairwise(numbers))
    assert {unit.number: unit.worth for unit in worth if unit is not None} == {1: 30, 2: 20, 3: 10}
    assert [event.quantity for event in played.events(PeriodEnded)] == [3, 3]


def test_a_period_ends_when_no_trade_is_possible_or_its_rounds_are_over() -> None:
    kept = session("zi_c", buyers=[[10], [3]], sellers=[[4], [9]], price_max=12, periods=1)
    (ended,) = kept.events(PeriodEnded)
    assert (ended.quantity, ended.rounds < 100) == (1, True), "3 will not pay 9"
    marginal = session("zi_c", buyers=[[9]], sellers=[[9]], price_max=12, periods=1, seed=2)
    assert [(event.quantity, event.rounds > 1) for event in marginal.events(PeriodEnded)] == [(1, True)], "9 pays 9"
    idle = session("idle", periods=2, period_rounds=4)
    assert [(event.rounds, event.quantity, event.alpha) for event in idle.events(PeriodEnded)] == [(4, 0, None)] * 2


def test_at_the_same_time_no_unit_is_traded_twice() -> None:
    """A buyer whose bid was taken before its turn has decided already, and has capital left for another unit."""
    table = {"kind": "smith_1962", "buyers": [[9]] * 3, "sellers": [[1]] * 9, "price_max": 10, "periods": 3}
    config = {"experiment": table, "queries": False, "briefing": False, "simultaneous": True}
    refused = 0
    for seed in range(20):
        played = simulate(GAME, config, list("ABCDEFGHIJKL"), bot="zi_u", seed=seed)
        assert all(event.quantity <= 3 for event in played.events(PeriodEnded))
        refused += sum("no unit left" in event.result for event in played.events(Acted))
    assert refused, "it never came to that: this proved nothing"


def test_traders_and_schedules_are_as_many() -> None:
    config: Any = GAME.config.from_toml({"experiment": {"kind": "smith_1962", **SMITH}})
    with pytest.raises(ScenarioError, match="schedules for 22 traders, and there are 2"):
        GAME.admit(config, ["A", "B"])


@some_of("path", {path.stem: path for path in GODE_SUNDER}, "gode_sunder_1", "gode_sunder_4")
def test_the_constrained_reach_the_efficiency_of_the_paper(path: Path) -> None:
    assert efficiency(shipped(path, "zi_c")) > 0.95


def test_the_unconstrained_trade_every_unit_so_that_the_schedules_alone_say_how_efficient_they_are() -> None:
    played = shipped(GODE_SUNDER[0], "zi_u", restrictions=[])
    experiment = tomllib.loads(GODE_SUNDER[0].read_text(encoding="utf-8"))["game_config"]["experiment"]
    values, costs = (sum(map(sum, experiment[side])) for side in ("buyers", "sellers"))
    for period in played.events(PeriodEnded):
        assert (period.quantity, period.surplus) == (24, values - costs)


def test_the_reconstructions_have_the_equilibrium_prices_of_the_paper() -> None:
    tables = [tomllib.loads(path.read_text(encoding="utf-8"))["game_config"]["experiment"] for path in GODE_SUNDER]
    found = [equilibrium(table["buyers"], table["sellers"]) for table in tables]
    assert [each.price for each in found] == [69, 69, 106, 170, 131]
    assert min(each.quantity for each in found) == 6
    assert max(each.quantity for each in found) == 24
    assert all("RECONSTRUCTION" in path.read_text(encoding="utf-8") for path in GODE_SUNDER)


@pytest.mark.slow
def test_prices_of_the_constrained_converge_within_a_period_and_those_of_the_unconstrained_do_not() -> None:
    def change(bot: str, **config: Any) -> float:
        """By how much the distance from equilibrium falls from the first half of a period's trades to the second."""
        played = shipped(GODE_SUNDER[0], bot, **config)
        halves: tuple[list[float], list[float]] = ([], [])
        period: list[int] = []
        for told in played.log:
            if isinstance(told.event, Traded):
                period.append(told.event.price)
            elif isinstance(told.event, PeriodEnded):
                middle = len(period) // 2
                for half, prices in zip(halves, (period[:middle], period[middle:]), strict=True):
                    half += [abs(price - told.event.equilibrium_price) for price in prices]
                period = []
        return mean(halves[0]) - mean(halves[1])

    assert change("zi_c") > 5
    assert change("zi_c") > change("zi_u", restrictions=[])


@pytest.mark.slow
def test_zip_learns_from_period_to_period() -> None:
    sessions = [[event.alpha for event in session("zip", seed=seed).events(PeriodEnded)] for seed in range(4)]
    first, last = (mean(alphas[period] for alphas in sessions) for period in (0, -1))
    assert first > 10
    assert last < first / 3


@pytest.mark.slow
def test_where_supply_is_flat_zip_finds_the_price_that_zi_c_misses() -> None:
    """Cliff 1997: what separates the two is a market whose demand and supply are not alike."""
    flat: dict[str, Any] = {"buyers": SMITH["buyers"], "sellers": [[200]] * 11}
    zip_ = session("zip", **flat).events(PeriodEnded)
    zi_c = session("zi_c", **flat).events(PeriodEnded)
    assert zip_[0].equilibrium_price == 200
    assert mean(event.mean_price for event in zi_c) > 215
    assert abs(zip_[-1].mean_price - 200) < 8


def test_a_trader_is_told_when_its_period_ends() -> None:
    played = session("idle", buyers=[[10]], sellers=[[4]], price_max=12, periods=2, period_rounds=2)
    texts = [ask.request.prompt().text() for ask in played.asks("T0") if isinstance(ask.request, Act)]
    ends = ("after 1 more round, or once no trade is possible", "with this round")
    for number, text in enumerate(texts):
        period, end = number // 2 + 1, ends[number % 2]
        assert f"ROUND {number + 1}. PERIOD {period} of 2 ends {end}." in text
