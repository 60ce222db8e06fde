"""Panels of Monopoly: board and words by turns, money, trades and landings, from the events that one audience heard.

Everything is worked out from events alone (`replay`); given what one player heard, other players' thoughts are missing
and nothing else. Markup does not belong here.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Panel
from agentsim.games.monopoly.deals import deals
from agentsim.games.monopoly.panels import landings, money, ring, trades
from agentsim.games.monopoly.replay import began, snapshots


def panels(log: Sequence[LogEntry]) -> list[Panel]:
    """Everything there is to show; nothing before the first turn, and no panel without data."""
    start, turns = began(log), snapshots(log)
    if start is None or len(turns) < 2:
        return []
    names = start.names
    return [
        ring.board(turns, names),
        *money.panels(turns, names),
        *trades.panels(deals(log), log, names),
        *landings.panels(log),
    ]
