"""Panels of Monopoly."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import Told
from agentsim.engine.panel import Panel

__all__ = ["panels"]


def panels(log: Sequence[Told]) -> list[Panel]:
    """What the page shows."""
    return []
