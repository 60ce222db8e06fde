"""Players' memory: the newest turns as they were told, with every word, and summaries of older ones.

What all players hear is kept once for all of them, in `Minutes`, and `summarizing` sums it up. Thoughts, answers to a
player's offers and its discarded proposals are each player's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, ClassVar, TypeAlias

from agentsim.engine.event import LoggedEvent, PlayerId
from agentsim.engine.memory import RecentEvents, Room
from agentsim.engine.prompt import Restated, in_quotes, joined
from agentsim.games.monopoly.board import OnDeed, Recounted

# -- what is remembered


@dataclass(frozen=True, slots=True)
class Told:
    """One line of the public history: what happened, and a player's words in it, or "" for none.

    `said` is None if the line tells a fact of the board, which a person at the table has seen.
    """

    happened: str
    said: str | None = None

    @property
    def size(self) -> int:
        """About the number of characters of its line in a prompt."""
        return len(self.happened) + len(self.said or "") + 5

    @property
    def line(self) -> str:
        """The line in a prompt, in which a player's words are quoted and cannot pass for anything else."""
        if self.said:
            return joined(f"{self.happened}: ", in_quotes(self.said))
        return self.happened if self.said is not None else Restated(self.happened)


Heard: TypeAlias = tuple[tuple[str, ...], tuple[Told, ...]]
"""The public history: the summaries, oldest first, and the lines since."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """A player's own thought, and the turn in which it had it."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """The number of a player's latest offers to another one, and of those that were rejected."""

    name: str
    rejected: int
    offers: int


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of one player; `earlier` are summaries, oldest first, and `told` the lines since.

    `discarded` is why its last proposal of this turn was discarded, or "".
    """

    earlier: tuple[str, ...] = ()
    told: tuple[Told, ...] = ()
    thoughts: tuple[Thinking, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    discarded: str = ""

    def public(self) -> Iterator[str]:
        """Yield the public history, summaries first."""
        if self.earlier:
            yield Restated("Earlier in the game:")
            yield from (_restated("- ", in_quotes(summary)) for summary in self.earlier)
            yield "Since then:"
        yield from (told.line for told in self.told)

    def thought(self) -> Iterator[str]:
        yield "Your own latest thoughts:" if self.thoughts else "You have had no thoughts yet."
        yield from (joined(f"- turn {thought.turn}: ", in_quotes(thought.text)) for thought in self.thoughts)

    def refused(self) -> Iterator[str]:
        if self.rejections:
            counts = (f"{entry.name} {entry.rejected} of {entry.offers}" for entry in self.rejections)
            yield f"Rejected of your latest offers: {', '.join(counts)}."
        if self.discarded:
            yield f"Your last proposal was discarded, and only you know of it: {self.discarded}."


def _restated(*parts: str) -> Restated:
    """Return one line of these parts, which is not told again to a person who was there."""
    line = Restated("".join(parts))
    line.parts = parts
    return line


# -- what only one player remembers

THOUGHTS = Room(5, chars=1200)
"""A player's own thoughts that it remembers, about 300 tokens."""
ANSWERS = Room(10, of=("proposer", "target"))
PROPOSALS = Room(1, of=("proposer",))


def memory(kept: RecentEvents, heard: Heard, player: PlayerId, players: tuple[PlayerId, ...], turn: int) -> Memory:
    """Return what a player remembers in this turn, with what all have `heard`."""
    thoughts, rejections, problem, at = _own(kept, kept.heard, player, players)
    return Memory(*heard, thoughts, rejections, problem * (at == turn))


@lru_cache(maxsize=16)  # rarely changes from one question to the next
def _own(
    kept: RecentEvents, so_far: int, player: PlayerId, players: tuple[PlayerId, ...]
) -> tuple[tuple[Thinking, ...], tuple[Rejection, ...], str, int]:
    """Return a player's thoughts, rejections, and the problem and turn of its last proposal.

    `so_far` is the number of events heard, for the cache.
    """
    answers: list[Sequence[Any]] = [kept.of(ANSWERS, player, other) for other in players]
    rejections = [
        Rejection(given[0].event.target_name, sum(not told.event.accepted for told in given), len(given))
        for given in answers
        if given
    ]
    last = [(getattr(told.event, "problem", ""), told.round) for told in kept.of(PROPOSALS, player)]
    return (
        tuple([Thinking(told.round, told.event.content) for told in kept.of(THOUGHTS)]),
        tuple(rejections),
        *(last or [("", 0)])[0],
    )


# -- what is told


class Remembered(Recounted, base=True):
    """Base of events that players remember beyond the board: words, and what became of trades."""

    room: ClassVar[Room | None] = None
    """The room for these events in a player's own memory, or None."""

    @property
    def said(self) -> str:
        return str(getattr(self, self.words)) if self.words else ""


class _InWords(Remembered, words="text", base=True):
    player: str
    name: str
    turn: int
    text: str


class Spoke(_InWords, heading="{name} says"):
    """A player speaks to the whole table."""

    short = "{name}"


class Thought(_InWords, heading="{name} thinks", private=("player",)):
    """A player thinks; only that player hears it."""

    room = THOUGHTS


class Narrated(_InWords, heading="The narrator, in place of {name}"):
    """The narrator's line in place of a player without a usable answer; none of it is the player's words."""

    short = "NARRATOR: {text}"

    @property
    def said(self) -> str:
        return ""


class Summarized(Remembered, heading="The table talk in short", words="text"):
    """A summary that replaces some turns in the players' memory, by the summarizer or the digest."""

    forgets: ClassVar[bool] = True
    first: int
    last: int
    text: str


# -- the public history: in full as far as there is room, and summaries before

MOST_SUMMED = 900
"""Characters of all summaries together, about 225 tokens."""
EVERYBODY = "@everybody"
"""A listener that hears what all players hear, and nothing else."""


class Minutes:
    """The public history: summaries, and all lines heard since the last one.

    Once the lines take more than `chars`, whole turns are summed up, the oldest first and at most `turns` in one
    summary, until half of the room is free. Of a turn that is too long by itself the older part is summed up.
    """

    def __init__(self, listener: PlayerId, *, titles: Sequence[str], turns: int, chars: int) -> None:
        self._titles, self._turns, self._chars = titles, turns, chars
        self._summaries: list[str] = []
        self._shown: Heard | None = None
        self._begin(())

    def _begin(self, heard: Iterable[tuple[LoggedEvent, int]]) -> None:
        """Start over as if only this had been heard since the last summary."""
        self._heard: list[tuple[LoggedEvent, int]] = []  # with the characters that each adds to the lines
        self._lines: list[Told] = []
        self._size = 0
        self._headed = 0  # the round under whose title the last line stands
        self._step: tuple[int | None, str] = (None, "")  # the decision and the kind of event that it tells
        self._parts: dict[int, str] = {}  # of that line, by position
        for entry, _ in heard:
            self._add(entry)

    def hear(self, entry: LoggedEvent) -> None:
        self._shown = None
        if isinstance(entry.event, Summarized):
            gone = len(self.leaving())
            self._summaries.append(entry.event.text)
            while sum(map(len, self._summaries)) > MOST_SUMMED and len(self._summaries) > 1:
                del self._summaries[0]
            self._begin(self._heard[gone:])
        else:
            self._add(entry)

    def _add(self, entry: LoggedEvent) -> None:
        event = entry.event
        size = self._tell(entry, event, event.in_short) if isinstance(event, Recounted) and event.short else 0
        self._heard.append((entry, size))
        self._size += size

    def _tell(self, entry: LoggedEvent, event: Recounted, happened: str) -> int:
        """Add the line of an event, if it has one, and return the characters that it adds."""
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

    def leaving(self) -> Sequence[LoggedEvent]:
        """Return the events to sum up now; empty while there is room."""
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

    def retold(self, entries: Iterable[LoggedEvent]) -> tuple[Told, ...]:
        again = Minutes(EVERYBODY, titles=self._titles, turns=self._turns, chars=self._chars)
        for entry in entries:
            again.hear(entry)
        return tuple(again._lines)

    def shown(self) -> Heard:
        """Return the public history as it is told now; the same object until something is heard."""
        if self._shown is None:
            self._shown = tuple(self._summaries), tuple(self._lines)
        return self._shown
