"""Game: what a folder under `games/` offers. Outcome: why it ended and who stands where.

No game's rules belong here.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypeVar

from pydantic import computed_field

from agentsim.engine.chance import Stream
from agentsim.engine.codec import ClosedTable
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event, LoggedEvent, PlayerId
from agentsim.engine.letters import look_alike
from agentsim.engine.panel import Course, Frame, Panel
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.engine.wording import by_count
from agentsim.errors import ScenarioError

M = TypeVar("M")
Bot: TypeAlias = Callable[[Request[Any], Stream], Decision]
"""A scripted policy: a pure function of the request and of a stream of its own for this one decision."""


@dataclass(frozen=True, slots=True)
class InFile:
    """Marks a field of a `GameConfig` whose value may be the name of a file: `Annotated[Catalogue, InFile(".json")]`.

    Rules read no files. In place of the name the scenario puts what `content` makes, and the field's type takes that
    as one of its forms (`parts`). `words` are values that name no file.
    """

    suffix: str
    words: tuple[str, ...] = ()

    @property
    def valid(self) -> str:
        """What an author may write, in words."""
        here = ' or { text = "..." }' if self.suffix == ".txt" else ""
        return f"a {self.suffix} file{here}" + "".join(f' or "{word}"' for word in self.words)

    @staticmethod
    def content(name: str, text: str) -> dict[str, Any]:
        """A file that was read: its name without suffix, and its text."""
        return {"name": name, "text": text}

    @staticmethod
    def parts(value: Any) -> tuple[str, str] | None:
        """The name and the text, where the value is what `content` makes."""
        made = isinstance(value, Mapping) and value.keys() == {"name", "text"}
        return (value["name"], value["text"]) if made else None

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """What an author may write: a file's name besides what the type itself allows."""
        named = {"type": "string", "pattern": f"{re.escape(self.suffix)}$", "description": f"a {self.suffix} file"}
        return {"anyOf": [named, handler(core)]}


@dataclass(frozen=True, slots=True)
class SeatsInFolder:
    """Marks a field of a `GameConfig` that may name a folder whose `.txt` files are each the prompt of a player.

    The scenario seats them; by the time the game sees the config, the field is None.
    """

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """What an author may write."""
        return {"type": "string", "description": "A folder; every .txt file in it is the prompt of a player"}


@dataclass(frozen=True, slots=True)
class ByPlayer:
    """Marks a field of a `GameConfig` that maps player ids to values: a `[[players]]` table may say its own.

    It does so under `key`.
    """

    key: Literal["memory"]


