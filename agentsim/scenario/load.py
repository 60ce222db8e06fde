"""Loads a scenario: a TOML file or a mapping, and the changes to it, as a `Scenario` or one `ScenarioError`.

Each step has its own module; here are their order and the checks that span several. A design file is read here too, and
the scenario of each of its cells made from the base scenario.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from agentsim import games
from agentsim.engine.game import Game
from agentsim.engine.rule_sets import settings_of, versions
from agentsim.engine.survey import Interview, Survey
from agentsim.errors import Refusals, ScenarioError
from agentsim.scenario.document import adopted, beside, overridden, put, recast, rename, with_provider
from agentsim.scenario.factorial import EVERYONE, DesignTable, Factorial, factorial, level_named
from agentsim.scenario.people import admit_people
from agentsim.scenario.player_plan import OWN
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.seating import Seating
from agentsim.scenario.source_files import Material, gathered, read_toml, roots
from agentsim.scenario.toml_tables import ScenarioTable
from agentsim.scenario.validation import dotted, nearest, one_line, screen, validated

Source: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | ScenarioTable
"""A scenario: the path of a TOML file, what such a file holds as a mapping, or an `agentsim.Scenario`."""
Overrides: TypeAlias = Sequence[str] | Mapping[str, Any]
"""`KEY=VALUE`, or values by dotted key."""
_OF_THE_BATCH = ("game", "seed", "name", "limits")


def load(
    source: Source,
    *,
    game_config: Path | None = None,
    overrides: Overrides = (),
    provider: str | None = None,
    game: str | None = None,
    seed: int | None = None,
    allow_dirs: Sequence[str | os.PathLike[str]] = (),
    max_cost_usd: float | None = None,
    model: str | None = None,
    own: Collection[str] = (),
    levels: Mapping[str, Any] = MappingProxyType({}),
) -> Scenario:
    """The scenario as it is played; `ScenarioError` names the file and the key of what is wrong.

    Paths in a source that is no file are relative to the working directory. `game_config` is a second file, for tables
    that the first does not have. `overrides` are put in first, then the `levels` of a design by key, then the other
    arguments. `model` is one that takes the place of every player's own, but not of the staff's. `own` are
    names of models that a program passes.
    """
    if isinstance(source, ScenarioTable):
        source = source.model_dump(mode="json", exclude_unset=True, by_alias=True)
    if isinstance(source, Mapping):
        path, where = Path("scenario.toml"), "the scenario"
    else:
        path, where = Path(source), one_line(os.fspath(source))
    with _placed(where):
        document = deepcopy(dict(source)) if isinstance(source, Mapping) else read_toml(path)
        second, further = one_line(str(game_config)), dict[str, Any]()
        if game_config is not None:
            with _placed(second):
                further = read_toml(game_config)
        if "factors" in document:
            raise ScenarioError("are of a design, which `agentsim batch --design` plays", key="factors")
        with _placed(second, {*further, *(["game_config"] if "game" in further else [])}):
            document = adopted(beside(document, further), game)
            # again, since overrides win over the file and may use the other project's keys
            document = adopted(overridden(overridden(document, overrides), levels), game)
            for key, value in (("game", game), ("seed", seed), ("limits.max_cost_usd", max_cost_usd)):
                if value is not None:
                    put(document, key.split("."), value)
            if model is not None:
                recast(document, model)
            rename(document, lambda name: f"{OWN}{name}" if name in own else name)
            if provider is not None:
                with_provider(document, provider)
            screen(document)
            return _scenario(validated(ScenarioTable, document), path, tuple(map(Path, allow_dirs)))


def _scenario(table: ScenarioTable, path: Path, allow_dirs: tuple[Path, ...]) -> Scenario:
    if table.game is None:
        raise ScenarioError("is missing; give it here or as --game", key="game", valid=", ".join(games.names()))
    game = games.find(table.game)
    allowed = roots(path, allow_dirs)
    refusals, material = Refusals(), Material({})
    with refusals.noted():
        material = gathered(table.game_config, game.config, path, allowed)
        config = validated(game.config, {**_rules(table, game), **material.game_config}, at=("game_config",))
    seating = Seating(table, game, material, path, allowed)
    with refusals.noted():
        players = seating.players()
    refusals.raised()
    config = seating.by_player(config)
    staff = seating.staff(players)
    game.admit(config, [player.id for player in players])
    admit_people(table.people, game, players)
    return Scenario(
        game=game.name,
        name=table.name,
        seed=table.seed,
        config=config,
        players=players,
        staff=staff,
        limits=table.limits,
        providers=table.providers,
        prices=table.prices,
        interviews=_interviews(table, game, [player.id for player in players]),
        people=table.people,
        path=path.resolve(),
        allow_dirs=tuple(allowed.resolve() for allowed in allow_dirs),
    )


def _interviews(table: ScenarioTable, game: Game, players: Sequence[str]) -> tuple[Interview, ...]:
    """The interviews; `ScenarioError` where one asks a stranger, or two questions have one name."""
    if table.interviews and any(request.kind == Survey.kind for request in game.requests):
        raise ScenarioError(f"{game.name} has a question of its own that is called {Survey.kind}", key="interviews")
    named: set[str] = set()
    for place, each in enumerate(table.interviews):
        for player in each.players:
            if player not in players:
                hint, valid = nearest(player, players)
                raise ScenarioError(
                    f"no player is called {player[:40]}{hint}",
                    key=dotted(("interviews", place, "players")),
                    valid=valid,
                )
        for number, question in enumerate(each.questions):
            if question.name in named:
                key = dotted(("interviews", place, "questions", number, "name"))
                raise ScenarioError(f"two questions are called {question.name}", key=key)
            named.add(question.name)
    return table.interviews


def _rules(table: ScenarioTable, game: Game) -> dict[str, Any]:
    """The settings of the rule set that the file names."""
    known = versions(game)
    if table.rules_version is None:
        return {}
    if table.rules_version not in known:
        problem = f"{game.name} has no rule set {table.rules_version}"
        raise ScenarioError(problem, key="rules_version", valid=", ".join(map(str, known)))
    return settings_of(game.config, table.rules_version)


@contextmanager
def _placed(where: str, keys: Collection[str] | None = None) -> Iterator[None]:
    """Add the file to errors that do not know it: to all, or to those about what stands under these keys."""
    try:
        yield
    except ScenarioError as error:
        if keys is not None and error.key.partition(".")[0] not in keys:
            raise
        raise error.placed(where=where) from None


# -- designs


@dataclass(frozen=True)
class DesignFile:
    """A design, and the base scenario that its file names; `where` it stands."""

    factorial: Factorial
    config: Path | None
    where: str


def is_design(path: Path) -> bool:
    """Whether a file is a design and not a scenario."""
    try:
        return "factors" in read_toml(path)
    except ScenarioError:  # which loading it says
        return False


def read_design(source: Path | Mapping[str, Any]) -> DesignFile:
    """The design of a file, or of what such a file holds; `ScenarioError` names the file and the key."""
    where = one_line(str(source)) if isinstance(source, Path) else "the design"
    folder = source.parent if isinstance(source, Path) else Path()
    try:
        document = read_toml(source) if isinstance(source, Path) else dict(source)
        if isinstance(found := document.get("factors"), Mapping):
            document["factors"] = _flat(found)
        table = validated(DesignTable, document)
        for key in table.factors:
            if key.partition(".")[0] in _OF_THE_BATCH:
                valid = "keys of game_config, players, defaults, staff"
                raise ScenarioError("is the same in all games of a batch", key=f"factors.{key}", valid=valid)
        design = factorial(table)
    except ScenarioError as error:
        raise error.placed(where=where) from None
    return DesignFile(design, None if table.config is None else folder / table.config, where)


def _flat(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Levels by dotted key: TOML reads `a.b = [1, 2]` as a table in a table."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{above}.{dotted([key])}" if above else key
        flat |= _flat(value, name) if isinstance(value, Mapping) else {name: value}
    return flat


def cells(
    design: DesignFile, base: Source, cast: Sequence[str | None] = (None,), **loading: Any
) -> tuple[list[Scenario], dict[str, list[str]]]:
    """The scenario of every cell with each model of the cast, cell by cell; and by factor, the players it is of.

    `ScenarioError` names the factor and the level that the scenario refuses.
    """
    first = load(base, **loading, model=cast[0])
    players = [plan.id for plan in first.players]
    found: list[Scenario] = []
    known: dict[str, int] = {}
    for cell in range(len(design.factorial.cells)):
        levels = design.factorial.levels(cell)
        try:
            casts = [load(base, **loading, model=model, levels=levels) for model in cast]
        except ScenarioError as error:
            raise _refused(design, levels, error, base, loading) from None
        at = ", ".join(f"{key} = {level_named(level)}" for key, level in levels.items())
        if [plan.id for plan in casts[0].players] != players:
            raise ScenarioError(f"{at}: seats other players than the base scenario", key="factors", where=design.where)
        same = json.dumps(casts[0].identity(), sort_keys=True)
        if same in known:
            other = design.factorial.levels(known[same])
            key = next(key for key in levels if levels[key] != other[key])
            two = f"{level_named(other[key])} and {level_named(levels[key])}"
            raise ScenarioError(f"{two} make the same scenario", key=f"factors.{key}", where=design.where)
        known[same] = cell
        found += casts
    _check_players(design, [*labels(found[: len(cast)]), EVERYONE])
    factors = design.factorial.table.factors.items()
    return found, {key: _carriers(key, levels, base, loading) for key, levels in factors}


def labels(casts: Sequence[Scenario]) -> list[str]:
    """Whose effects can be asked for: the players, and the models that take their seats in turn."""
    models = (each.players[0].model for each in casts) if len(casts) > 1 else ()
    return [*(plan.id for plan in casts[0].players), *models]


def _refused(
    design: DesignFile, levels: Mapping[str, Any], error: ScenarioError, base: Source, loading: Mapping[str, Any]
) -> ScenarioError:
    """The error with the factor and the level that alone makes it, or with all levels of the cell."""
    key, said = "factors", ", ".join(f"{key} = {level_named(level)}" for key, level in levels.items())
    for name, level in levels.items():
        try:
            load(base, **loading, levels={name: level})
        except ScenarioError as own:
            error, key, said = own, f"factors.{name}", level_named(level)
            break
    place = error.key.removeprefix("--set ")
    problem = error.problem if f"factors.{place}" == key or not place else f"{place}: {error.problem}"
    return ScenarioError(f"{said}: {problem}", key=key, where=design.where, valid=error.valid)


def _check_players(design: DesignFile, known: Sequence[str]) -> None:
    for number, name in enumerate(design.factorial.table.players):
        if name not in known:
            hint, valid = nearest(name, known)
            raise ScenarioError(
                f"{name} plays in no game{hint}", key=f"players.{number}", where=design.where, valid=valid
            )


def _carriers(key: str, levels: Sequence[Any], base: Source, loading: Mapping[str, Any]) -> list[str]:
    """The players whom a factor `players.N...` is of, a population for each of its members; else none."""
    if not key.startswith("players."):
        return []
    try:
        one, other = (load(base, **loading, levels={key: level}).players for level in levels[:2])
    except ScenarioError:  # a level that can be played only beside others
        return []
    return [plan.id for plan, same in zip(one, other, strict=True) if plan.record() != same.record()]
