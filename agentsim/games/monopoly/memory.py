"""Memory: what a player remembers of the table's talk, and how it reads in a prompt. How it comes about is `talk`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentsim.engine.prompt import quoted


@dataclass(frozen=True, slots=True)
class Remark:
    """One line of the table's history: a player's words, or a trade with its terms, or its answer."""

    turn: int
    name: str
    kind: str
    text: str = ""
    to: str = ""
    gives: str = ""
    takes: str = ""

    @property
    def size(self) -> int:
        """About the characters of its line in a prompt."""
        return 40 + len(self.text) + len(self.gives) + len(self.takes)

    @property
    def line(self) -> str:
        """As it stands in a prompt, where no player's words can pass for anything else."""
        fields: dict[str, object] = {"turn": self.turn, "from": self.name, "kind": self.kind}
        if self.to:
            fields["to"] = self.to
        if self.gives:
            fields |= {"gives": self.gives, "wants": self.takes}
        if self.text:
            fields["text"] = self.text
        return quoted(**fields)


@dataclass(frozen=True, slots=True)
class Offer:
    """A trade that was offered, without its pitch; `answer` is empty where there is none yet."""

    turn: int
    name: str
    to: str
    gives: str
    takes: str
    answer: str = ""

    @property
    def size(self) -> int:
        """About the characters of its line in a prompt."""
        return 90 + len(self.gives) + len(self.takes)

    @property
    def line(self) -> str:
        """As it stands in a prompt."""
        fields = {"turn": self.turn, "from": self.name, "to": self.to, "gives": self.gives, "wants": self.takes}
        return quoted(**fields, **({"answer": self.answer} if self.answer else {}))


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
    trades: tuple[Offer, ...] = ()

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
