"""Agents: a page for each: who it is, what it holds from evening to evening, what it did and met (`diary`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentsim.engine.event import Event
from agentsim.engine.panel import Cell, Chart, Panel, PlayerProfile, PlayerProfiles, Series
from agentsim.games.society.amounts import UNIT, number
from agentsim.games.society.ending import Result, SocietyEnded
from agentsim.games.society.panels.diary import diaries
from agentsim.games.society.panels.fortunes import Stock, fortunes
from agentsim.games.society.panels.people import People
from agentsim.games.society.terms import RESOURCES

MOST_PAGES = 200
"""The most agents with a page of their own; the table of agents (`agentsim export`) has them all."""


def agents(events: Sequence[Event], people: People) -> list[Panel]:
    """A page for each of the first agents; nothing before the first action."""
    lines = diaries(events, people)
    if not lines:
        return []
    days = fortunes(events)
    ended = next((event for event in events if isinstance(event, SocietyEnded)), None)
    results = {result.agent: result for result in ended.results} if ended else {}
    pages = tuple(
        PlayerProfile(
            people.player(agent),
            tuple(_facts(agent, people, results.get(agent))),
            _chart(agent, days),
            tuple(lines.get(agent, ())),
        )
        for agent in list(people.beings)[:MOST_PAGES]
    )
    note = f"The first {MOST_PAGES} of {len(people.beings):,} agents." if len(people.beings) > len(pages) else ""
    return [PlayerProfiles("Agents", pages, note)]


def _facts(agent: int, people: People, result: Result | None) -> Iterator[tuple[str, Cell]]:
    yield "agent", people.called(agent)
    yield "values", people.beings[agent].personality
    if result is not None:
        yield "in the end", result.status
        yield "wealth", number(result.wealth)
        yield "rank", result.rank


def _chart(agent: int, days: Sequence[dict[int, Stock]]) -> Chart | None:
    if not days:
        return None
    series = tuple(Series(name, tuple(stocks[agent][name] / UNIT for stocks in days)) for name in RESOURCES)
    labels = tuple(str(day) for day in range(1, len(days) + 1))
    return Chart("Held on the evening", "line", labels, series, "day", "units")
