"""Players' memory: the latest turns word for word, summaries of all older ones, and the latest offers.

What all players hear is kept once for all of them, in `Minutes`, and `summarizing` sums it up. Thoughts, answers to a
player's offers and its discarded proposals are each player's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import cached_property, lru_cache
from typing import Any, ClassVar, TypeAlias

from agentsim.engine.codec import computed_once
from agentsim.engine.event import LoggedEvent, MemoryLimit, PlayerId
from agentsim.engine.memory import RecentEvents
from agentsim.engine.table import Table
from agentsim.engine.wording import Restated, cut, in_quotes, joined
from agentsim.games.monopoly.board import OnDeed, Recounted
from agentsim.lazy import dataclass

# -- what is remembered


@dataclass(frozen=True, slots=True)
class Told:
    """One line of the public history: what happened, and a player's words in it, or "" for none.

    `said` is None if the line tells a fact of the board, which a person at the table has seen. `brief` says that the
    words were heard whole before.
    """

    happened: str
    said: str | None = None
    brief: bool = False

    @property
    def size(self) -> int:
        """About the number of characters of its line in a prompt."""
        return len(self.happened) + len(self.said or "") + 5

    @property
    def line(self) -> str:
        """The line in a prompt, in which a player's words are quoted and cannot pass for anything else."""
        if self.said:
            parts = (f"{self.happened}: ", in_quotes(self.said))
            return _restated(*parts) if self.brief else joined(*parts)
        return self.happened if self.said is not None else Restated(self.happened)

    def shortened(self) -> Told:
        """Return the line with its words kept to `ASIDE_CHARS` characters, with a mark if they are longer."""
        if self.said is None or len(self.said) <= ASIDE_CHARS:
            return self
        return Told(self.happened, cut(self.said, ASIDE_CHARS), brief=True)


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
class Offer:
    """A trade that was proposed and answered, in words."""

    turn: int
    proposer: str
    target: str
    terms: str
    accepted: bool

    @property
    def line(self) -> str:
        answer = "accepted" if self.accepted else "rejected"
        return f"- turn {self.turn}, {self.proposer} to {self.target}: {self.terms}; {answer}"


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
            yield f"Your latest offers that were rejected: {', '.join(counts)}."
        if self.discarded:
            yield f"Your last proposal was discarded, which only you know: {self.discarded}."


def _restated(*parts: str) -> Restated:
    """Return one line of these parts, which is not told again to a person who was there."""
    line = Restated("".join(parts))
    line.parts = parts
    return line


# -- what only one player remembers

THOUGHTS = MemoryLimit(5)
"""A player's own thoughts that it remembers, each whole."""
ANSWERS = MemoryLimit(10, of=("proposer", "target"))
PROPOSALS = MemoryLimit(1, of=("proposer",))
Own: TypeAlias = tuple[tuple[Thinking, ...], tuple[Rejection, ...], str, int]
"""A player's thoughts, its rejections, and the problem and turn of its last proposal."""


class Recalled(Memory):
    """The memory of a player at one moment of a game, whose parts are made when they are read: a bot reads few."""

    _table: Table
    _minutes: Callable[[PlayerId], Minutes]
    _player: PlayerId
    _turn: int
    _events: int

    def __init__(self, table: Table, minutes: Callable[[PlayerId], Minutes], player: PlayerId, turn: int) -> None:
        vars(self).update(_table=table, _minutes=minutes, _player=player, _turn=turn, _events=len(table.log))

    @computed_once
    def _heard(self) -> Heard:
        return self._table.memory(EVERYBODY, self._minutes, self._events).shown(self._turn)

    @computed_once
    def _own(self) -> Own:
        kept = self._table.memory(self._player, RecentEvents, self._events)
        return _own(kept, kept.heard, self._player, self._table.players)

    @property
    def earlier(self) -> tuple[str, ...]:
        return self._heard[0]

    @property
    def told(self) -> tuple[Told, ...]:
        return self._heard[1]

    @property
    def thoughts(self) -> tuple[Thinking, ...]:
        return self._own[0]

    @property
    def rejections(self) -> tuple[Rejection, ...]:
        return self._own[1]

    @property
    def discarded(self) -> str:
        return self._own[2] if self._own[3] == self._turn else ""

    def __eq__(self, other: object) -> bool:
        names = [each.name for each in fields(Memory)]
        return isinstance(other, Memory) and all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = Memory.__hash__


@lru_cache(maxsize=16)  # rarely changes from one question to the next
def _own(kept: RecentEvents, so_far: int, player: PlayerId, players: tuple[PlayerId, ...]) -> Own:
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

    @property
    def said(self) -> str:
        return str(getattr(self, self.words)) if self.words else ""


class _InWords(Remembered, words="text", base=True):
    player: str
    name: str
    turn: int
    text: str


class Spoke(_InWords, label="speech", heading="{name} says"):
    """A player speaks to the whole table; `asked` is the kind of the question that it answered."""

    short = "{name}"
    asked: str


class Thought(_InWords, heading="{name} thinks", private=("player",)):
    """A player thinks; only that player hears it."""

    memory_limit = THOUGHTS


class Narrated(_InWords, label="narration", heading="The narrator, in place of {name}"):
    """The narrator's line in place of a player without a usable answer; none of it is the player's words."""

    short = "NARRATOR: {text}"

    @property
    def said(self) -> str:
        return ""


