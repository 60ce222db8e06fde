"""What a page shows of trading: prices, volume and the order book, from the events that one audience heard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from agentsim.engine.event import Event, LogEntry
from agentsim.engine.panel import Cell, Chart, DataTable, Panel, Series
from agentsim.games.market.experiment import PeriodEnded
from agentsim.games.market.order_book import Ordered, Traded, Withdrawn
from agentsim.games.market.state import PeriodBegan

MOST = 60


def rounds(log: Sequence[LogEntry]) -> int:
    """The number of the last round."""
    return log[-1].round if log else 0


def spots(last: int, most: int = MOST) -> list[int]:
    """The round after the set-up, then evenly so many rounds at most, the last one among them."""
    step = max(1, -(-last // most))
    return sorted({*range(last, 0, -step)})


MOST_TRADES = 400


def prices(log: Sequence[LogEntry]) -> list[Panel]:
    """What was paid, and how much was traded; nothing where nothing was."""
    if not any(isinstance(told.event, Traded) for told in log):
        return []
    if any(isinstance(told.event, PeriodBegan) for told in log):
        return [_by_trade(log), _volume_by_period(log)]
    return [_by_round(log), _volume_by_round(log)]


def _by_trade(log: Sequence[LogEntry]) -> Chart:
    equilibria = {
        told.event.period: told.event.equilibrium_price for told in log if isinstance(told.event, PeriodEnded)
    }
    x: list[str] = []
    paid: list[float | None] = []
    level: list[float | None] = []
    period = number = 0
    for told in log:
        if isinstance(told.event, PeriodBegan):
            if x:
                x, paid, level = [*x, ""], [*paid, None], [*level, None]
            period, number = told.event.period, 0
        elif isinstance(told.event, Traded):
            number += 1
            x.append(f"{period}.{number}")
            paid.append(float(told.event.price))
            level.append(equilibria.get(period))
    shown = slice(-MOST_TRADES, None)
    # what is drawn later lies on top
    series = [Series("equilibrium", tuple(level[shown]))] if equilibria else []
    series.append(Series("price", tuple(paid[shown])))
    note = "Each stretch is one period." + (f" The latest {MOST_TRADES} are shown." if len(x) > MOST_TRADES else "")
    return Chart("Prices", "line", tuple(x[shown]), tuple(series), "period.trade", "price", note)


def _volume_by_period(log: Sequence[LogEntry]) -> Chart:
    volume: Counter[int] = Counter()
    period = 0
    for told in log:
        if isinstance(told.event, PeriodBegan):
            period = told.event.period
            volume[period] = 0
        elif isinstance(told.event, Traded):
            volume[period] += told.event.quantity
    units = Series("units", tuple(float(count) for count in volume.values()))
    return Chart("Volume", "bar", tuple(map(str, volume)), (units,), "period", "units traded")


def _by_round(log: Sequence[LogEntry]) -> Chart:
    """The price of the latest trade by then; a gap before the first."""
    shown = spots(rounds(log))
    trades = [told for told in log if isinstance(told.event, Traded)]
    lines: dict[str, list[float | None]] = {}
    for good in dict.fromkeys(told.event.good for told in trades if isinstance(told.event, Traded)):
        last: dict[int, float] = {}
        for told in trades:
            if isinstance(told.event, Traded) and told.event.good == good:
                last[told.round] = float(told.event.price)
        lines[good] = [next((last[r] for r in range(spot, 0, -1) if r in last), None) for spot in shown]
    series = tuple(Series(good, tuple(values)) for good, values in lines.items())
    return Chart("Prices", "line", tuple(map(str, shown)), series, "round", "last price")


def _volume_by_round(log: Sequence[LogEntry]) -> Chart:
    shown = spots(rounds(log))
    volume: dict[str, Counter[int]] = {}
    for told in log:
        if isinstance(told.event, Traded):
            spot = next(each for each in shown if each >= told.round)
            volume.setdefault(told.event.good, Counter())[spot] += told.event.quantity
    series = tuple(Series(good, tuple(float(counts[spot]) for spot in shown)) for good, counts in volume.items())
    note = "" if len(shown) == rounds(log) else "Each bar holds several rounds, up to the one that is named."
    return Chart("Volume", "stacked", tuple(map(str, shown)), series, "round", "units traded", note)


class OpenOrders:
    """The open orders by number, as (good, side, price, quantity)."""

    def __init__(self) -> None:
        self.by_number: dict[int, tuple[str, str, int, int]] = {}

    def follow(self, event: Event) -> None:
        """Take one event into account."""
        match event:
            case Ordered():
                # what a trade takes of it follows as an event of its own, and is no part of `standing`
                if event.standing:
                    self.by_number[event.order] = (event.good, event.side, event.price, event.standing)
                else:
                    self.by_number.pop(event.order, None)
            case Withdrawn():
                self.by_number.pop(event.order, None)
            case Traded() if event.resting in self.by_number:
                good, side, price, quantity = self.by_number.pop(event.resting)
                if quantity > event.quantity:
                    self.by_number[event.resting] = (good, side, price, quantity - event.quantity)
            case _:
                pass

    def side(self, good: str, side: str) -> tuple[int | None, int]:
        """The best price and the units on one side of a good's book."""
        orders = [(price, quantity) for g, s, price, quantity in self.by_number.values() if (g, s) == (good, side)]
        if not orders:
            return None, 0
        best = (max if side == "buy" else min)(price for price, _ in orders)
        return best, sum(quantity for _, quantity in orders)


def book(log: Sequence[LogEntry]) -> list[Panel]:
    """A row a round and good: the best prices and how much stands; empty where nothing was ordered."""
    goods = list(dict.fromkeys(told.event.good for told in log if isinstance(told.event, Ordered)))
    if not goods:
        return []
    shown = set(spots(rounds(log), 40))
    orders, rows = OpenOrders(), []
    for number, told_in_round in groupby(log, key=lambda told: told.round):
        traded = dict.fromkeys(goods, 0)
        for told in told_in_round:
            orders.follow(told.event)
            if isinstance(told.event, Traded):
                traded[told.event.good] += told.event.quantity
        if number in shown:
            for good in goods:
                (bid, wanted), (ask, offered) = orders.side(good, "buy"), orders.side(good, "sell")
                row: tuple[Cell, ...] = (number, good, wanted, bid, ask, offered, traded[good])
                rows.append(row)
    columns = ("round", "good", "units wanted", "best bid", "best ask", "units offered", "traded in the round")
    note = "At the end of the round." + ("" if len(shown) == rounds(log) else " Some rounds, evenly spread.")
    if any(isinstance(told.event, PeriodBegan) for told in log):
        note += " Rounds are counted through all periods; what is left at the end of a period is withdrawn."
    return [DataTable("Order book", columns, tuple(rows), note)]
