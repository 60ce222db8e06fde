"""Panels: prices, books, periods, holdings, dealings and places, from the events that one audience heard.

Given the events one agent heard, they show what that agent could know. Markup does not belong here.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Panel
from agentsim.games.market.course import MarketBegan
from agentsim.games.market.panels.book import book
from agentsim.games.market.panels.dealings import interactions
from agentsim.games.market.panels.grid import grid
from agentsim.games.market.panels.holdings import holdings
from agentsim.games.market.panels.periods import periods
from agentsim.games.market.panels.prices import prices

__all__ = ["panels"]


def panels(log: Sequence[LogEntry]) -> list[Panel]:
    """Everything there is to show; nothing before the market has begun, and no panel without data."""
    if not any(isinstance(told.event, MarketBegan) for told in log):
        return []
    return [*periods(log), *prices(log), *book(log), *holdings(log), *interactions(log), *grid(log)]
