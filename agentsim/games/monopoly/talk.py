"""Talk: what was said, offered and answered, as a player remembers it: the newest in full, the rest in short.

Turns go in blocks. Lines are dropped a block at a time, or half a window at a time where people talk too much,
so that what a player is shown stays as it was for as long as it can. How a block is summed up is `summarizing`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from agentsim.engine.event import Event, LogEntry, PlayerId
from agentsim.engine.prompt import NARRATOR, quoted

MOST_SAID = 1600
"""Characters of remarks in full, about 400 tokens."""
MOST_TRADED = 700
"""Characters of trades in short, about 175 tokens."""
MOST_SUMMED = 1200
"""Characters of summaries, about 300 tokens."""
THOUGHTS = 5
ANSWERS = 10  # of one player to another that are remembered


# -- what is remembered


@dataclass(frozen=True, slots=True)
class Remark:
    """One line of the table's history: a player's words, or a trade with its terms, or its answer.

    A trade in short has no `kind` and no pitch; its `answer` is empty where there is none yet.
    """

    turn: int
    name: str
    kind: str
    text: str = ""
    to: str = ""
    gives: str = ""
    takes: str = ""
    answer: str = ""

    @property
    def size(self) -> int:
        """About the characters of its line in a prompt."""
        return (40 if self.kind else 90) + len(self.text) + len(self.gives) + len(self.takes)

    @property
    def line(self) -> str:
        """As it stands in a prompt, where no player's words can pass for anything else."""
        who = {"turn": self.turn, "from": self.name, "kind": self.kind, "to": self.to}
        fields = {**who, "gives": self.gives, "wants": self.takes, "text": self.text, "answer": self.answer}
        return quoted(**{name: value for name, value in fields.items() if value != ""})


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
    """What one player remembers; `earlier` are summaries, oldest first.

    `trades` are offers of the last ten turns (`talk_turns`) that are no longer among the `remarks`.
    `discarded` says why its last proposal of this turn could not be, where it could not.
    """

    earlier: tuple[str, ...]
    remarks: tuple[Remark, ...]
    thoughts: tuple[Thinking, ...]
    rejections: tuple[Rejection, ...]
    discarded: str = ""
    trades: tuple[Remark, ...] = ()

    def in_short(self) -> Iterator[str]:
        """What is older than the remarks."""
        if self.earlier:
            yield "Earlier in the game:"
            yield from (quoted(summary=summary) for summary in self.earlier)
        if self.trades:
            yield "Trades of the last turns, in short:"
            yield from (offer.line for offer in self.trades)

    def thought(self) -> Iterator[str]:
        """What the player thought itself."""
        yield "Your own latest thoughts:" if self.thoughts else "You have had no thoughts yet."
        yield from (quoted(turn=thought.turn, thought=thought.text) for thought in self.thoughts)

    def refused(self) -> Iterator[str]:
        """What became of the player's offers."""
        for entry in self.rejections:
            yield f"{entry.name} rejected {entry.rejected} of your last {entry.offers} offers."
        if self.discarded:
            yield f"Your last proposal came to nothing, and nobody heard of it: {self.discarded}."


@dataclass(slots=True)
class _Block:
    """Some turns (10, as a rule), and how many remarks were made in them."""

    first: int
    last: int
    said: int = 0


