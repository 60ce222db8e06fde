"""Game: what a folder under `games/` offers. Outcome: why it ended and who stands where.

No game's rules belong here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self, TypeAlias

from pydantic import BaseModel, ConfigDict

from agentsim.engine.chance import Stream
from agentsim.engine.event import Event, PlayerId, Told
from agentsim.engine.panel import Frame, Panel
from agentsim.engine.reading import Decision
from agentsim.engine.request import Request
from agentsim.engine.table import Table

__all__ = ["Bot", "Game", "GameConfig", "Outcome", "Standing", "ranked"]

Bot: TypeAlias = Callable[[Request[Any], Stream], Decision]
"""A scripted policy: a pure function of the request and of a stream of its own for this one decision."""


class GameConfig(BaseModel):
    """Base of a game's `[game_config]` table: strict, and closed to keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @classmethod
    def from_toml(cls, values: Mapping[str, Any]) -> Self:
        """The config in a TOML table; pydantic's `ValidationError` where it does not fit.

        By way of JSON, in whose strict mode an array may fill a tuple but "5" is no number.
        """
        return cls.model_validate_json(json.dumps(values, default=str))


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's place; ranks go 1, 1, 3."""

    player: PlayerId
    rank: int
    score: Mapping[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Why the game ended, and the standings, best first."""

    reason: str
    standings: tuple[Standing, ...]

    @property
    def winner(self) -> PlayerId | None:
        """The only player of rank 1; None where the first place is shared."""
        first = [standing.player for standing in self.standings if standing.rank == 1]
        return first[0] if len(first) == 1 else None


class Game(Protocol):
    """A game: a stateless object called `GAME` in the folder's `__init__`.

    `staff` names the roles that `[staff.<role>]` may fill. `bots` are the policies behind `bot/<name>`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    rules_version: ClassVar[int]
    config: ClassVar[type[GameConfig]]
    requests: ClassVar[tuple[type[Request[Any]], ...]]
    events: ClassVar[tuple[type[Event], ...]]
    bots: ClassVar[Mapping[str, Bot]]
    staff: ClassVar[frozenset[str]]

    def admit(self, config: Any, players: Sequence[PlayerId]) -> None:
        """Raise `ScenarioError` (with a key) where this config and these players cannot make a game."""
        ...

    async def play(self, table: Table, config: Any) -> Outcome:
        """The rules, from set-up to outcome."""
        ...

    def panels(self, log: Sequence[Told], players: Sequence[PlayerId]) -> list[Panel]:
        """Tables, charts and boards of a game, or of the part of it that somebody heard."""
        ...

    def tables(self, log: Sequence[Told], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        """The game's own tables for export, by name, in the columns that its documentation promises.

        Every table is there whatever happened, with no rows where nothing did.
        """
        ...


def ranked(scores: Sequence[tuple[PlayerId, Any, Mapping[str, int | float]]]) -> tuple[Standing, ...]:
    """Standings from (player, sort key, score): highest key first, equal keys share a rank (1, 1, 3)."""
    ordered = sorted(scores, key=lambda entry: entry[1], reverse=True)
    standings: list[Standing] = []
    for place, (player, key, score) in enumerate(ordered, start=1):
        shared = standings and key == ordered[place - 2][1]
        standings.append(Standing(player, standings[-1].rank if shared else place, score))
    return tuple(standings)
