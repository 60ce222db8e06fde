"""Endings: how a game begins and how it ends, as it is told."""

from __future__ import annotations

from dataclasses import dataclass

from agentsim.engine.event import Event
from agentsim.engine.template import Rows
from agentsim.engine.wording import first_place


class GameBegan(Event, heading="The game begins", content="{players} start on GO with ${cash} each."):
    """`names` by id, in the order of play; `cash` is what each begins with."""

    names: dict[str, str]
    cash: int
    max_turns: int

    @property
    def players(self) -> tuple[str, ...]:
        """What the players are called."""
        return tuple(self.names.values())


@dataclass(frozen=True)
class Result:
    player: str
    name: str
    rank: int
    net_worth: int
    cash: int
    deeds: int


class GameEnded(Event, content=Rows("results", "{rank}. {name}: net worth ${net_worth}, ${cash} of it cash")):
    """`results` in rank order."""

    turns: int
    results: tuple[Result, ...]

    @property
    def heading(self) -> str:
        return first_place([result.name for result in self.results if result.rank == 1])