class Talk:
    """One player's memory, made of what it hears; what all hear, all remember alike.

    `discarded` says why the player's last proposal of this turn could not be; "" where it could.
    """

    def __init__(self, player: PlayerId, *, players: Sequence[PlayerId], turns: int = 10, entries: int = 20) -> None:
        self.player, self._players, self._turns, self._entries = player, players, turns, entries
        self.discarded = ""
        self._turn = 1
        self._blocks = [_Block(1, turns)]
        self._shown: deque[Remark] = deque()
        self._size = 0  # of what is shown
        self._skipped = 0  # remarks at the front of the first block, and maybe the next, that were too much
        self._summaries: list[str] = []
        self._offers: deque[Remark] = deque(maxlen=ANSWERS * turns)
        self._traded: tuple[Remark, ...] = ()
        self._thoughts: deque[Thinking] = deque(maxlen=THOUGHTS)
        self._answers: dict[PlayerId, tuple[str, deque[bool]]] = {}
        self._memory: Memory | None = None

    def hear(self, entry: LogEntry) -> None:
        """Most of what happens says the board."""
        event = entry.event
        if isinstance(event, Remembered):
            self._reach(entry.round)
            self._memory = None
            event.enter(self, entry.round)
            if said := event.remark(entry.round):
                self._say(said)

    def think(self, turn: int, text: str) -> None:
        """The player's own thought."""
        self._thoughts.append(Thinking(turn, text))

    def answered(self, other: PlayerId, name: str, *, accepted: bool) -> None:
        """Another's answer to an offer of the player's."""
        self._answers.setdefault(other, (name, deque(maxlen=ANSWERS)))[1].append(accepted)

    def due(self, turn: int) -> tuple[int, int] | None:
        """The oldest turns (the first and the last of them), where it is time to sum them up.

        It is once they are over and nothing of them is shown in full, or once two other blocks hold too much with them.
        """
        self._reach(turn)
        oldest, *others = self._blocks
        unseen = oldest.said and self._skipped >= oldest.said
        full = len(others) > 1 and sum(block.said for block in self._blocks) > self._entries
        return (oldest.first, oldest.last) if others and (unseen or full) else None

    def memory(self, turn: int) -> Memory:
        """What the player remembers in this turn."""
        self._reach(turn)
        if self._memory is None:
            answers = (self._answers[other] for other in self._players if other in self._answers)
            rejections = tuple(Rejection(name, given.count(False), len(given)) for name, given in answers)
            in_full = (tuple(self._shown), tuple(self._thoughts), rejections, self.discarded)
            self._memory = Memory(tuple(self._summaries), *in_full, self._traded)
        return self._memory

    def _reach(self, turn: int) -> None:
        """It is this turn by now."""
        if turn <= self._turn:
            return
        self._turn, self.discarded, self._memory = turn, "", None
        while turn > (last := self._blocks[-1].last):
            self._blocks.append(_Block(last + 1, last + self._turns))
            self._shorten()

    def _say(self, said: Remark) -> None:
        if said.kind == "offers":
            self._offers.append(replace(said, kind="", text=""))
        elif said.to:
            self._offers[-1] = replace(self._offers[-1], answer=said.kind)
        self._blocks[-1].said += 1
        self._shown.append(said)
        self._size += said.size
        if self._size > MOST_SAID:
            while self._shown and self._size > MOST_SAID // 2:
                self._skipped += 1
                self._size -= self._shown.popleft().size
            self._shorten()

    def sum_up(self, summary: str) -> None:
        """The oldest block is remembered by its summary from now on."""
        said = self._blocks.pop(0).said
        for _ in range(said - self._skipped):
            self._size -= self._shown.popleft().size
        self._skipped = max(0, self._skipped - said)
        self._shorten()
        self._summaries.append(summary)
        while sum(map(len, self._summaries)) > MOST_SUMMED and len(self._summaries) > 1:
            del self._summaries[0]

    def _shorten(self) -> None:
        """Look again at the trades in short: the newest of the last turns that fit, without those shown in full.

        This is done where remarks are dropped or a block is over, not at every word: trades in short stand before the
        remarks, which then could not be repeated from a cache.
        """
        shown = sum(said.kind == "offers" for said in self._shown)
        found: deque[Remark] = deque()
        room = MOST_TRADED
        for offer in list(self._offers)[: len(self._offers) - shown][::-1]:
            room -= offer.size
            if room < 0 or offer.turn <= self._turn - self._turns:
                break
            found.appendleft(offer)
        self._traded = tuple(found)


# -- what is told


class Remembered(Event, base=True):
    """Base of what players remember beyond the board: words, and what became of trades."""

    def remark(self, turn: int) -> Remark | None:
        """Its line of table talk; None where it is none."""
        return None

    def enter(self, talk: Talk, turn: int) -> None:
        """Become a part of what a player who hears it remembers, beside the line."""


class _InWords(Remembered, words="text"):
    player: str
    name: str
    turn: int
    text: str


class Spoke(_InWords, heading="{name} says"):
    """What a player says to the whole table."""

    def remark(self, turn: int) -> Remark:
        return Remark(turn, self.name, "says", self.text)


class Thought(_InWords, heading="{name} thinks", private=("player",)):
    """What a player thinks; only that player hears it."""

    def enter(self, talk: Talk, turn: int) -> None:
        talk.think(turn, self.text)


class Narrated(_InWords, heading="The narrator, in place of {name}"):
    """What the narrator says where a player was asked and gave no usable answer: none of it is the player's words."""

    def remark(self, turn: int) -> Remark:
        return Remark(turn, NARRATOR, "tells", self.text)


class Summarized(Remembered, heading="The table talk in short", words="text"):
    """What players remember of some turns from now on, in the summarizer's words or in those of the digest."""

    forgets: ClassVar[bool] = True
    first: int
    last: int
    text: str

    def enter(self, talk: Talk, turn: int) -> None:
        talk.sum_up(self.text)
