"""Minutes: what all players heard, in full as far as there is room, and in short before; `summarizing` sums it up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from agentsim.engine.event import LogEntry, PlayerId
from agentsim.games.monopoly.board import OnDeed, Recounted
from agentsim.games.monopoly.talk import Heard, Remembered, Summarized, Told

MOST_SUMMED = 900
"""Characters of summaries, about 225 tokens."""
EVERYBODY = "@everybody"
"""Hears what all hear, and nothing else."""


class Minutes:
    """What all players heard since the last summary, line by line, and the summaries before it.

    Once the lines take more than `chars`, whole turns are summed up, the oldest first and at most `turns` in one
    summary, until half of the room is free. Of a turn that is too long by itself the older part is.
    """

    def __init__(self, listener: PlayerId, *, titles: Sequence[str], turns: int, chars: int) -> None:
        self._titles, self._turns, self._chars = titles, turns, chars
        self._summaries: list[str] = []
        self._shown: Heard | None = None
        self._begin(())

    def _begin(self, heard: Iterable[tuple[LogEntry, int]]) -> None:
        """Since the last summary nothing but this was heard."""
        self._heard: list[tuple[LogEntry, int]] = []  # with the characters that each adds to the lines
        self._lines: list[Told] = []
        self._size = 0
        self._headed = 0  # the round under whose title the last line stands
        self._step: tuple[int | None, str] = (None, "")  # the decision and the kind of event that it tells
        self._parts: dict[int, str] = {}  # of that line, by position
        for entry, _ in heard:
            self._add(entry)

    def hear(self, entry: LogEntry) -> None:
        self._shown = None
        if isinstance(entry.event, Summarized):
            gone = len(self.leaving())
            self._summaries.append(entry.event.text)
            while sum(map(len, self._summaries)) > MOST_SUMMED and len(self._summaries) > 1:
                del self._summaries[0]
            self._begin(self._heard[gone:])
        else:
            self._add(entry)

    def _add(self, entry: LogEntry) -> None:
        event = entry.event
        size = self._tell(entry, event, event.in_short) if isinstance(event, Recounted) and event.short else 0
        self._heard.append((entry, size))
        self._size += size

    def _tell(self, entry: LogEntry, event: Recounted, happened: str) -> int:
        """Add the line of an event, if it has one; the characters that this takes."""
        if not happened:
            return 0
        before, step = 0, (entry.decision, event.kind)
        if entry.round != self._headed:
            self._headed = entry.round
            self._lines.append(Told(f"{self._titles[entry.round].replace(': ', ', ', 1)}:"))
            before = self._lines[-1].size
        if isinstance(event, OnDeed) and entry.decision is not None:
            # what one decision does in several steps is one line: no player is asked between them
            if step == self._step and not before:
                before = -self._lines.pop().size
            else:
                self._parts = {}
            what, _, part = happened.partition(": ")
            self._parts[event.position] = part
            happened = f"{what}: {', '.join(self._parts.values())}"
        self._step = step
        self._lines.append(Told(happened, event.said if isinstance(event, Remembered) else None))
        return before + self._lines[-1].size

    def leaving(self) -> Sequence[LogEntry]:
        """What is to be summed up now: nothing where there is room."""
        excess = self._size - self._chars // 2
        if self._size <= self._chars:
            return ()
        newest, gone = self._heard[-1][0].round, 0
        for turns, (number, told) in enumerate(groupby(self._heard, key=lambda heard: heard[0].round)):
            if excess <= 0 or turns == self._turns or (gone and number == newest):
                break
            for _, size in told:
                if number == newest and excess <= 0:
                    break
                gone, excess = gone + 1, excess - size
        return [entry for entry, _ in self._heard[:gone]]

    def retold(self, entries: Iterable[LogEntry]) -> tuple[Told, ...]:
        again = Minutes(EVERYBODY, titles=self._titles, turns=self._turns, chars=self._chars)
        for entry in entries:
            again.hear(entry)
        return tuple(again._lines)

    def shown(self) -> Heard:
        """What a player is told now, which stays the same until something is heard."""
        if self._shown is None:
            self._shown = tuple(self._summaries), tuple(self._lines)
        return self._shown
