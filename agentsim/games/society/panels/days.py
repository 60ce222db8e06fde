"""Days: the society from evening to evening."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from agentsim.engine.event import Event
from agentsim.engine.panel import Chart, Panel, Series
from agentsim.games.society.amounts import UNIT
from agentsim.games.society.ending import DayEnded
from agentsim.games.society.terms import RESOURCES


def by_day(events: Sequence[Event]) -> list[Panel]:
    """Who is awake, what there is, how unequal it is, and how much is said; nothing before the first evening."""
    days = [event for event in events if isinstance(event, DayEnded)]
    if not days:
        return []
    awake = {name: attrgetter(name) for name in ("active", "dormant", "dead")}
    talk = {name: attrgetter(name) for name in ("posts", "messages", "proposals", "votes")}
    return [
        _lines("Agents by evening", days, awake, "agents"),
        _lines("Held by agents", days, {name: _amount("held", name) for name in RESOURCES}, "units"),
        _lines("The common pool", days, {name: _amount("pool", name) for name in (*RESOURCES, "land")}, "units"),
        _lines("Inequality of wealth", days, {"Gini coefficient": lambda day: day.gini}, "0 to 1"),
        _lines("Talk and votes by day", days, talk, "a day"),
    ]


def _amount(where: str, resource: str) -> Callable[[DayEnded], float]:
    return lambda day: float(getattr(day.totals[resource], where)) / UNIT


def _lines(title: str, days: Sequence[DayEnded], lines: Mapping[str, Callable[[DayEnded], float]], unit: str) -> Chart:
    series = tuple(Series(name, tuple(float(value(day)) for day in days)) for name, value in lines.items())
    return Chart(title, "line", tuple(str(day.day) for day in days), series, "day", unit)
