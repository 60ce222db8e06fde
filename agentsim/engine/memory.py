"""Memory: the events that a player has heard, the part that it keeps, and the text of an event in a prompt.

The audience of an event is stated when it is told (`table`); each game decides what its memories keep.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, ClassVar

from agentsim.engine.event import Event, LoggedEvent, MemoryLimit, PlayerId
from agentsim.engine.wording import Quoted, cut, in_line, in_quotes, joined, quoted

_MOST_LINES = 20_000
"""The maximum number of cached lines, mostly some 200 bytes each."""


def line_of(
    entry: LoggedEvent, rounds: Sequence[str], chars: int | None = None, *, brief: bool = False, **beside: str
) -> Quoted:
    """Return an event as a line of JSON for a prompt: its round, heading, and words or fact, cut to `chars` characters.

    `beside` are fields after the heading. A `brief` line leaves out words and fact, which are elsewhere in the prompt.
    """
    event = entry.event
    content = event.content if chars is None else cut(event.content, chars)
    told = {} if brief else {"words": content} if event.words else {"fact": content} if content else {}
    return quoted(round=rounds[entry.round], event=event.heading, **beside, **told)


class Lines:
    """The lines of a game's events, each formatted once for all players and turns that show it."""

    def __init__(self, rounds: Sequence[str], chars: int) -> None:
        self._rounds, self._chars = rounds, chars
        self._made: dict[tuple[int, bool, tuple[tuple[str, str], ...]], tuple[LoggedEvent, Quoted]] = {}

    def of(self, entry: LoggedEvent, *, brief: bool = False, **beside: str) -> Quoted:
        """Return the line of an event."""
        key = id(entry), brief, tuple(beside.items())
        if (made := self._made.get(key)) is None:
            if len(self._made) >= _MOST_LINES:
                self._made.clear()
            line = line_of(entry, self._rounds, self._chars, brief=brief, **beside)
            made = self._made[key] = entry, line  # the entry is kept, or another could get its `id`
        return made[1]


class _Unremembered(Container[type[Event]]):
    """The kinds of events without a `memory_limit`."""

    def __contains__(self, kind: Any) -> bool:
        return kind.memory_limit is None


class RecentEvents:
    """The newest events that a player has heard, oldest first, of the kinds that have a `memory_limit`."""

    skips: ClassVar[Container[type[Event]]] = _Unremembered()

    def __init__(self, player: PlayerId) -> None:
        self._kept: dict[tuple[object, ...], list[LoggedEvent]] = {}
        self.heard = 0
        """The number of such events in all: results computed from the kept events stay valid until it changes."""

    def hear(self, entry: LoggedEvent) -> None:
        event = entry.event
        if (memory_limit := event.memory_limit) is not None:
            kept = self._kept.setdefault((memory_limit, *(getattr(event, name) for name in memory_limit.of)), [])
            kept.append(entry)
            self.heard += 1
            while len(kept) > 1 and not memory_limit.holds([each.event for each in kept]):
                del kept[0]

    def of(self, memory_limit: MemoryLimit, *values: object) -> Sequence[LoggedEvent]:
        """Return the events kept under that limit; `values` are those of the fields in `memory_limit.of`."""
        return self._kept.get((memory_limit, *values), ())


class Transcript:
    """The events that a player has heard, one line each: `Day 1: Ada says: "Good morning."`; facts are not quoted.

    A player's text in a title, heading or fact cannot begin a line (`in_line`).
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
