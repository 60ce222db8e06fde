"""A small game for scenarios of every shape; its rules do not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import Field, model_validator

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event, LoggedEvent, PlayerId
from agentsim.engine.game import Bot, Game, GameConfig, InFile, Outcome, SeatsInFolder
from agentsim.engine.panel import Frame, Panel
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.errors import ScenarioError
from agentsim.scenario import load
from agentsim.scenario.validation import one_line

SEATS = """
game = "parlour"

[defaults]
model = "bot/careful"

[[players]]
id = "A"

[[players]]
id = "B"
"""


class Mood(Enum):
    CALM = "calm"
    WILD = "wild"


class Guest(GameConfig):
    name: str
    chairs: tuple[int, ...] = ()


class ParlourConfig(GameConfig):
    rounds: Annotated[int, Field(ge=1, le=100)] | Literal["auto"] = "auto"
    stake: float = Field(default=1.0, gt=0, lt=10)
    moods: tuple[Mood, ...] = (Mood.CALM,)
    guests: tuple[Guest, ...] = ()
    quiet: bool = False

    @model_validator(mode="after")
    def _quiet_guests(self) -> ParlourConfig:
        if self.quiet and self.guests:
            raise ValueError("a quiet parlour has no guests")
        return self


def careful(request: Request[Any], stream: Stream) -> Decision:
    raise NotImplementedError("nobody plays in these tests")


class Parlour(Game):
    name: ClassVar[str] = "parlour"
    title: ClassVar[str] = "The Parlour"
    summary: ClassVar[str] = "two or more sit"
    rules_version: ClassVar[int] = 1
    config: ClassVar[type[GameConfig]] = ParlourConfig
    requests: ClassVar[tuple[type[Request[Any]], ...]] = ()
    events: ClassVar[tuple[type[Event], ...]] = ()
    bots: ClassVar[Mapping[str, Bot]] = {"careful": careful, "bold": careful}
    staff: ClassVar[frozenset[str]] = frozenset({"summarizer", "moderator"})

    def admit(self, config: Any, players: Sequence[PlayerId]) -> None:
        if len(players) < 2:
            raise ScenarioError(f"one cannot sit alone, found {len(players)}", key="players", valid="2 or more")

    async def play(self, table: Table, config: Any) -> Outcome:
        raise NotImplementedError("nobody plays in these tests")

    def panels(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> list[Panel]:
        return []

    def tables(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        return {}


class Song(GameConfig):
    """A field that is a table in the TOML, or the content of a file."""

    name: str
    text: str

    @model_validator(mode="after")
    def _singable(self) -> Song:
        if not self.text.strip():
            raise ValueError(f"{self.name}: nobody can sing nothing")
        return self


class SalonConfig(GameConfig):
    song: Annotated[Song | Literal["silence", "noise"], InFile(".md", words=("silence", "noise"))] = "silence"
    guests_dir: Annotated[None, SeatsInFolder()] = None
    rounds: int = 1


class Salon(Parlour):
    name: ClassVar[str] = "salon"
    config: ClassVar[type[GameConfig]] = SalonConfig


def written(folder: Path, text: str, name: str = "x.toml") -> Path:
    """Write a text to a file in a `configs/` below `folder`, and return its path."""
    path = folder / "configs" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def refused(path: Path, **options: Any) -> str:
    """Return the line of the error that rejects a scenario, without the name of the file."""
    with pytest.raises(ScenarioError) as raised:
        load(path, **options)
    line = str(raised.value)
    assert line.startswith(f"{one_line(str(path))}: ")
    assert "\n" not in line
    assert raised.value.__cause__ is None
    return line.removeprefix(f"{one_line(str(path))}: ")
