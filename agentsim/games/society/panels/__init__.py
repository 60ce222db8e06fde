"""Panels of Society: charts and tables, from events alone. Columns that exports promise are `tables`."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import Told
from agentsim.engine.panel import Panel
from agentsim.games.society.panels.days import by_day

__all__ = ["panels"]


def panels(log: Sequence[Told]) -> list[Panel]:
    """Everything that a page shows of the society, in its order."""
    return by_day(log)
