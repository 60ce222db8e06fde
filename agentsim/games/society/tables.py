"""Tables: `days` and `agents`, the columns that notebooks rely on. What a page shows is `charts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Cell, Frame
from agentsim.games.society.amounts import number
from agentsim.games.society.ending import DayEnded, Result, SocietyEnded
from agentsim.games.society.terms import RESOURCES

_COUNTS = ("posts", "messages", "proposals", "votes", "invalid", "laws")
_STOCKS = tuple((resource, where) for resource in RESOURCES for where in ("held", "pool"))
_AMOUNTS = (*RESOURCES, "wealth")
_TAIL = ("hours", "posts", "messages", "proposals", "votes", "breaches", "rank")
DAYS = (
    *("day", "active", "dormant", "dead"),
    *map("_".join, _STOCKS),
    *("land_pool", "gini", *_COUNTS),
)
AGENTS = ("agent", "player", "name", "personality", "condition", *_AMOUNTS, *_TAIL)


def tables(log: Sequence[LogEntry]) -> Mapping[str, Frame]:
    """`days`: a row an evening. `agents`: a row an agent as the game ends, by number.

    An agent's status is its `condition`: a column `status` leads every table over many runs.
    """
    events = [told.event for told in log]
    days = tuple(_day(event) for event in events if isinstance(event, DayEnded))
    results = next((event.results for event in reversed(events) if isinstance(event, SocietyEnded)), ())
    agents = tuple(_agent(result) for result in sorted(results, key=lambda result: result.agent))
    return {"days": Frame(DAYS, days), "agents": Frame(AGENTS, agents)}


def _day(event: DayEnded) -> tuple[Cell, ...]:
    stocks = [number(getattr(event.totals[resource], where)) for resource, where in (*_STOCKS, ("land", "pool"))]
    counts = (getattr(event, name) for name in _COUNTS)
    return (event.day, event.active, event.dormant, event.dead, *stocks, event.gini, *counts)


def _agent(result: Result) -> tuple[Cell, ...]:
    who = (result.agent, result.player, result.name or None, result.personality, result.status)
    return (*who, *(number(getattr(result, name)) for name in _AMOUNTS), *(getattr(result, name) for name in _TAIL))
