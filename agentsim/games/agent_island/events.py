"""Events of Agent Island: what happened, in numbers and in one line of prose. Audiences are not set here.

Those of private talks stand in `sidebar_events`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import AGAINST, FOR, NAMED, Event, Interaction, Past
from agentsim.engine.wording import counted, listed
from agentsim.games.agent_island.sidebar_events import Approached, ExchangeBegan, Paired, TakenAside, Whispered

__all__ = [
    "EVENTS",
    "Approached",
    "Eliminated",
    "ExchangeBegan",
    "GameBegan",
    "LastRoundBegan",
    "OrderDrawn",
    "Paired",
    "Pitched",
    "PollOpened",
    "Quipped",
    "RoundBegan",
    "Summarized",
    "TakenAside",
    "Tallied",
    "Voted",
    "Whispered",
    "Won",
]


@dataclass(frozen=True)
class GameBegan(Event):
    kind: ClassVar[str] = "game_began"
    players: tuple[str, ...]
    rounds: int

    @property
    def heading(self) -> str:
        return "The game begins"

    @property
    def content(self) -> str:
        return f"{len(self.players)} players, {self.rounds} rounds: {listed(self.players)}."


@dataclass(frozen=True)
class RoundBegan(Event):
    kind: ClassVar[str] = "round_began"
    round: int
    rounds: int
    active: tuple[str, ...]
    eliminated: tuple[str, ...]
    phases: tuple[str, ...]

    @property
    def final(self) -> bool:
        """Whether the jury names the winner in this round."""
        return self.round == self.rounds

    @property
    def heading(self) -> str:
        return "Final round" if self.final else f"Round {self.round} begins"

    @property
    def content(self) -> str:
        if self.final:
            return f"The finalists are {listed(self.active)}. The jury is {listed(self.eliminated)}."
        return f"Still in the game: {listed(self.active)}."


@dataclass(frozen=True)
class LastRoundBegan(RoundBegan):
    """The last round of a game without a final."""

    kind: ClassVar[str] = "last_round_began"

    @property
    def final(self) -> bool:
        return False


@dataclass(frozen=True)
class PollOpened(Event):
    kind: ClassVar[str] = "poll_opened"
    round: int

    @property
    def heading(self) -> str:
        return "A poll"

    @property
    def content(self) -> str:
        return "The next vote is a poll: no player leaves by it."


@dataclass(frozen=True)
class OrderDrawn(Event):
    kind: ClassVar[str] = "order_drawn"
    phase: str
    order: tuple[str, ...]

    @property
    def content(self) -> str:
        return f"The order drawn for the {self.phase} is {', '.join(self.order)}."


@dataclass(frozen=True)
class Pitched(Event):
    kind: ClassVar[str] = "pitch"
    words: ClassVar[str] = "text"
    player: str
    position: int
    text: str

    @property
    def heading(self) -> str:
        return f"Player {self.player}'s pitch"


@dataclass(frozen=True)
class Voted(Event):
    kind: ClassVar[str] = "vote"
    words: ClassVar[str] = "explanation"
    voter: str
    choice: str | None
    ballot: tuple[str, ...]
    explanation: str

    @property
    def heading(self) -> str:
        return f"Player {self.voter} votes for {self.choice}" if self.choice else f"Player {self.voter} abstains"

    def interactions(self, past: Past) -> Iterator[Interaction]:
        """For the winner in the final round, against who must go in any other."""
        began = past.last(LastRoundBegan) or past.last(RoundBegan)
        if began is not None and self.choice is not None:
            final = began.final
            yield Interaction(self.voter, self.choice, "voted for" if final else "voted out", FOR if final else AGAINST)


@dataclass(frozen=True)
class Tallied(Event):
    kind: ClassVar[str] = "tally"
    round: int
    final: bool
    votes: dict[str, int]
    abstentions: int
    tied: tuple[str, ...]
    drawn_by_lot: bool

    @property
    def heading(self) -> str:
        return "The jury has voted" if self.final else "The votes are in"

    @property
    def content(self) -> str:
        votes = ", ".join(f"{player} {count}" for player, count in self.votes.items())
        text = f"Votes: {votes}."
        if self.abstentions:
            text += f" Abstentions: {self.abstentions}."
        if self.drawn_by_lot:
            why = "Nobody cast a valid vote" if not any(self.votes.values()) else "It is a tie"
            text += f" {why}; the lot decides between {listed(self.tied)}."
        return text


@dataclass(frozen=True)
class Eliminated(Event):
    kind: ClassVar[str] = "eliminated"
    player: str
    round: int
    votes: int
    drawn_by_lot: bool

    @property
    def heading(self) -> str:
        return f"Player {self.player} is eliminated"

    @property
    def content(self) -> str:
        how = "by lot" if self.drawn_by_lot else f"with {counted(self.votes, 'vote')}"
        return f"{self.player} leaves the game {how} and joins the jury."


@dataclass(frozen=True)
class Won(Event):
    kind: ClassVar[str] = "won"
    player: str
    votes: int
    drawn_by_lot: bool

    @property
    def heading(self) -> str:
        return f"Player {self.player} wins"

    @property
    def content(self) -> str:
        how = "by lot" if self.drawn_by_lot else f"with {counted(self.votes, 'vote')} of the jury"
        return f"{self.player} wins the game {how}."


@dataclass(frozen=True)
class Quipped(Event):
    kind: ClassVar[str] = "quip"
    words: ClassVar[str] = "text"
    player: str
    about: str
    text: str

    @property
    def heading(self) -> str:
        return f"{self.player} about {self.about}"

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if self.text:
            yield Interaction(self.player, self.about, NAMED)


@dataclass(frozen=True)
class Summarized(Event):
    kind: ClassVar[str] = "summary"
    words: ClassVar[str] = "text"
    player: str
    round: int
    text: str

    @property
    def heading(self) -> str:
        return f"Player {self.player}'s memory of round {self.round}"


EVENTS: tuple[type[Event], ...] = (
    GameBegan,
    RoundBegan,
    OrderDrawn,
    Pitched,
    Voted,
    Tallied,
    Eliminated,
    Won,
    Approached,
    Paired,
    Whispered,
    Quipped,
    Summarized,
    LastRoundBegan,
    PollOpened,
    ExchangeBegan,
    TakenAside,
)
