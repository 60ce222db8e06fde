"""What tests of dealings share."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import Event, Past

__all__ = ["done"]


def done(events: Sequence[Event]) -> list[tuple[str, str, str, int, float | None]]:
    """Every dealing of these events, each told after those before it."""
    past = Past()
    found: list[tuple[str, str, str, int, float | None]] = []
    for event in events:
        found += [(each.who, each.whom, each.deed, each.sign, each.amount) for each in event.interactions(past)]
        past.add(event)
    return found
