"""Truth: a fact of a game that players may have beliefs about, such as a role, the winner or the next elimination."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agentsim.engine.event import PlayerId
from agentsim.lazy import dataclass

WINNER: Final = "winner"
"""The fact that every game has: the player with rank 1, if it shares it with no other."""


@dataclass(frozen=True, slots=True)
class Truth:
    """A fact of a game: `name` (of the player `about`) is `value`.

    `at` is the number of the event with which it becomes true, from 1, or 0 for a fact of the whole game. A `lasting`
    fact holds until the next of its name and player; any other occurs at `at`, and a belief is about the next
    occurrence. `public` is the number of the event after which all players know it, or None.
    """

    name: str
    value: str | int | float
    at: int
    about: PlayerId | None = None
    lasting: bool = False
    public: int | None = None


def truth_at(truths: Iterable[Truth], name: str, about: PlayerId | None, events: int) -> Truth | None:
    """Return the fact that a belief of the time after this number of events is about, or None.

    It is the latest of those that hold, or the next of those that occur, unless all players know it by then; `truths`
    are in the order of their events.
    """
    found = [each for each in truths if (each.name, each.about) == (name, about)]
    held = [each for each in found if each.lasting and each.at <= events]
    latest = held[-1] if held else next((each for each in found if not each.lasting and each.at > events), None)
    is_known = latest is not None and latest.public is not None and latest.public <= events
    return None if is_known else latest
