"""Game: the interface of a folder under `games/`. Outcome: why a game ended, and its standings.

The rules of games are elsewhere.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypeVar

from pydantic import computed_field

from agentsim.engine.chance import Stream
from agentsim.engine.codec import StrictTable
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event, LoggedEvent, PlayerId
from agentsim.engine.letters import look_alike
from agentsim.engine.panel import Frame, Overview, Panel
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.engine.truth import Truth
from agentsim.engine.wording import by_count
from agentsim.errors import ScenarioError
from agentsim.lazy import dataclass

M = TypeVar("M")
Bot: TypeAlias = Callable[[Request[Any], Stream], Decision]
"""A scripted policy: a pure function of the request and of a stream that belongs to this one decision."""


@dataclass(frozen=True, slots=True)
class InFile:
    """A mark of a field of a `GameConfig` that may name a file: `Annotated[Catalogue, InFile(".json")]`.

    Rules read no files. The scenario replaces the name by the value of `content`, which the field's type accepts as one
    of its forms (`parts`). `words` are values that are not names of files.
    """

    suffix: str
    words: tuple[str, ...] = ()

    @property
    def valid(self) -> str:
        """The legal values for a scenario's author, in words."""
        here = ' or { text = "..." }' if self.suffix == ".txt" else ""
        return f"a {self.suffix} file{here}" + "".join(f' or "{word}"' for word in self.words)

    @staticmethod
    def content(name: str, text: str) -> dict[str, Any]:
        """Return the value for a file that was read: its name without suffix, and its text."""
        return {"name": name, "text": text}

    @staticmethod
    def parts(value: Any) -> tuple[str, str] | None:
        """Return the name and the text of a value of `content`, or None for other values."""
        made = isinstance(value, Mapping) and value.keys() == {"name", "text"}
        return (value["name"], value["text"]) if made else None

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Return the schema for a scenario's author: a file's name, or a value of the type itself."""
        named = {"type": "string", "pattern": f"{re.escape(self.suffix)}$", "description": f"a {self.suffix} file"}
        return {"anyOf": [named, handler(core)]}


@dataclass(frozen=True, slots=True)
class SeatsInFolder:
    """A mark of a field of a `GameConfig` that may name a folder, whose `.txt` files are each the prompt of a player.

    The scenario seats them; the game gets None in this field.
    """

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {"type": "string", "description": "A folder; every .txt file in it is the prompt of a player"}


@dataclass(frozen=True, slots=True)
class ByPlayer:
    """A mark of a field of a `GameConfig` that maps player ids to values.

    `[[players]]` tables may set a player's value under `key`.
    """

    key: Literal["memory"]


class ProjectTable(StrictTable):
    """The base of the `[game]` table of the project that a game comes from, whose files are read unchanged."""

    def translated(self, players: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the equivalent tables of a scenario for these `[[players]]`.

        Raises `ScenarioError` if they do not fit.
        """
        raise NotImplementedError


