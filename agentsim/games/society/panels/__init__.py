"""Panels of Society: charts, tables, a network, threads and pages, from events alone.

Given the events one agent heard, they show what that agent could know. Columns that exports promise are `tables`.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Panel
from agentsim.games.society.panels.agents import agents
from agentsim.games.society.panels.days import by_day
from agentsim.games.society.panels.groups import groups
from agentsim.games.society.panels.laws import laws
from agentsim.games.society.panels.people import people
from agentsim.games.society.panels.ties import forum, ties

__all__ = ["panels"]


def panels(log: Sequence[LogEntry]) -> list[Panel]:
    """Everything that a page shows of the society, in its order; no panel without data."""
    events = [told.event for told in log]
    known = people(events)
    if known is None:
        return []
    return [
        *by_day(events),
        *laws(events),
        *groups(events, known),
        *ties(events, known),
        *forum(events, known),
        *agents(events, known),
    ]
