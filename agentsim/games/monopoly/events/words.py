"""Events of the table: its beginning, what is said and thought, its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import Event
from agentsim.engine.wording import first_place

__all__ = ["GameBegan", "GameEnded", "Narrated", "Result", "Spoke", "Summarized", "Thought"]


@dataclass(frozen=True)
class GameBegan(Event):
    """`names` by id, in the order of play; `cash` is what each begins with."""

    kind: ClassVar[str] = "game_began"
    names: dict[str, str]
    cash: int
    max_turns: int

    @property
    def heading(self) -> str:
        return "The game begins"

    @property
    def content(self) -> str:
        return f"{', '.join(self.names.values())} start on GO with ${self.cash} each."


@dataclass(frozen=True)
class _InWords(Event):
    words: ClassVar[str | None] = "text"
    player: str
    name: str
    turn: int
    text: str


@dataclass(frozen=True)
class Spoke(_InWords):
    """What a player says to the whole table."""

    kind: ClassVar[str] = "spoke"

    @property
    def heading(self) -> str:
        return f"{self.name} says"


@dataclass(frozen=True)
class Thought(_InWords):
    """What a player thinks; only that player hears it."""

    kind: ClassVar[str] = "thought"

    @property
    def heading(self) -> str:
        return f"{self.name} thinks"


@dataclass(frozen=True)
class Narrated(_InWords):
    """What the narrator says where a player was asked and gave no usable answer: none of it is the player's words."""

    kind: ClassVar[str] = "narrated"

    @property
    def heading(self) -> str:
        return f"The narrator, in place of {self.name}"


@dataclass(frozen=True)
class Summarized(Event):
    """What players remember of some turns from now on, in the summarizer's words or in those of the digest."""

    kind: ClassVar[str] = "summarized"
    words: ClassVar[str | None] = "text"
    first: int
    last: int
    text: str

    @property
    def heading(self) -> str:
        return "The table talk in short"


@dataclass(frozen=True)
class Result:
    player: str
    name: str
    rank: int
    net_worth: int
    cash: int
    deeds: int


@dataclass(frozen=True)
class GameEnded(Event):
    """`results` in rank order."""

    kind: ClassVar[str] = "game_ended"
    turns: int
    results: tuple[Result, ...]

    @property
    def heading(self) -> str:
        return first_place([result.name for result in self.results if result.rank == 1])

    @property
    def content(self) -> str:
        return "\n".join(
            f"{result.rank}. {result.name}: net worth ${result.net_worth}, ${result.cash} of it cash"
            for result in self.results
        )
