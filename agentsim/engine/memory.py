"""Memory: what a player keeps of what it hears, and how an event looks in a prompt.

How it hears is `hearing`; which events it keeps is the game's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentsim.engine.event import LogEntry
from agentsim.engine.prompt import Quoted, quoted
from agentsim.engine.wording import cut

_MOST_LINES = 20_000
"""Lines that are kept, some 200 bytes each as a rule."""


class Memory(Protocol):
    """What a player makes of the events that it hears, one after the other.

    A class may name in `skips`, a frozenset, the kinds of events that are never handed to it.
    """

    def hear(self, entry: LogEntry) -> None:
        """Take in one event."""
        ...


def line_of(
    entry: LogEntry, rounds: Sequence[str], chars: int | None = None, *, brief: bool = False, **beside: str
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
        self._made: dict[tuple[int, bool, tuple[tuple[str, str], ...]], Quoted] = {}

    def of(self, entry: LogEntry, *, brief: bool = False, **beside: str) -> Quoted:
        """The line of an event of this game, whose log keeps the entry for as long as it is played."""
        key = id(entry), brief, tuple(beside.items())
        if (line := self._made.get(key)) is None:
            if len(self._made) >= _MOST_LINES:
                self._made.clear()
            line = self._made[key] = line_of(entry, self._rounds, self._chars, brief=brief, **beside)
        return line


class Transcript:
    """What a player has heard, a line of JSON for each event, in which words are told from facts."""

    def __init__(self, rounds: Sequence[str]) -> None:
        self.rounds = rounds
        self.lines: list[Quoted] = []

    def hear(self, entry: LogEntry) -> None:
        if entry.event.in_prompt:
            self.lines.append(line_of(entry, self.rounds))
