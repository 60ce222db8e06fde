"""Poll: any number of players answer one question per round, all at the same moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from agentsim.engine import Choice, Options, Text
from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event, Everyone, LoggedEvent, PlayerId
from agentsim.engine.game import Bot, Game, GameConfig, Outcome, Standing
from agentsim.engine.panel import Frame, Panel
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.engine.wording import Prompt, quoted

OPTIONS = ("red", "green", "blue")
RULES = (
    "You take part in a poll. In each round every player chooses one colour; nobody sees the others' choices before "
    "all have chosen, and then the numbers are told to everyone. "
) * 8  # about the length of a real game's rules


class PollConfig(GameConfig):
    """The number of rounds."""

    rounds: Annotated[int, Field(ge=1)] = 10


class Chosen(Decision):
    choice: str
    reasoning: str


class ChooseColour(Request[Chosen], kind="choose"):
    """A request for a color."""

    round: int
    history: tuple[str, ...]

    def options(self) -> Options:
        return {"choice": Choice(OPTIONS), "reasoning": Text(400)}

    def prompt(self) -> Prompt:
        return Prompt(
            rules=(RULES, f"You are {self.player}."),
            history=self.history,
            state=(quoted(round=self.round, options=list(OPTIONS)),),
            question=('Choose a colour. Answer: {"choice": "<colour>", "reasoning": "<why>"}',),
        )

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"round": self.round}

    def fallback(self) -> Chosen:
        return Chosen(choice=OPTIONS[0], reasoning="")


class Counted(Event):
    """The number of players who chose each option."""

    numbers: dict[str, int]

    @property
    def content(self) -> str:
        return quoted(**self.numbers)


def _first(_request: Request[Any], _luck: Stream) -> Decision:
    return Chosen(choice=OPTIONS[0], reasoning="")


class Poll(Game):
    """The game as the kernel sees it."""

    name: ClassVar[str] = "poll"
    title: ClassVar[str] = "Poll"
    summary: ClassVar[str] = "one question to everyone, round after round"
    rules_version: ClassVar[int] = 1
    config: ClassVar[type[GameConfig]] = PollConfig
    requests: ClassVar[tuple[type[Request[Any]], ...]] = (ChooseColour,)
    events: ClassVar[tuple[type[Event], ...]] = (Counted,)
    bots: ClassVar[Mapping[str, Bot]] = {"first": _first}
    staff: ClassVar[frozenset[str]] = frozenset()

    def admit(self, config: PollConfig, players: Sequence[PlayerId]) -> None:
        return None

    async def play(self, table: Table, config: PollConfig) -> Outcome:
        history: tuple[str, ...] = ()
        for number in range(1, config.rounds + 1):
            table.round(f"Round {number}")
            asked = [ChooseColour(player=player, round=number, history=history) for player in table.players]
            choices = Counter(decision.choice for decision in await table.ask_all(asked))
            counted = Counted({option: choices[option] for option in OPTIONS})
            table.tell(counted, to=Everyone)
            history = (*history, quoted(round=number, counted=counted.numbers))
        return Outcome("all rounds were played", tuple(Standing(player, 1) for player in table.players))

    def panels(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> list[Panel]:
        return []

    def tables(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        return {}


GAME: Game = Poll()
