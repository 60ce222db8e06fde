"""Prices and volume: in an experiment trade by trade, with the equilibrium; else round by round, for each good."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Chart, Panel, Series
from agentsim.games.market.panels.spots import rounds, spots
from agentsim.games.market.schedule import PeriodBegan, PeriodEnded
from agentsim.games.market.trading import Traded

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
