"""Panels of trading: periods, prices, volume and the order book, from the events that one audience heard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from agentsim.engine import Event, LoggedEvent
from agentsim.engine.panel import Cell, Chart, DataTable, Panel, Series
from agentsim.games.market.experiment import PeriodEnded
from agentsim.games.market.order_book import Ordered, Traded, Withdrawn
from agentsim.games.market.state import Endowed, PeriodBegan
from agentsim.games.market.trade import Trade

MOST_ROUNDS = 60
MOST_TRADES = 400


def of(log: Sequence[LoggedEvent], *kinds: type[Event]) -> list[Any]:
    return [told.event for told in log if isinstance(told.event, kinds)]


def spots(last: int, most: int = MOST_ROUNDS) -> list[int]:
    """Return at most `most` rounds at even distances, of which `last` is one, without round 0."""
    step = max(1, -(-last // most))
    return sorted({*range(last, 0, -step)})


def scenes(log: Sequence[LoggedEvent], *followers: Callable[[Event], None], most: int = MOST_ROUNDS) -> Iterator[int]:
    """Yield the rounds that are shown, each once all events up to its end have been followed."""
    shown = {0, *spots(log[-1].round, most)}
    for number, told_in_round in groupby(log, key=lambda told: told.round):
        for told in told_in_round:
            for follow in followers:
                follow(told.event)
        if number in shown:
            yield number


def periods(log: Sequence[LoggedEvent]) -> list[Panel]:
    """Return figures of every period that ended; nothing outside experiments."""
    ended: list[PeriodEnded] = of(log, PeriodEnded)
    if not ended:
        return []
    rounds = tuple(entry.round for entry in log if isinstance(entry.event, PeriodEnded))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *(each.period, each.quantity, each.equilibrium_quantity, _rounded(each.mean_price, 2)),
            *(each.equilibrium_price, each.surplus, each.most_surplus),
            *(_rounded(100 * each.allocative_efficiency, 1), _rounded(each.alpha, 1), each.rounds),
        )
        for each in ended
    )
    columns = ("period", "units", "Q*", "mean price", "P*", "surplus", "most", "efficiency %", "alpha", "rounds")
    note = (
        "Q* and P*: units and price in equilibrium. Most: the most surplus that there was. Alpha: the root mean square "
        "deviation of prices from P*, in percent of it."
    )
    x = tuple(str(each.period) for each in ended)
    efficiency = Series("efficiency", tuple(_rounded(100 * each.allocative_efficiency, 2) for each in ended))
    alpha = Series("alpha", tuple(_rounded(each.alpha, 2) for each in ended))
    profits = {agent: [each.profits[agent] for each in ended] for agent in ended[0].profits}
    gains: tuple[tuple[Cell, ...], ...] = tuple((agent, *gained, sum(gained)) for agent, gained in profits.items())
    return [
        DataTable("Periods", columns, rows, note),
        schedules(log),
        Chart("Allocative efficiency", "line", x, (efficiency,), "period", "% of the most surplus", "", rounds),
        Chart("Convergence", "line", x, (alpha,), "period", "Smith's alpha", "", rounds),
        DataTable("Surplus", ("agent", *(f"period {each}" for each in x), "in all"), gains, heat=True),
    ]


def schedules(log: Sequence[LoggedEvent]) -> Chart:
    """Return demand and supply of one period, as traders were given them."""
    units: dict[str, list[float]] = {"buy": [], "sell": []}
    for agent in {endowed.agent: endowed for endowed in of(log, Endowed)}.values():
        units[agent.side] += [float(worth) for each in agent.worth.values() for worth in each]
    x = tuple(str(unit + 1) for unit in range(max(map(len, units.values()))))
    demand, supply = sorted(units["buy"], reverse=True), sorted(units["sell"])
    lines = [
        Series(name, (*each, *[None] * (len(x) - len(each)))) for name, each in (("demand", demand), ("supply", supply))
    ]
    note = "The values of buyers' units, falling, and the costs of sellers' units, rising: they meet in equilibrium."
    return Chart("Supply and demand", "step", x, tuple(lines), "unit", "value or cost", note)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def prices(log: Sequence[LoggedEvent]) -> list[Panel]:
    """Return prices and volumes; nothing without a trade."""
    if not of(log, Trade):
        return []
    return _by_trade(log) if of(log, PeriodBegan) else _by_round(log)


def _by_trade(log: Sequence[LoggedEvent]) -> list[Panel]:
    equilibria = {ended.period: ended.equilibrium_price for ended in of(log, PeriodEnded)}
    points: list[tuple[str, float | None, float | None, int]] = []
    volume: dict[int, int] = {}
    until: dict[int, int] = {}  # the round of each period's latest trade, or of its beginning
    period = number = 0
    for entry in log:
        match entry.event:
            case PeriodBegan() as event:
                points += [("", None, None, entry.round)] if points else []
                period, number, volume[event.period], until[event.period] = event.period, 0, 0, entry.round
            case Trade() as event:
                number += 1
                points.append((f"{period}.{number}", float(event.price), equilibria.get(period), entry.round))
                volume[period] += event.quantity
                until[period] = entry.round
    x, paid, level, rounds = zip(*points[-MOST_TRADES:], strict=True)
    # later series lie on top
    series = (*([Series("equilibrium", level)] if equilibria else []), Series("price", paid))
    note = "Each stretch is one period." + (f" The latest {MOST_TRADES} are shown." * (len(points) > MOST_TRADES))
    units = Series("units", tuple(map(float, volume.values())))
    return [
        Chart("Prices", "line", x, series, "period.trade", "price", note, rounds),
        Chart("Volume", "bar", tuple(map(str, volume)), (units,), "period", "units traded", "", tuple(until.values())),
    ]


def _by_round(log: Sequence[LoggedEvent]) -> list[Panel]:
    """Return the last price by then, a gap before the first trade, and the units since the round shown before."""
    goods = dict.fromkeys(trade.good for trade in of(log, Trade))
    last: dict[str, float] = {}
    volume: Counter[str] = Counter()

    def follow(event: Event) -> None:
        if isinstance(event, Trade):
            last[event.good] = float(event.price)
            volume[event.good] += event.quantity

    rounds: list[str] = []
    paid: dict[str, list[float | None]] = {good: [] for good in goods}
    sold: dict[str, list[float | None]] = {good: [] for good in goods}
    for number in scenes(log, follow):
        for good in goods if number else ():
            paid[good].append(last.get(good))
            sold[good].append(float(volume.pop(good, 0)))
        rounds += [str(number)] if number else []
    prices, units = (tuple(Series(good, tuple(each)) for good, each in of.items()) for of in (paid, sold))
    places = tuple(map(int, rounds))
    all_shown = len(rounds) == log[-1].round
    note = "" if all_shown else "Each bar holds several rounds, up to the one that is named."
    return [
        Chart("Prices", "line", tuple(rounds), prices, "round", "last price", "", places),
        Chart("Volume", "stacked", tuple(rounds), units, "round", "units traded", note, places),
    ]


class OpenOrders:
    """The orders of which something is left, by number."""

    def __init__(self) -> None:
        self.by_number: dict[int, Ordered] = {}

    def follow(self, event: Event) -> None:
        match event:
            case Ordered(order=number):  # `standing` excludes what it trades at once
                self._rests(event, event.standing)
            case Withdrawn(order=number):
                self.by_number.pop(number, None)
            case Traded(resting=number) if order := self.by_number.get(number):
                self._rests(order, order.standing - event.quantity)

    def _rests(self, order: Ordered, left: int) -> None:
        self.by_number[order.order] = replace(order, standing=left)
        if left <= 0:
            del self.by_number[order.order]

    def side(self, good: str, side: str) -> tuple[int | None, int]:
        """Return the best price, or None, and the units on one side of a good's book."""
        orders = [order for order in self.by_number.values() if (order.good, order.side) == (good, side)]
        best = max if side == "buy" else min
        return best((order.price for order in orders), default=None), sum(order.standing for order in orders)


def book(log: Sequence[LoggedEvent]) -> list[Panel]:
    """Return a row for each round shown and good: the best prices and the units that rest; empty without orders."""
    goods = dict.fromkeys(order.good for order in of(log, Ordered))
    if not goods:
        return []
    traded: Counter[tuple[int, str]] = Counter()
    for told in log:
        if isinstance(told.event, Trade):
            traded[told.round, told.event.good] += told.event.quantity
    orders, rows = OpenOrders(), list[tuple[Cell, ...]]()
    for number in scenes(log, orders.follow, most=40):
        for good in goods if number else ():
            (bid, wanted), (ask, offered) = orders.side(good, "buy"), orders.side(good, "sell")
            rows.append((number, good, wanted, bid, ask, offered, traded[number, good]))
    columns = ("round", "good", "units wanted", "best bid", "best ask", "units offered", "traded in the round")
    all_shown = len(rows) == log[-1].round * len(goods)
    note = "At the end of the round." + ("" if all_shown else " Some rounds, evenly spread.")
    if of(log, PeriodBegan):
        note += " Rounds are counted through all periods; what is left at the end of a period is withdrawn."
    return [DataTable("Order book", columns, tuple(rows), note)]
