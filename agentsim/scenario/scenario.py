"""Scenario: a game, its config and its players, checked and resolved, and the parts that histories and journals keep.

`load` reads scenarios from TOML files. Nothing here opens a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, JsonValue

from agentsim import games
from agentsim.engine.codec import StrictTable
from agentsim.engine.game import GameConfig
from agentsim.engine.survey import Interview
from agentsim.engine.wording import listed
from agentsim.errors import ScenarioError, UsageError
from agentsim.lazy import dataclass
from agentsim.models.prices import Price, Prices
from agentsim.models.profiles import ProviderSettings
from agentsim.records.history import Branch
from agentsim.scenario.player_plan import PlayerPlan
from agentsim.scenario.toml_tables import Limits, PeopleTable
from agentsim.scenario.validation import nearest, one_line, screen, validated


def _written(path: Path) -> str:
    """Return a path as UTF-8 text in any locale, with backslash escapes for bytes that are not UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _read(text: str) -> Path:
    return Path(os.fsdecode(text.encode()))


def _files(plan: PlayerPlan) -> str | list[str | None] | None:
    """Return the files of a seat's models: a path or None for one model, a list of these for several."""
    written = [None if file is None else _written(file) for file in plan.files]
    return written if plan.models[1:] else written[0]


class _GameSettings(StrictTable):
    """The inputs that determine a game. Two runs with the same settings and seed are the same game."""

    game: str
    game_config: dict[str, JsonValue]
    players: tuple[PlayerPlan, ...]
    staff: dict[str, PlayerPlan]
    providers: dict[str, ProviderSettings]
    prices: dict[str, Price]
    interviews: tuple[Interview, ...] = ()


class _Paths(StrictTable):
    config: str
    models: dict[str, str | tuple[str | None, ...]]
    allow_dirs: tuple[str, ...]


class _RunSettings(StrictTable):
    """The inputs that may differ between two runs of one game. A history's `volatile.run` has further fields."""

    model_config = ConfigDict(extra="ignore")

    name: str | None
    limits: Limits
    base_urls: dict[str, str]
    paths: _Paths
    people: PeopleTable | None = None


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A scenario that can be played. `seed` is None if it is still to be drawn. A fork has a `branch`."""

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
        """The first model of each seat, by the seat's id."""
        return {plan.id: plan.model for plan in self.seats}

    def game_settings(self) -> dict[str, Any]:
        """Return the history's `scenario`: JSON values in a fixed order.

        It leaves out seed, name, paths, addresses and limits.
        """
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

    def run_settings(self) -> dict[str, Any]:
        """Return the fields besides `game_settings()`, for `volatile.run` and for resuming.

        They are JSON values in a fixed order, with absolute paths.
        """
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
                "models": {plan.id: _files(plan) for plan in self.seats if any(plan.files)},
                "allow_dirs": [_written(path) for path in self.allow_dirs],
            },
        }

    @classmethod
    def restore(
        cls, game_settings: Mapping[str, Any], run_settings: Mapping[str, Any], *, seed: int | None = None
    ) -> Scenario:
        """Return the scenario from its `game_settings()` and `run_settings()`. Raises `ScenarioError`."""
        parts = validated(_GameSettings, game_settings)
        run = validated(_RunSettings, run_settings)
        game = games.find(parts.game)

        def found(plan: PlayerPlan) -> PlayerPlan:
            files = run.paths.models.get(plan.id, ())
            listed = (files,) if isinstance(files, str) else files
            return plan.with_files([None if file is None else _read(file) for file in listed])

        return cls(
            game=parts.game,
            name=run.name,
            seed=seed,
            config=validated(game.config, parts.game_config, at=("game_config",)),
            players=tuple(map(found, parts.players)),
            staff={role: found(plan) for role, plan in parts.staff.items()},
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
    """Return the prices of the scenario's models, for the addresses in its tables and the environment."""
    return Prices(scenario.prices, scenario.providers, env)


_NAMED = 4  # players named in one line; the others are counted


def idle_settings(scenario: Scenario, casts: Iterable[Scenario] = ()) -> list[str]:
    """Return a line for each setting without effect: prices of models that do not play, sampling of bots and people.

    `casts` are the scenarios of a batch, whose models play, too.
    """
    played = (plan for each in (scenario, *casts) for plan in each.seats)
    used = list(dict.fromkeys(model for plan in played for model in plan.models))
    idle = [model for model in scenario.prices if model not in used]
    lines = [f'prices."{model}": no player uses this model{nearest(model, used)[0]}' for model in idle]
    for setting in ("temperature", "reasoning", "seed", "logprobs"):
        if cold := [plan.id for plan in scenario.seats if setting in plan.idle]:
            named = cold if len(cold) <= _NAMED else [*cold[: _NAMED - 1], f"{len(cold) - _NAMED + 1:,} more"]
            lines.append(f"{setting} of {listed(named)}: without effect, since bots, scripts and people take none")
    return lines


def check_prices(scenario: Scenario, env: Mapping[str, str]) -> None:
    """Raise `ScenarioError` if a limit in dollars is set and the price of a model is unknown."""
    if unpriced := _unpriced(scenario, env):
        raise ScenarioError(
            f'the price of {" and of ".join(unpriced)} is unknown; add a [prices."'
            + '"] and a [prices."'.join(unpriced)
            + '"] table with input and output, in US dollars per million tokens',
            key="limits.max_cost_usd",
            where=shown_path(scenario.path),
        )


def shown_path(path: Path) -> str:
    """Return the scenario's file relative to the working directory if it is below it, else in full, on one line."""
    here = Path.cwd()
    return one_line(str(path.relative_to(here) if path.is_relative_to(here) else path))


def _unpriced(scenario: Scenario, env: Mapping[str, str]) -> list[str]:
    """Return the models of unknown price if a limit in dollars is set, else an empty list."""
    if scenario.limits.max_cost_usd is None:
        return []
    prices = prices_of(scenario, env)
    models = dict.fromkeys(model for plan in scenario.seats for model in plan.models)
    return [model for model in models if not prices.has_price(model)]


_OPTIONS = {"max_cost_usd": "--max-cost", "max_calls": "--max-calls", "max_wall_s": "--max-wall"}


@dataclass(frozen=True)
class LimitOverrides:
    """Limits that replace a scenario's own; None keeps the scenario's."""

    max_cost_usd: float | None = None
    max_calls: int | None = None
    max_wall_s: float | None = None


def with_limits(scenario: Scenario, env: Mapping[str, str], limits: LimitOverrides) -> Scenario:
    """Return the scenario with these limits, checked like the limits of a scenario's file.

    Raises `UsageError`, which names the command line option, for an invalid limit, or a limit in dollars with a price
    unknown.
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