class ProjectTable(ClosedTable):
    """Base of the `[game]` table of the project that a game comes from: its files are read as they are."""

    def translated(self, players: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The scenario's tables that say the same, for these `[[players]]`; `ScenarioError` where they do not fit."""
        raise NotImplementedError


class GameConfig(ClosedTable):
    """Base of a game's `[game_config]` table: strict, and closed to keys it does not know.

    Where `called_by_files` is set, players are called as their prompt files are (`Table.names`), not by their ids.
    `reasks` is how often a bad reply is asked for again where the scenario does not say. `project_table` is the
    `[game]` table of another project's files, where the game reads those too.
    """

    called_by_files: ClassVar[bool] = False
    reasks: ClassVar[int] = 1
    project_table: ClassVar[type[ProjectTable] | None] = None

    @classmethod
    def marked(cls, kind: type[M]) -> dict[str, M]:
        """The fields that carry a mark of this kind, by name."""
        marks = ((name, mark) for name, field in cls.model_fields.items() for mark in field.metadata)
        return {name: mark for name, mark in marks if isinstance(mark, kind)}

    @classmethod
    def from_toml(cls, values: Mapping[str, Any]) -> Self:
        """The config in a TOML table; pydantic's `ValidationError` where it does not fit.

        By way of JSON, in whose strict mode an array may fill a tuple but "5" is no number.
        """
        return cls.model_validate_json(json.dumps(values, default=str))


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's place; ranks go 1, 1, 3, and are None if the game ranks no player."""

    player: PlayerId
    rank: int | None
    score: Mapping[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Why the game ended, and the standings, best first."""

    reason: str
    standings: tuple[Standing, ...]

    @computed_field  # type: ignore[prop-decorator] # mypy knows no decorated property: python/mypy#1362
    @property
    def winner(self) -> PlayerId | None:
        """The only player of rank 1, or None if the first place is shared."""
        first = [standing.player for standing in self.standings if standing.rank == 1]
        return first[0] if len(first) == 1 else None

    @property
    def ranked(self) -> bool:
        """Whether the game ranks its players."""
        return any(standing.rank is not None for standing in self.standings)


class Lot(NamedTuple):
    """A lot that was drawn: `what` it decided, the players `among` whom, in the order of the seats, and who it was."""

    what: str
    among: tuple[PlayerId, ...]
    drawn: PlayerId


class Game(ABC):
    """Base of games: a stateless object called `GAME` in the folder's `__init__`.

    `requests` and `events` are all that the rules ask and tell. `seats` are the least and the most players (None: any
    number), `reserved` names that no player can have, in any case. `staff` names the roles that `[staff.<role>]` may
    fill. `bots` are the policies behind `bot/<name>`, beside `bot/random`, which every game has (`bots_of`); those that
    are `typical` stand for models in forecasts, dealt to the seats in turn (`typical_of`).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    rules_version: ClassVar[int] = 1
    config: ClassVar[type[GameConfig]]
    requests: ClassVar[tuple[type[Request[Any]], ...]] = ()
    events: ClassVar[tuple[type[Event], ...]] = ()
    bots: ClassVar[Mapping[str, Bot]] = {}
    typical: ClassVar[Sequence[str]] = ()
    seats: ClassVar[tuple[int, int | None]] = (1, None)
    reserved: ClassVar[frozenset[str]] = frozenset()
    staff: ClassVar[frozenset[str]] = frozenset()

    def admit(self, config: Any, players: Sequence[PlayerId]) -> None:
        """Raise `ScenarioError` (with a key) where this config and these players cannot make a game.

        A game that has more to say of them than `seats` and `reserved` says it after `super().admit`.
        """
        least, most = self.seats
        if not least <= len(players) <= (most or len(players)):
            valid = f"{least} or more" if most is None else f"{least} to {most}" if least < most else f"{least}"
            problem = f"{self.title} is for {valid} {by_count(valid == '1', 'player')}, found {len(players)}"
            raise ScenarioError(problem, key="players", valid=valid)
        answers = {look_alike(name): name.casefold() for name in self.reserved}
        if taken := sorted(answers[alike] for player in players if (alike := look_alike(player)) in answers):
            raise ScenarioError(f"no player can be called {taken[0]}: it is an answer in this game", key="players")

    def doubts(self, config: Any, players: Sequence[PlayerId]) -> Iterable[str]:
        """Yield a warning of `validate` for each setting that makes a game, and perhaps not the one that was meant."""
        return ()

    def laws(self, course: Iterable[LoggedEvent | Request[Any]], players: Sequence[PlayerId]) -> Iterator[str | Lot]:
        """Yield every law of the rulebook that a finished game breaks, in words, and every lot that was drawn in it.

        `course` is the whole log with every question put in where it was asked. Laws are stated apart from the rules,
        to find mistakes in them.
        """
        return iter(())

    @abstractmethod
    async def play(self, table: Table, config: Any) -> Outcome:
        """Play the game from set-up to outcome."""

    def panels(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> list[Panel]:
        """Tables, charts and boards of a game, or of the part of it that one player heard."""
        return []

    def course(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Course:
        """How the game went, for the first screen of its page; from the same events as `panels`."""
        return Course()

    def tables(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        """The game's own tables for export, by name, in the columns that its documentation promises.

        Every table is there whatever happened, with no rows where nothing did.
        """
        return {}


def bots_of(game: Game) -> Mapping[str, Bot]:
    """The policies behind `bot/<name>`: the game's own as they are now, and `random`, which every game has."""
    own = game.bots
    return {**own, "random": own.get("random", random_decision)}


def typical_of(game: Game) -> list[Bot]:
    """The policies that stand for models in forecasts: the typical ones, or else its own `random`, or its own first."""
    bots, own = bots_of(game), game.bots
    named = [bots[name] for name in game.typical if name in bots]
    return named or [own["random"] if "random" in own else next(iter(bots.values()))]


def ranked(scores: Sequence[tuple[PlayerId, Any, Mapping[str, int | float]]]) -> tuple[Standing, ...]:
    """Standings from (player, sort key, score): highest key first, equal keys share a rank (1, 1, 3)."""
    ordered = sorted(scores, key=lambda entry: entry[1], reverse=True)
    standings: list[Standing] = []
    for place, (player, key, score) in enumerate(ordered, start=1):
        shared = standings and key == ordered[place - 2][1]
        standings.append(Standing(player, standings[-1].rank if shared else place, score))
    return tuple(standings)
