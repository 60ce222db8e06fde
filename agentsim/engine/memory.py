"""Memory: what a player has heard, what it keeps of that, and how an event looks in a prompt.

Who may hear an event is stated where it is told (`table`); which events a memory keeps is the game's.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Protocol, TypeVar

from agentsim.engine.event import Event, LoggedEvent, PlayerId
from agentsim.engine.prompt import Quoted, in_line, in_quotes, joined, quoted
from agentsim.engine.wording import cut

_MOST_LINES = 20_000
"""Lines that are kept, some 200 bytes each as a rule."""


class Memory(Protocol):
    """What a player makes of the events that it hears, one after the other.

    A class may name in `skips` the kinds of events that are never handed to it.
    """

    def hear(self, entry: LoggedEvent) -> None:
        """Take in one event."""
        ...


M = TypeVar("M", bound=Memory)


def skipped_kinds(make: Callable[[PlayerId], Memory]) -> Container[type[Event]]:
    """Return the kinds of events that such a memory is never handed."""
    skips: Container[type[Event]] = getattr(make, "skips", frozenset())
    return skips


def line_of(
    entry: LoggedEvent, rounds: Sequence[str], chars: int | None = None, *, brief: bool = False, **beside: str
) -> Quoted:
    """An event as a line of JSON in a prompt: its round, heading, and words or fact, of at most so many characters.

    What stands `beside` its heading comes after it. A `brief` line names what stands in full elsewhere in the prompt.
    """
    event = entry.event
    content = event.content if chars is None else cut(event.content, chars)
    told = {} if brief else {"words": content} if event.words else {"fact": content} if content else {}
    return quoted(round=rounds[entry.round], event=event.heading, **beside, **told)


class Lines:
    """The lines of a game's events, each put into words once for all players and turns that show it."""

    def __init__(self, rounds: Sequence[str], chars: int) -> None:
        self._rounds, self._chars = rounds, chars
        self._made: dict[tuple[int, bool, tuple[tuple[str, str], ...]], tuple[LoggedEvent, Quoted]] = {}

    def of(self, entry: LoggedEvent, *, brief: bool = False, **beside: str) -> Quoted:
        """The line of an event."""
        key = id(entry), brief, tuple(beside.items())
        if (made := self._made.get(key)) is None:
            if len(self._made) >= _MOST_LINES:
                self._made.clear()
            line = line_of(entry, self._rounds, self._chars, brief=brief, **beside)
            made = self._made[key] = entry, line  # the entry is kept, or another might have its `id`
        return made[1]


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """How many events of some kinds are remembered: the newest `most`, of at most so many `chars` in all.

    The newest one is, whatever its length. Where `of` names fields, there is such a room for all of their values. Kinds
    share a room by naming the same object.
    """

    most: int
    chars: int | None = None
    of: tuple[str, ...] = ()

    def holds(self, events: Sequence[Event]) -> bool:
        """Whether there is room for all of these."""
        return len(events) <= self.most and (self.chars is None or sum(len(e.content) for e in events) <= self.chars)


@cache
def _room_for(kind: Hashable) -> Room | None:
    room: Room | None = getattr(kind, "room", None)
    return room


class _Roomless(Container[type[Event]]):
    """Kinds whose class names no room for them."""

    def __contains__(self, kind: Any) -> bool:
        return _room_for(kind) is None


class Latest:
    """The newest events that a player has heard, oldest first, of the kinds whose class names a `room` for them."""

    skips: ClassVar[Container[type[Event]]] = _Roomless()

    def __init__(self, player: PlayerId) -> None:
        self._kept: dict[tuple[object, ...], list[LoggedEvent]] = {}
        self.heard = 0
        """How many there were in all: what is made of those that are kept stays the same as long as this does."""

    def hear(self, entry: LoggedEvent) -> None:
        event = entry.event
        if (room := _room_for(type(event))) is not None:  # type: ignore[arg-type] # a class can be hashed
            kept = self._kept.setdefault((room, *(getattr(event, name) for name in room.of)), [])
            kept.append(entry)
            self.heard += 1
            while len(kept) > 1 and not room.holds([each.event for each in kept]):
                del kept[0]

    def of(self, room: Room, *values: object) -> Sequence[LoggedEvent]:
        """Those in that room; where it is one for each value of some fields, of these values."""
        return self._kept.get((room, *values), ())


class Transcript:
    """What a player has heard, a line for each event: `Day 1: Ada says: "Good morning."`, facts without the marks.

    A player's text in a title, heading or fact begins no line (`in_line`).
    """

    def __init__(self, rounds: Sequence[str]) -> None:
        self.rounds = rounds
        self.lines: list[str] = []

    def hear(self, entry: LoggedEvent) -> None:
        event, told = entry.event, in_line(f"{self.rounds[entry.round]}: {entry.event.heading}")
        if event.in_prompt:
            words = event.words and event.content
            self.lines.append(
                joined(f"{told}: ", in_quotes(words)) if words else f"{told}. {in_line(event.content)}".strip()
            )
