"""Invariants of every game of Agent Island, stated independently of the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agentsim.engine.event import LoggedEvent, PlayerId
from agentsim.engine.game import RandomDraw
from agentsim.engine.request import Request
from agentsim.games.agent_island.votes import Eliminated, Tallied, Won


def invariants(steps: Iterable[LoggedEvent | Request[Any]], players: Sequence[PlayerId]) -> Iterator[str | RandomDraw]:
    """Yield each player who leaves or wins without the most votes, and the lot between players with equally many."""
    most: tuple[PlayerId, ...] = ()
    for event in (step.event for step in steps if isinstance(step, LoggedEvent)):
        if isinstance(event, Tallied):
            most = tuple(each for each, votes in event.votes.items() if votes == max(event.votes.values()))
        elif isinstance(event, Eliminated | Won):
            if event.player not in most:
                yield f"{event.player} leaves or wins, and {', '.join(most)} had the most votes"
            elif len(most) > 1:
                yield RandomDraw("between players with as many votes", most, event.player)
