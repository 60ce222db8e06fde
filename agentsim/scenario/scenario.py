"""Scenario: a game, its config and its players, checked and resolved; what a history and a journal keep of it.

Reading it from a TOML file is `load`. Nothing here opens a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, JsonValue

from agentsim import games
from agentsim.engine.codec import ClosedTable
from agentsim.engine.game import GameConfig
from agentsim.engine.survey import Interview
from agentsim.engine.wording import listed
from agentsim.errors import ScenarioError, UsageError
from agentsim.history.record import Branch
from agentsim.models.prices import Price, Prices
from agentsim.models.profiles import ProviderSettings
from agentsim.scenario.player_plan import PlayerPlan, SeatRecord
from agentsim.scenario.toml_tables import Limits, PeopleTable
from agentsim.scenario.validation import nearest, one_line, screen, validated


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
    interviews: tuple[Interview, ...] = ()


class _Paths(ClosedTable):
    config: str
    models: dict[str, str | tuple[str | None, ...]]
    allow_dirs: tuple[str, ...]


class _RunPart(ClosedTable):
    """What may differ between two runs of one game; a history's `volatile.run` holds more than this."""

    model_config = ConfigDict(extra="ignore")

    name: str | None
    limits: Limits
    base_urls: dict[str, str]
    paths: _Paths
    people: PeopleTable | None = None


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A scenario that can be played. `seed` is None where the file leaves it to be drawn; a fork has a `branch`."""

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
    interviews: tuple[Interview, ...] = ()
    people: PeopleTable | None = None
    allow_dirs: tuple[Path, ...] = ()
    branch: Branch | None = None

    @property
    def seats(self) -> tuple[PlayerPlan, ...]:
        """The players, then the staff."""
        return (*self.players, *self.staff.values())

    @property
    def first_models(self) -> dict[str, str]:
        """The model that each seat asks first, by the seat's id."""
        return {plan.id: plan.model for plan in self.seats}

    def identity(self) -> dict[str, Any]:
        """The history's `scenario`: JSON values in a fixed order, without seed, name, paths, addresses, budgets."""
        interviews = [each.model_dump(mode="json", exclude_defaults=True) for each in self.interviews]
        return {
            "game": self.game,
            "game_config": self.config.model_dump(mode="json", by_alias=True),
            "players": [plan.record() for plan in self.players],
            "staff": {role: self.staff[role].record() for role in sorted(self.staff)},
            "providers": {name: self.providers[name].record() for name in sorted(self.providers)},
            "prices": {name: self.prices[name].model_dump(mode="json") for name in sorted(self.prices)},
            **({"interviews": interviews} if interviews else {}),
        }

    def run_part(self) -> dict[str, Any]:
        """The rest, for `volatile.run` and for resuming: JSON values in a fixed order; paths are absolute."""
        return {
            "name": self.name,
            "limits": self.limits.model_dump(mode="json"),
            **({"people": self.people.model_dump(mode="json", exclude_defaults=True)} if self.people else {}),
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
    def restore(cls, identity: Mapping[str, Any], run_part: Mapping[str, Any], *, seed: int | None = None) -> Scenario:
        """The scenario that `identity()` and `run_part()` came from; `ScenarioError` where they are not of one."""
        parts = validated(_Identity, identity)
        run = validated(_RunPart, run_part)
        game = games.find(parts.game)

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
            limits=run.limits,
            providers={
                name: settings.model_copy(update={"base_url": run.base_urls.get(name)})
                for name, settings in parts.providers.items()
            },
            prices=parts.prices,
            interviews=parts.interviews,
            people=run.people,
            path=_read(run.paths.config),
            allow_dirs=tuple(_read(path) for path in run.paths.allow_dirs),
        )


def prices_of(scenario: Scenario, env: Mapping[str, str]) -> Prices:
    """The prices of the scenario's models, for the addresses given by its tables and the environment."""
    return Prices(scenario.prices, scenario.providers, env)


_NAMED = 4  # players in one line; of more the last are counted


def idle_settings(scenario: Scenario) -> list[str]:
    """A line for what is set and used by no one: prices of models that do not play, sampling of bots and people."""
    used = list(dict.fromkeys(each.model for plan in scenario.seats for each in plan.models))
    idle = [model for model in scenario.prices if model not in used]
    lines = [f'prices."{model}": no player uses this model{nearest(model, used)[0]}' for model in idle]
    for setting in ("temperature", "reasoning", "seed", "logprobs"):
        if cold := [plan.id for plan in scenario.seats if setting in plan.idle]:
            named = cold if len(cold) <= _NAMED else [*cold[: _NAMED - 1], f"{len(cold) - _NAMED + 1:,} more"]
            lines.append(f"{setting} of {listed(named)}: without effect, since bots, scripts and people take none")
    return lines


def check_prices(scenario: Scenario, env: Mapping[str, str]) -> None:
    """Raise `ScenarioError` where a limit in dollars is set and the price of a model is unknown."""
    if unpriced := _unpriced(scenario, env):
        raise ScenarioError(
            f'the price of {" and of ".join(unpriced)} is unknown; add a [prices."'
            + '"] and a [prices."'.join(unpriced)
            + '"] table with input and output, in US dollars per million tokens',
            key="limits.max_cost_usd",
            where=shown_path(scenario.path),
        )


def shown_path(path: Path) -> str:
    """The scenario's file as it is named from this directory."""
    here = Path.cwd()
    return one_line(str(path.relative_to(here) if path.is_relative_to(here) else path))


def _unpriced(scenario: Scenario, env: Mapping[str, str]) -> list[str]:
    """The models of unknown price where a limit in dollars is set."""
    if scenario.limits.max_cost_usd is None:
        return []
    prices = prices_of(scenario, env)
    models = dict.fromkeys(each.model for plan in scenario.seats for each in plan.models)
    return [model for model in models if not prices.known(model)]


_OPTIONS = {"max_cost_usd": "--max-cost", "max_calls": "--max-calls", "max_wall_s": "--max-wall"}


@dataclass(frozen=True)
class LimitOverrides:
    """Limits that take the place of a scenario's own; None leaves its own."""

    max_cost_usd: float | None = None
    max_calls: int | None = None
    max_wall_s: float | None = None


def with_limits(scenario: Scenario, env: Mapping[str, str], limits: LimitOverrides) -> Scenario:
    """Return the scenario with these limits, which are checked as they are in a scenario's file.

    Raises `UsageError`, which names the option of the command line; also for a limit in dollars if a price is unknown.
    """
    new = {key: value for key, value in asdict(limits).items() if value is not None}
    try:
        screen(new)
        changed = validated(Limits, {**scenario.limits.model_dump(mode="json"), **new})
    except ScenarioError as error:
        raise UsageError(f"{_OPTIONS.get(error.key, error.key)}: {error.problem}") from None
    scenario = replace(scenario, limits=changed)
    if unpriced := _unpriced(scenario, env):
        raise UsageError(
            f"{_OPTIONS['max_cost_usd']}: the price of {' and of '.join(unpriced)} is unknown, and a run keeps the "
            f"prices that it began with; limit {_OPTIONS['max_calls']}, or begin a new run with a "
            f'[prices."{unpriced[0]}"] table'
        )
    return scenario
