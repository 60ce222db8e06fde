"""Tables of Monopoly for export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsim.engine.event import Told
from agentsim.engine.panel import Frame

__all__ = ["tables"]


def tables(log: Sequence[Told]) -> Mapping[str, Frame]:
    """The game's own tables."""
    return {}