class Summarized(Remembered, label="summary of the talk", heading="The table talk in short", words="text"):
    """A summary that replaces some turns in the players' memory, by the summarizer or the digest."""

    forgets: ClassVar[bool] = True
    first: int
    last: int
    text: str


# -- the public history: the latest turns word for word, and summaries before

EVERYBODY = "@everybody"
"""A listener that hears what all players hear, and nothing else."""
ASIDES = frozenset({"auction_bid", "buy_or_auction"})
"""The kinds of questions whose words are kept short once their turn is over: bids and purchases."""
ASIDE_CHARS = 80
"""Characters of such words, and of all words of turns that there is no room for."""


class Turn:
    """One turn as it was heard: all events, and its lines, word for word, which are made when they are read."""

    def __init__(self, number: int, title: str) -> None:
        self.number, self._title = number, title
        self.entries: list[LoggedEvent] = []
        self._lines: list[Told] = []
        self._worded = 0  # the number of entries that are in the lines
        self._asides: set[int] = set()  # the places of lines that are kept short once the turn is over
        self._step: tuple[int | None, str] = (None, "")  # the decision and the kind of event of the last line
        self._parts: dict[int, str] = {}  # of that line, by position

    @property
    def lines(self) -> Sequence[Told]:
        for entry in self.entries[self._worded :]:
            event = entry.event
            if isinstance(event, Recounted) and event.short and (happened := event.in_short):
                self._tell(entry, event, happened)
        self._worded = len(self.entries)
        return self._lines

    def _tell(self, entry: LoggedEvent, event: Recounted, happened: str) -> None:
        if not self._lines:
            self._lines.append(Told(f"{self._title}:"))
        step = (entry.decision, event.kind)
        if isinstance(event, OnDeed) and entry.decision is not None:
            # what one decision does in several steps is one line: no player is asked between them
            if step == self._step:
                self._lines.pop()
            else:
                self._parts = {}
            what, _, part = happened.partition(": ")
            self._parts[event.position] = part
            happened = f"{what}: {', '.join(self._parts.values())}"
        self._step = step
        if isinstance(event, Spoke) and event.asked in ASIDES:
            self._asides.add(len(self._lines))
        self._lines.append(Told(happened, event.said if isinstance(event, Remembered) else None))

    @cached_property
    def kept(self) -> tuple[Told, ...]:
        """The lines once the turn is over: words with bids and purchases are kept short."""
        return tuple(told.shortened() if index in self._asides else told for index, told in enumerate(self.lines))

    @cached_property
    def short(self) -> tuple[Told, ...]:
        """The lines with all words kept short."""
        return tuple(told.shortened() for told in self.lines)

    @cached_property
    def saved(self) -> int:
        """The characters by which `short` is shorter than `kept`."""
        return sum(told.size for told in self.kept) - sum(told.size for told in self.short)


class Minutes:
    """The public history: the summaries of all older turns, and the latest turns word for word.

    `turns` turns before the current one always stand, and up to `turns` - 1 before those: older ones leave `turns` at a
    time, into one summary. If all lines together take more than `chars` characters, the words of the turns before those
    that always stand are kept short, the oldest first.
    """

    def __init__(self, listener: PlayerId, *, titles: Sequence[str], turns: int, chars: int) -> None:
        self._titles, self._turns, self._chars = titles, turns, chars
        self._summaries: list[str] = []
        self._summed = 0  # the last turn that stands in a summary
        self._heard: list[Turn] = []
        self._past: tuple[int, tuple[Told, ...]] = (0, ())  # by current turn, the lines of the turns before it
        self._shown: tuple[int, Heard] | None = None

    def hear(self, entry: LoggedEvent) -> None:
        self._shown = None
        if isinstance(entry.event, Summarized):
            self._summaries.append(entry.event.text)
            self._summed = entry.event.last
            self._heard = [turn for turn in self._heard if turn.number > self._summed]
            self._past = (0, ())
            return
        if not self._heard or self._heard[-1].number != entry.round:
            title = self._titles[entry.round].replace(": ", ", ", 1)
            self._heard.append(Turn(entry.round, title))
        self._heard[-1].entries.append(entry)

    def leaving(self, now: int) -> Sequence[Turn]:
        """Return the turns to sum up at the beginning of turn `now`: none, or the oldest `turns`."""
        if now - self._summed <= 2 * self._turns:
            return ()
        return [turn for turn in self._heard if turn.number <= self._summed + self._turns]

    def shown(self, now: int) -> Heard:
        """Return the public history as it is told in turn `now`; the same object until something is heard."""
        if self._shown is None or self._shown[0] != now:
            current = [told for turn in self._heard[-1:] if turn.number >= now for told in turn.lines]
            self._shown = now, (tuple(self._summaries), (*self._before(now), *current))
        return self._shown[1]

    def _before(self, now: int) -> tuple[Told, ...]:
        """Return the lines of the turns before turn `now`."""
        if self._past[0] != now:
            turns = [turn for turn in self._heard if turn.number < now]
            excess = sum(told.size for turn in turns for told in turn.kept) - self._chars
            lines: list[Told] = []
            for turn in turns:
                shorten = excess > 0 and turn.number < now - self._turns
                lines += turn.short if shorten else turn.kept
                excess -= turn.saved * shorten
            self._past = now, tuple(lines)
        return self._past[1]
