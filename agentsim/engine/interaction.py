"""Interaction: what one player did towards another, as an event declares it. How dealings are summed up is not here."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    from agentsim.engine.event import Event, PlayerId

__all__ = ["AGAINST", "FOR", "NAMED", "NEITHER", "Interaction", "Past", "Sign"]

E = TypeVar("E", bound="Event")

Sign: TypeAlias = Literal[1, 0, -1]
FOR: Final = 1
NEITHER: Final = 0
AGAINST: Final = -1

NAMED: Final = "named"
"""The deed of naming a player in public words."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """What `who` did towards `whom`, in the past tense.

    FOR gives the other something, or says yes to what the other asked; AGAINST takes something away, or says no; talk
    is NEITHER. Only what a player chose is a dealing: what the rules or a lot bring about is none. `amount` is how much
    was given, in a unit that is the same for every dealing of that `deed`.
    """

    who: PlayerId
    whom: PlayerId
    deed: str
    sign: Sign = NEITHER
    amount: float | None = None


class Past:
    """What happened before an event that tells a part and points at another for the rest."""

    def __init__(self) -> None:
        self._events: dict[type[Event], list[Event]] = defaultdict(list)
        self._indexes: dict[tuple[type[Event], tuple[str, ...]], tuple[int, dict[tuple[object, ...], Event]]] = {}

    def add(self, event: Event) -> None:
        """This happened after all that is here."""
        self._events[type(event)].append(event)

    def last(self, kind: type[E], **fields: object) -> E | None:
        """The last event of exactly this class whose fields are these; None where there was none, or none was heard."""
        names = tuple(fields)
        seen, index = self._indexes.get((kind, names), (0, {}))
        events = self._events[kind]
        for event in events[seen:]:
            index[tuple(attrgetter(name)(event) for name in names)] = event
        self._indexes[kind, names] = len(events), index
        found = index.get(tuple(fields.values()))
        assert found is None or isinstance(found, kind)
        return found
