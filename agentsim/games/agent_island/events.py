"""Events of Agent Island: what happened, in numbers and in one line of prose. Audiences are not set here.

Those of private talks stand in `sidebar_events`.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentsim.engine.event import AGAINST, FOR, NAMED, Deed, Event, Interaction, Past
from agentsim.engine.template import If
from agentsim.engine.wording import listed
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


class GameBegan(Event, heading="The game begins", content="{players:player}, {rounds} rounds: {players:and}."):
    players: tuple[str, ...]
    rounds: int


class RoundBegan(
    Event,
    heading=If("final", "Final round", "Round {round} begins"),
    content=If(
        "final", "The finalists are {active:and}. The jury is {eliminated:and}.", "Still in the game: {active:and}."
    ),
):
    round: int
    rounds: int
    active: tuple[str, ...]
    eliminated: tuple[str, ...]
    phases: tuple[str, ...]

    @property
    def final(self) -> bool:
        """Whether the jury names the winner in this round."""
        return self.round == self.rounds


class LastRoundBegan(RoundBegan):
    """The last round of a game without a final."""

    @property
    def final(self) -> bool:
        return False


class PollOpened(Event, heading="A poll", content="The next vote is a poll: no player leaves by it."):
    round: int


class OrderDrawn(Event, content="The order drawn for the {phase} is {order}."):
    phase: str
    order: tuple[str, ...]


class Pitched(Event, kind="pitch", heading="Player {player}'s pitch", words="text"):
    player: str
    position: int
    text: str


class Voted(
    Event,
    kind="vote",
    heading=If("choice", "Player {voter} votes for {choice}", "Player {voter} abstains"),
    words="explanation",
):
    voter: str
    choice: str | None
    ballot: tuple[str, ...]
    explanation: str

    def interactions(self, past: Past) -> Iterator[Interaction]:
        """For the winner in the final round, against who must go in any other."""
        began = past.last(LastRoundBegan) or past.last(RoundBegan)
        if began is not None and self.choice is not None:
            final = began.final
            yield Interaction(self.voter, self.choice, "voted for" if final else "voted out", FOR if final else AGAINST)


class Tallied(Event, kind="tally", heading=If("final", "The jury has voted", "The votes are in")):
    round: int
    final: bool
    votes: dict[str, int]
    abstentions: int
    tied: tuple[str, ...]
    drawn_by_lot: bool

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


class Eliminated(
    Event,
    heading="Player {player} is eliminated",
    content=("{player} leaves the game ", If("drawn_by_lot", "by lot", "with {votes:vote}"), " and joins the jury."),
):
    player: str
    round: int
    votes: int
    drawn_by_lot: bool


class Won(
    Event,
    heading="Player {player} wins",
    content=("{player} wins the game ", If("drawn_by_lot", "by lot", "with {votes:vote} of the jury"), "."),
):
    player: str
    votes: int
    drawn_by_lot: bool


class Quipped(
    Event,
    kind="quip",
    heading="{player} about {about}",
    words="text",
    deeds=(Deed("player", "about", NAMED, when="text"),),
):
    player: str
    about: str
    text: str


class Summarized(Event, kind="summary", heading="Player {player}'s memory of round {round}", words="text"):
    player: str
    round: int
    text: str


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
