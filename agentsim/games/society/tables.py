"""Tables: `days` and `agents`, the columns that notebooks rely on. What a page shows is `panels`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Cell, Frame
from agentsim.games.society.amounts import number
from agentsim.games.society.ending import DayEnded, SocietyEnded
from agentsim.games.society.terms import RESOURCES

DAYS = (
    "day",
    "active",
    "dormant",
    "dead",
    *(f"{resource}_{where}" for resource in RESOURCES for where in ("held", "pool")),
    "land_pool",
    "gini",
    "posts",
    "messages",
    "proposals",
    "votes",
    "invalid",
    "laws",
)
AGENTS = (
    "agent",
    "player",
    "name",
    "personality",
    "condition",
    "food",
    "energy",
    "materials",
    "wealth",
    "hours",
    "posts",
    "messages",
    "proposals",
    "votes",
    "breaches",
    "rank",
)


def tables(log: Sequence[LogEntry]) -> Mapping[str, Frame]:
    """`days`: a row an evening. `agents`: a row an agent as the game ends, by number.

    An agent's status is its `condition`: a column `status` leads every table over many runs.
    """
    days: list[tuple[Cell, ...]] = []
    agents: list[tuple[Cell, ...]] = []
    for event in (told.event for told in log):
        match event:
            case DayEnded():
                days.append(_day(event))
            case SocietyEnded():
                agents = [
                    (
                        result.agent,
                        result.player,
                        result.name or None,
                        result.personality,
                        result.status,
                        *map(number, (result.food, result.energy, result.materials, result.wealth)),
                        result.hours,
                        result.posts,
                        result.messages,
                        result.proposals,
                        result.votes,
                        result.breaches,
                        result.rank,
                    )
                    for result in sorted(event.results, key=lambda result: result.agent)
                ]
            case _:
                pass
    return {"days": Frame(DAYS, tuple(days)), "agents": Frame(AGENTS, tuple(agents))}


def _day(event: DayEnded) -> tuple[Cell, ...]:
    stocks = (number(amount) for name in RESOURCES for amount in (event.totals[name].held, event.totals[name].pool))
    return (
        event.day,
        event.active,
        event.dormant,
        event.dead,
        *stocks,
        number(event.totals["land"].pool),
        event.gini,
        event.posts,
        event.messages,
        event.proposals,
        event.votes,
        event.invalid,
        event.laws,
    )
