"""Panels: what a market shows of itself, from the events that somebody heard."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import Told
from agentsim.engine.panel import Panel

__all__ = ["panels"]


def panels(log: Sequence[Told]) -> list[Panel]:
    return []