class GameConfig(StrictTable):
    """The base of a game's `[game_config]` table: strict, and closed to unknown keys.

    If `called_by_files` is set, players are named after their prompt files (`Table.names`), not by their ids. `reasks`
    (how often a bad reply is asked for again) and `repair` (whether the punctuation of its JSON is mended) hold unless
    the scenario sets them. `project_table` is the `[game]` table of another project's files, if the game reads those.
    """

    called_by_files: ClassVar[bool] = False
    reasks: ClassVar[int] = 1
    repair: ClassVar[bool] = True
    project_table: ClassVar[type[ProjectTable] | None] = None

    @classmethod
    def marked(cls, kind: type[M]) -> dict[str, M]:
        """Return the fields with a mark of this kind, by name."""
        marks = ((name, mark) for name, field in cls.model_fields.items() for mark in field.metadata)
        return {name: mark for name, mark in marks if isinstance(mark, kind)}

    @classmethod
    def from_toml(cls, values: Mapping[str, Any]) -> Self:
        """Return the config in a TOML table. Raises pydantic's `ValidationError` if it does not fit.

        It goes through JSON, whose strict mode lets an array fill a tuple but does not take "5" for a number.
        """
        return cls.model_validate_json(json.dumps(values, default=str))


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's result; ranks are shared as in 1, 1, 3, or None if the game ranks no player."""

    player: PlayerId
    rank: int | None
    score: Mapping[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """The words for one score of the standings: its `label`, and if it is 0 or 1 the words for either.

    The words stand alone: `Score("won", ("lost", "won"))`.
    """

    label: str
    values: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ScoreWords:
    """The words for the scores of one game; an undeclared score is called by its key, with blanks."""

    known: Mapping[str, Score]

    def label(self, score: str) -> str:
        """Return the name of a score."""
        found = self.known.get(score)
        return score.replace("_", " ") if found is None else found.label

    def value(self, score: str, value: float | None) -> str | float | None:
        """Return a player's value of a score: its word if it has one, else the number."""
        found = self.known.get(score)
        if found is None or found.values is None or value not in {0, 1}:
            return value
        return found.values[int(value)]

    def sentence(self, score: str, value: float) -> str:
        """Return `net worth 1500`, or the word for the value alone."""
        said = self.value(score, value)
        return said if isinstance(said, str) else f"{self.label(score)} {said}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The reason why the game ended, and the standings, best first."""

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
        """True if the game ranks its players."""
        return any(standing.rank is not None for standing in self.standings)


class RandomDraw(NamedTuple):
    """A draw by lot: `what` it decided, the players `among` whom, in the order of the seats, and the one `chosen`."""

    what: str
    among: tuple[PlayerId, ...]
    chosen: PlayerId


class Game(ABC):
    """The base of games: a stateless object called `GAME` in the folder's `__init__`.

    `requests` and `events` are all classes that the rules ask and tell. `seats` are the minimum and maximum number of
    players (None: no maximum), `reserved` the names that no player can have, in any case. `staff` are the roles that
    `[staff.<role>]` may fill. `bots` are the policies behind `bot/<name>`, besides `bot/random`, which every game has
    (`bots_of`); those that are `typical` stand for models in forecasts, dealt to the seats in turn (`typical_of`).
    `scores` has the words for the standings' scores, by key.
    `public_scores` is True if what all players hear tells every score of the outcome. `announcements` allows those of
    an experimenter (`steering`): True if all that players hear is in their later prompts, "restated" if prompts depend
    on the game's state alone; then the state of every later prompt ends with all announcements. `facts` are the names
    of what `truths` yields, each with its meaning in words.
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
    scores: ClassVar[Mapping[str, Score]] = {}
    public_scores: ClassVar[bool] = False
    announcements: ClassVar[Literal[False, True, "restated"]] = False
    facts: ClassVar[Mapping[str, str]] = {}

    def admit(self, config: Any, players: Sequence[PlayerId]) -> None:
        """Raise `ScenarioError` (with a key) if this config and these players do not make a game.

        An override makes its own checks after `super().admit`, which checks `seats` and `reserved`.
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
        """Yield a warning for `validate` for each legal setting that is probably a mistake."""
        return ()

    def invariants(
        self, steps: Iterable[LoggedEvent | Request[Any]], players: Sequence[PlayerId]
    ) -> Iterator[str | RandomDraw]:
        """Yield every invariant that a finished game breaks, in words, and every random draw.

        `steps` are the whole log, with every request at the point where it was asked. Invariants are written
        independently of the rules' code, to find mistakes in it.
        """
        return iter(())

    @abstractmethod
    async def play(self, table: Table, config: Any) -> Outcome:
        """Play the game from setup to outcome."""

    def panels(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> list[Panel]:
        """Return tables, charts and boards of a game, or of the part of it that one player heard."""
        return []

    def overview(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Overview:
        """Return the overview of the game for the first screen of its page, from the same events as `panels`."""
        return Overview()

    def truths(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Iterable[Truth]:
        """Yield the facts of a game that beliefs are scored against, named in `facts`, in the order of their events."""
        return ()

    def tables(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        """Return the game's own tables for export, by name, with the documented columns; pages show its `panels`.

        Every table exists in every game, without rows if nothing happened.
        """
        return {}


def bots_of(game: Game) -> Mapping[str, Bot]:
    """Return the policies behind `bot/<name>`: the game's own, and `random`, which every game has."""
    own = game.bots
    return {**own, "random": own.get("random", random_decision)}


def typical_of(game: Game) -> list[Bot]:
    """Return the policies that stand for models in forecasts: the typical ones, or its own `random`, or its first."""
    bots, own = bots_of(game), game.bots
    named = [bots[name] for name in game.typical if name in bots]
    return named or [own["random"] if "random" in own else next(iter(bots.values()))]


def ranked(scores: Sequence[tuple[PlayerId, Any, Mapping[str, int | float]]]) -> tuple[Standing, ...]:
    """Return standings from (player, sort key, score): highest key first, equal keys share a rank (1, 1, 3)."""
    ordered = sorted(scores, key=lambda entry: entry[1], reverse=True)
    standings: list[Standing] = []
    for index, (player, key, score) in enumerate(ordered, start=1):
        shared = standings and key == ordered[index - 2][1]
        standings.append(Standing(player, standings[-1].rank if shared else index, score))
    return tuple(standings)
