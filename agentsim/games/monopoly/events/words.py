"""Events of the table: its beginning, what is said and thought, its end."""

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


class _InWords(Event, words="text"):
    player: str
    name: str
    turn: int
    text: str


class Spoke(_InWords, heading="{name} says"):
    """What a player says to the whole table."""


class Thought(_InWords, heading="{name} thinks"):
    """What a player thinks; only that player hears it."""


class Narrated(_InWords, heading="The narrator, in place of {name}"):
    """What the narrator says where a player was asked and gave no usable answer: none of it is the player's words."""


class Summarized(Event, heading="The table talk in short", words="text"):
    """What players remember of some turns from now on, in the summarizer's words or in those of the digest."""

    first: int
    last: int
    text: str


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
