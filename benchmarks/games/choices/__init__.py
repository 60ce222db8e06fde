"""Choices: two players choose in turn, and each choice is told to both. It has next to no rules, to time the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle, islice
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from agentsim.engine import Choice, Options
from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event, Everyone
from agentsim.engine.game import Bot, Game, GameConfig, Outcome, Standing
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.engine.wording import Prompt

SIDES = Choice(("left", "right"))


class ChoicesConfig(GameConfig):
    """The number of decisions."""

    decisions: Annotated[int, Field(ge=1)] = 10


class Chosen(Decision):
    side: Literal["left", "right"]


class Choose(Request[Chosen]):
    """The question for a side."""

    number: int
    particulars: ClassVar[tuple[str, ...]] = ("number",)

    def options(self) -> Options:
        return {"side": SIDES}

    def prompt(self) -> Prompt:
        return Prompt(rules=(), history=(), state=(), question=(f"Choice {self.number}. {self.answer_line}",))

    def fallback(self) -> Chosen:
        return LEFT


class Took(Event, heading="{player} goes {side}", content=""):
    """A player has chosen."""

    player: str
    side: str


LEFT = Chosen(side="left")


def _first(_request: Request[Any], _rng: Stream) -> Decision:
    return LEFT


class Choices(Game):
    """The game as the kernel sees it."""

    name = "choices"
    title = "Choices"
    summary = "two players choose in turn"
    config = ChoicesConfig
    requests = (Choose,)
    events = (Took,)
    bots: ClassVar[Mapping[str, Bot]] = {"first": _first}
    seats = (2, 2)

    async def play(self, table: Table, config: ChoicesConfig) -> Outcome:
        for number, player in enumerate(islice(cycle(table.players), config.decisions), start=1):
            chosen = await table.ask(Choose(player=player, number=number))
            table.tell(Took(player, chosen.side), to=Everyone, by=player)
        return Outcome("all choices were made", tuple(Standing(player, 1) for player in table.players))


GAME: Game = Choices()
