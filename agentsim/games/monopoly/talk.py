"""Talk: what players remember: the newest turns as they were told, with every word said, and older ones in short.

What all players hear is remembered once for all of them, in `Minutes`; `summarizing` sums it up. Thoughts, answers to
one's own offers and refused proposals are each player's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, ClassVar, TypeAlias

from agentsim.engine.event import LoggedEvent, PlayerId
from agentsim.engine.memory import Latest, Room
from agentsim.engine.prompt import Restated, in_quotes, joined
from agentsim.games.monopoly.board import OnDeed, Recounted

# -- what is remembered


@dataclass(frozen=True, slots=True)
class Told:
    """One line of the table's history: what happened, and a player's words in it: "" for none.

    `said` is None where the line tells a fact of the board, which a person at the table has seen.
    """

    happened: str
    said: str | None = None

    @property
    def size(self) -> int:
        """About the characters of its line in a prompt."""
        return len(self.happened) + len(self.said or "") + 5

    @property
    def line(self) -> str:
        """As it stands in a prompt, where no player's words can pass for anything else."""
        if self.said:
            return joined(f"{self.happened}: ", in_quotes(self.said))
        return self.happened if self.said is not None else Restated(self.happened)


Heard: TypeAlias = tuple[tuple[str, ...], tuple[Told, ...]]
"""What all heard: the summaries, oldest first, and all that was told since."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """A thought of one's own, and the turn in which it was thought."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """How many of one's latest offers to a player were rejected."""

    name: str
    rejected: int
    offers: int


@dataclass(frozen=True, slots=True)
class Memory:
    """What one player remembers; `earlier` are summaries, oldest first, and `told` is everything after them.

    `discarded` says why its last proposal of this turn could not be, where it could not.
    """

    earlier: tuple[str, ...] = ()
    told: tuple[Told, ...] = ()
    thoughts: tuple[Thinking, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    discarded: str = ""

    def public(self) -> Iterator[str]:
        """What all heard: first what is older, in short."""
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
    """One line of these parts, which a person who was there is not told again."""
    line = Restated("".join(parts))
    line.parts = parts
    return line


# -- what one player alone remembers

THOUGHTS = Room(5, chars=1200)
"""One's own, about 300 tokens."""
ANSWERS = Room(10, of=("proposer", "target"))
PROPOSALS = Room(1, of=("proposer",))


def memory(kept: Latest, heard: Heard, player: PlayerId, players: tuple[PlayerId, ...], turn: int) -> Memory:
    """What a player remembers in this turn, with what all `heard`."""
    thoughts, rejections, problem, at = _own(kept, kept.heard, player, players)
    return Memory(*heard, thoughts, rejections, problem * (at == turn))


@lru_cache(maxsize=16)  # of most questions it is what it was at the one before
def _own(
    kept: Latest, so_far: int, player: PlayerId, players: tuple[PlayerId, ...]
) -> tuple[tuple[Thinking, ...], tuple[Rejection, ...], str, int]:
    """Thoughts, rejections, and why the last proposal could not be, with its turn, of what is kept `so_far`."""
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
    """Base of what players remember beyond the board: words, and what became of trades."""

    room: ClassVar[Room | None] = None
    """How much of it a player remembers for itself."""

    @property
    def said(self) -> str:
        return str(getattr(self, self.words)) if self.words else ""


class _InWords(Remembered, words="text", base=True):
    player: str
    name: str
    turn: int
    text: str


class Spoke(_InWords, heading="{name} says"):
    """What a player says to the whole table."""

    short = "{name}"


class Thought(_InWords, heading="{name} thinks", private=("player",)):
    """What a player thinks; only that player hears it."""

    room = THOUGHTS


class Narrated(_InWords, heading="The narrator, in place of {name}"):
    """What the narrator says where a player was asked and gave no usable answer: none of it is the player's words."""

    short = "NARRATOR: {text}"

    @property
    def said(self) -> str:
        return ""


class Summarized(Remembered, heading="The table talk in short", words="text"):
    """What players remember of some turns from now on, in the summarizer's words or in those of the digest."""

    forgets: ClassVar[bool] = True
    first: int
    last: int
    text: str


# -- what all players heard, in full as far as there is room, and in short before

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

    def _begin(self, heard: Iterable[tuple[LoggedEvent, int]]) -> None:
        """Since the last summary nothing but this was heard."""
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

    def leaving(self) -> Sequence[LoggedEvent]:
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

    def retold(self, entries: Iterable[LoggedEvent]) -> tuple[Told, ...]:
        again = Minutes(EVERYBODY, titles=self._titles, turns=self._turns, chars=self._chars)
        for entry in entries:
            again.hear(entry)
        return tuple(again._lines)

    def shown(self) -> Heard:
        """What a player is told now, which stays the same until something is heard."""
        if self._shown is None:
            self._shown = tuple(self._summaries), tuple(self._lines)
        return self._shown
