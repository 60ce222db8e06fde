"""Scenario: a game, its config and its players, checked and resolved; what a history and a journal keep of it.

Reading it from a TOML file is `load`. Nothing here opens a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, JsonValue

from agentsim.engine.game import GameConfig
from agentsim.models.profiles import ProviderSettings
from agentsim.models.tokens import Price
from agentsim.scenario.plan import PlayerPlan, SeatRecord
from agentsim.scenario.player_tables import ClosedTable
from agentsim.scenario.schema import Find, Limits, found
from agentsim.scenario.validation_error import validated

__all__ = ["Branch", "Scenario"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A run that shares another's past.

    `of` is the parent's name, `at` the decision that is made anew, or `instead`; `number` tells several branches apart.
    `salts` are the waves, with a word each, after which chance goes its own way; a fork of a fork may have two.
    `changed` are the settings that are not the parent's, as `KEY=VALUE`. `wave` is that of the decision, and `beside`
    the decisions of that wave that are the parent's too; wave 0, in records of earlier versions, means unknown.
    """

    of: str
    at: int
    number: int | None = None
    instead: Mapping[str, Any] | None = None
    changed: tuple[str, ...] = ()
    salts: tuple[tuple[int, str], ...] = ()
    wave: int = 0
    beside: tuple[int, ...] = ()

    def inherits(self, wave: int, index: int) -> bool:
        """Whether a decision is the parent's, which was paid for there."""
        return wave < self.wave or index in self.beside

    def same_arm(self, other: Branch) -> bool:
        """Whether both make the same change to the same run, and differ in their numbers alone."""
        return (self.of, self.at, self.instead, self.changed) == (other.of, other.at, other.instead, other.changed)

    def record(self) -> dict[str, Any]:
        """As journals and histories keep it."""
        return {
            "of": self.of,
            "at": self.at,
            "branch": self.number,
            "instead": None if self.instead is None else dict(self.instead),
            "changed": list(self.changed),
            "salts": [list(branch_seed) for branch_seed in self.salts],
            **({"wave": self.wave, "beside": list(self.beside)} if self.wave else {}),
        }

    @classmethod
    def restore(cls, record: Mapping[str, Any]) -> Branch:
        """The branch that `record()` came from; `KeyError`, `TypeError` or `ValueError` where it is none."""
        number, instead = record["branch"], record["instead"]
        if not (instead is None or isinstance(instead, Mapping)):
            raise TypeError("fork.instead is no decision")
        return cls(
            of=str(record["of"]),
            at=int(record["at"]),
            number=None if number is None else int(number),
            instead=instead,
            changed=tuple(map(str, record["changed"])),
            salts=tuple((int(wave), str(word)) for wave, word in record["salts"]),
            wave=int(record.get("wave", 0)),
            beside=tuple(map(int, record.get("beside", ()))),
        )


def _written(path: Path) -> str:
    """A path as UTF-8 can hold it, whatever the locale makes of its bytes; what is no UTF-8 is spelled out."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _read(text: str) -> Path:
    return Path(os.fsdecode(text.encode()))


def _files(plan: PlayerPlan) -> str | list[str | None] | None:
    """The files of a seat's models: of one model its path, of several a place for each."""
    written = [None if each.path is None else _written(each.path) for each in plan.models]
    return written if plan.spares else written[0]


class _Identity(ClosedTable):
    """What decides how the game goes; two runs of one identity and seed are the same game."""

    game: str
    game_config: dict[str, JsonValue]
    players: tuple[SeatRecord, ...]
    staff: dict[str, SeatRecord]
    providers: dict[str, ProviderSettings]
    prices: dict[str, Price]


class _Paths(ClosedTable):
    config: str
    models: dict[str, str | tuple[str | None, ...]]
    allow_dirs: tuple[str, ...]


class _RecordedLimits(Limits):
    """The limits of a run on record: one that says nothing of fallbacks had no limit of them."""

    max_fallback_rate: float | None = None


class _RunPart(ClosedTable):
    """What may differ between two runs of one game; a history's `volatile.run` holds more than this."""

    model_config = ConfigDict(extra="ignore")

    name: str | None
    limits: _RecordedLimits
    fallbacks_of: Literal["all", "asked"] = "all"
    base_urls: dict[str, str]
    paths: _Paths


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A scenario that can be played. `seed` is None where the file leaves it to be drawn; a fork has a `branch`.

    `bots_count` is true of runs on record from before the share of fallbacks left bots' decisions out and looked at
    each player: their status is what it was.
    """

    game: str
    name: str | None
    seed: int | None
    config: GameConfig
    players: tuple[PlayerPlan, ...]
    staff: Mapping[str, PlayerPlan]
    limits: Limits
    providers: Mapping[str, ProviderSettings]
    prices: Mapping[str, Price]
    path: Path
    allow_dirs: tuple[Path, ...] = ()
    branch: Branch | None = None
    bots_count: bool = False

    @property
    def seats(self) -> tuple[PlayerPlan, ...]:
        """The players, then the staff."""
        return (*self.players, *self.staff.values())

    def identity(self) -> dict[str, Any]:
        """The history's `scenario`: JSON values in a fixed order, without seed, name, paths, addresses, budgets."""
        return {
            "game": self.game,
            "game_config": self.config.model_dump(mode="json", by_alias=True),
            "players": [plan.record() for plan in self.players],
            "staff": {role: self.staff[role].record() for role in sorted(self.staff)},
            "providers": {name: self.providers[name].record() for name in sorted(self.providers)},
            "prices": {name: self.prices[name].model_dump(mode="json") for name in sorted(self.prices)},
        }

    def run_part(self) -> dict[str, Any]:
        """The rest, for `volatile.run` and for resuming: JSON values in a fixed order; paths are absolute."""
        return {
            "name": self.name,
            "limits": self.limits.model_dump(mode="json"),
            **({} if self.bots_count else {"fallbacks_of": "asked"}),
            "base_urls": {
                name: settings.base_url
                for name, settings in sorted(self.providers.items())
                if settings.base_url is not None
            },
            "paths": {
                "config": _written(self.path),
                "models": {plan.id: _files(plan) for plan in self.seats if any(each.path for each in plan.models)},
                "allow_dirs": [_written(path) for path in self.allow_dirs],
            },
        }

    @classmethod
    def restore(
        cls,
        identity: Mapping[str, Any],
        run_part: Mapping[str, Any],
        *,
        seed: int | None = None,
        find: Find | None = None,
    ) -> Scenario:
        """The scenario that `identity()` and `run_part()` came from; `ScenarioError` where they are not of one."""
        parts = validated(_Identity, identity)
        run = validated(_RunPart, run_part)
        game = found(parts.game, find)

        def plan(record: SeatRecord) -> PlayerPlan:
            files = run.paths.models.get(record.id, ())
            listed = (files,) if isinstance(files, str) else files
            return PlayerPlan.restore(record, [None if file is None else _read(file) for file in listed])

        return cls(
            game=parts.game,
            name=run.name,
            seed=seed,
            config=validated(game.config, parts.game_config, at=("game_config",)),
            players=tuple(plan(record) for record in parts.players),
            staff={role: plan(record) for role, record in parts.staff.items()},
            limits=Limits(**run.limits.model_dump()),
            bots_count=run.fallbacks_of == "all",
            providers={
                name: settings.model_copy(update={"base_url": run.base_urls.get(name)})
                for name, settings in parts.providers.items()
            },
            prices=parts.prices,
            path=_read(run.paths.config),
            allow_dirs=tuple(_read(path) for path in run.paths.allow_dirs),
        )
