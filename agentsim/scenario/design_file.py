"""Design files: read, and the scenario of each of their cells made from the base scenario.

What a design is, and what its cells are, is `factorial`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentsim.errors import ScenarioError
from agentsim.scenario.factorial import EVERYONE, DesignTable, Factorial, factorial, level_named
from agentsim.scenario.load import Source, load
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.source_files import read_toml
from agentsim.scenario.validation import dotted, nearest, one_line, validated

_OF_THE_BATCH = ("game", "seed", "name", "limits")


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
