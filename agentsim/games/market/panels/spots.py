"""Spots: the rounds at which a long market is shown, since a page cannot show a line for each of ten thousand."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import LogEntry

MOST = 60


def rounds(log: Sequence[LogEntry]) -> int:
    """The number of the last round."""
    return log[-1].round if log else 0


def spots(last: int, most: int = MOST) -> list[int]:
    """The round after the set-up, then evenly so many rounds at most, the last one among them."""
    step = max(1, -(-last // most))
    return sorted({*range(last, 0, -step)})
