"""Factorial designs: the combinations of levels that are played, and the scenario of each cell.

A fraction is regular, of factors with two levels: the levels of some factors are sums modulo 2 of the others' (G. E. P.
Box and J. S. Hunter, The 2^(k-p) fractional factorial designs, 1961). Of all such fractions of a size it is the one of
minimum aberration (A. Fries and W. G. Hunter, 1980) among those that keep main effects and the requested interactions
apart. `effects` estimates the effects of the factors.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce
from itertools import combinations, product
from math import prod
from operator import itemgetter
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from pydantic import JsonValue

from agentsim.engine.wording import counted
from agentsim.errors import ScenarioError, UsageError
from agentsim.lazy import dataclass
from agentsim.records.run_files import MANIFEST
from agentsim.runs.batch.manifest import DesignRecord, DesignTable, Until
from agentsim.scenario.load import Source, load
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.source_files import read_toml
from agentsim.scenario.validation import dotted, nearest, one_line, validated

EVERYONE = "all players"
"""The label of the mean of all players of a game."""
MOST_CELLS, MOST_IN_FRACTION = 256, 9
_LONGEST_LABEL = 40
Word: TypeAlias = frozenset[int]
"""A word of the defining relation: the indices of factors whose levels add up to an even number in every cell."""


@dataclass(frozen=True)
class Contrast:
    """A main effect or an interaction as a sum over cells, with one weight per cell; the weights add up to 0.

    A main effect is a level minus the first level. An interaction is that difference at a level of the second factor
    minus the same difference at its first level. `name` is `persona: betray vs. neutral`, or `persona x temperature`.
    """

    name: str
    factors: tuple[str, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Factorial:
    """A design. `cells` has the level of each factor as an index, `words` the defining relation of a fraction."""

    table: DesignTable
    cells: tuple[tuple[int, ...], ...]
    words: tuple[Word, ...] = ()

    @cached_property
    def factors(self) -> tuple[str, ...]:
        return tuple(self.table.factors)

    @cached_property
    def names(self) -> dict[str, str]:
        """The name of each factor by key: the design's own, or the last part of the key if it is unambiguous."""
        last = {key: key.rpartition(".")[2].strip('"').removesuffix("_file") for key in self.factors}
        counts = Counter(last.values())
        return {key: self.table.names.get(key, name if counts[name] == 1 else key) for key, name in last.items()}

    @cached_property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """The labels of each factor's levels by key: the design's own, else short text.

        The label of a file is its name without folder and suffix. Prompts and other long texts are numbered.
        """
        return {key: self.table.labels.get(key) or self._short_labels(key) for key in self.factors}

    def _short_labels(self, key: str) -> tuple[str, ...]:
        levels, last = self.table.factors[key], key.rpartition(".")[2].strip('"')
        texts = [_level_text(level) for level in levels]
        if last.endswith("_file"):
            texts = [PurePath(text).stem for text in texts]
        long = last != "model" and any(len(text) > _LONGEST_LABEL or not text.isprintable() for text in texts)
        if last.endswith("prompt") or long or len({*texts}) < len(texts):
            return tuple(f"{self.names[key]} {number}" for number in range(1, len(levels) + 1))
        return tuple(map(one_line, texts))

    def cell_labels(self, cell: int) -> tuple[str, ...]:
        """Return the label of each factor's level in a cell."""
        return tuple(self.labels[key][at] for key, at in zip(self.factors, self.cells[cell], strict=True))

    def record(self, carriers: Mapping[str, Sequence[str]], until: Until | None) -> DesignRecord:
        """Return what a batch's manifest keeps of the design: all that stays when the batch grows."""
        table = self.table.model_copy(update={"config": None, "replicates": None})
        levels = tuple(map(self.levels, range(len(self.cells))))
        named = {key: tuple(own) for key, own in carriers.items()}
        return DesignRecord(table=table, cells=levels, carriers=named, until=until)

    def effect(self, factor: str | None) -> tuple[str, ...] | None:
        """Return the factors of the effect `a`, or of the interaction `a,b`. None stays None.

        Raises `UsageError` if the design does not ask for it.
        """
        if factor is None:
            return None
        names = [tuple(self.factors[index] for index in effect) for effect in self.asked]
        keys = {name: key for key, name in self.names.items()}
        wanted = {keys.get(part.strip(), part.strip()) for part in factor.split(",")}
        for name in names:
            if {*name} == wanted:
                return name
        hint, valid = nearest(factor, [",".join(name) for name in names])
        asked = f" (valid: {valid})" if valid else hint
        raise UsageError(f"--factor {factor}: the design asks for no such effect{asked}")

    def levels(self, cell: int) -> dict[str, JsonValue]:
        """Return the level of each factor in a cell."""
        return {key: self.table.factors[key][at] for key, at in zip(self.factors, self.cells[cell], strict=True)}

    @property
    def resolution(self) -> int | None:
        """The resolution (length of the shortest word of the defining relation), or None for a full design."""
        return min(map(len, self.words), default=None)

    @cached_property
    def asked(self) -> tuple[tuple[int, ...], ...]:
        """The effects to estimate, as indices of factors."""
        pairs = (tuple(self.factors.index(each) for each in pair) for pair in self.table.interactions)
        return (*((index,) for index in range(len(self.factors))), *pairs)

    def aliases(self) -> dict[str, list[str]]:
        """Return by effect the main effects and two-factor interactions that it is aliased with."""
        found = {}
        for effect in self.asked:
            same = sorted((len(other), sorted(other)) for word in self.words if len(other := word ^ {*effect}) < 3)
            if same:
                found[self._named(effect)] = [self._named(other) for _, other in same]
        return found

    @property
    def in_words(self) -> str:
        """The size of the design and, of a fraction, its resolution and aliases."""
        whole = prod(map(len, self.table.factors.values()))
        if not self.words:
            return f"full factorial: {counted(whole, 'cell')}"
        said = f"{self.table.fraction} of {counted(whole, 'cell')}: {len(self.cells)}, resolution {self.resolution}"
        mixed = "; ".join(f"{effect} with {', '.join(same)}" for effect, same in self.aliases().items())
        return f"{said}; aliased: {mixed}" if mixed else said

    def contrasts(self) -> list[Contrast]:
        """Return the main effects and the requested interactions, each level against the first."""
        return [
            self._contrast(effect, levels)
            for effect in self.asked
            for levels in product(*(range(1, len(self.table.factors[self.factors[index]])) for index in effect))
        ]

    def _contrast(self, effect: Sequence[int], levels: Sequence[int]) -> Contrast:
        weights = []
        share = prod(len(self.table.factors[self.factors[index]]) for index in effect) / len(self.cells)
        for cell in self.cells:
            signs = (
                1 if cell[index] == level else -1 if cell[index] == 0 else 0
                for index, level in zip(effect, levels, strict=True)
            )
            weights.append(prod(signs) * share)
        keys = tuple(self.factors[index] for index in effect)
        name = self._named(effect)
        if len(effect) == 1 or any(len(self.table.factors[key]) > 2 for key in keys):
            compared = (
                f"{self.labels[key][level]} vs. {self.labels[key][0]}" for key, level in zip(keys, levels, strict=True)
            )
            name = f"{name}: {' x '.join(compared)}"
        return Contrast(name, keys, tuple(weights))

    def _named(self, effect: Iterable[int]) -> str:
        return " x ".join(self.names[self.factors[index]] for index in effect)


def load_design(directory: Path, record: DesignRecord) -> Factorial:
    """Return the design in a batch's manifest.

    Raises `UsageError` if it is invalid, or if its cells are not those of its table.
    """
    try:
        found = factorial(record.table)
    except ScenarioError as error:
        raise UsageError(f"{directory / MANIFEST}: is not a batch's manifest: {error}") from None
    if [*map(found.levels, range(len(found.cells)))] != [*record.cells]:
        raise UsageError(f"{directory / MANIFEST}: is not a batch's manifest: its cells are not those of its design")
    return found


def level_named(level: JsonValue) -> str:
    """Return a level as text of at most 40 characters."""
    return one_line(_level_text(level), _LONGEST_LABEL)


def _level_text(level: JsonValue) -> str:
    return level if isinstance(level, str) else json.dumps(level, ensure_ascii=False)


def factorial(table: DesignTable) -> Factorial:
    """Build the design of a table.

    Raises `ScenarioError` if it is invalid, too large, or cannot tell the requested effects apart.
    """
    for key, levels in table.factors.items():
        if len({json.dumps(level, sort_keys=True) for level in levels}) < len(levels):
            raise ScenarioError("has one level twice", key=f"factors.{key}")
    seen = set()
    for number, pair in enumerate(table.interactions):
        at = f"interactions.{number}"
        for name in pair:
            if name not in table.factors:
                hint, valid = nearest(name, list(table.factors))
                raise ScenarioError(f"{name} is no factor{hint}", key=at, valid=valid)
        if len(set(pair)) < 2 or frozenset(pair) in seen:
            raise ScenarioError("must be two factors, and each two of them once", key=at)
        seen.add(frozenset(pair))
    _check_names(table)
    counts = [len(levels) for levels in table.factors.values()]
    parts = 1 if table.fraction is None else int(table.fraction[2:])
    if prod(counts) > MOST_CELLS * parts:
        raise ScenarioError(
            f"make {counted(prod(counts) // parts, 'cell', form=',')}, and {MOST_CELLS} are the most", key="factors"
        )
    if parts == 1:
        return Factorial(table, tuple(product(*map(range, counts))))
    return _fraction(table, counts, parts)


def _check_names(table: DesignTable) -> None:
    for where, keys in (("names", table.names), ("labels", table.labels)):
        for key in keys:
            if key not in table.factors:
                hint, valid = nearest(key, list(table.factors))
                raise ScenarioError(f"is no factor{hint}", key=f"{where}.{key}", valid=valid)
    if len({*table.names.values()}) < len(table.names):
        raise ScenarioError("call two factors the same", key="names")
    for key, labels in table.labels.items():
        many = len(table.factors[key])
        if len({*labels}) < len(labels) or len(labels) != many:
            raise ScenarioError(f"must be {many} different labels, one for each level", key=f"labels.{key}")


def _fraction(table: DesignTable, counts: Sequence[int], parts: int) -> Factorial:
    size, extra = len(counts), parts.bit_length() - 1
    if {*counts} != {2} or parts != 2**extra or not 3 <= size <= MOST_IN_FRACTION or size - extra < 2:
        raise ScenarioError(
            f"cannot be {table.fraction}: a fraction is of 3 to {MOST_IN_FRACTION} factors with two levels each, is "
            "1/2, 1/4, 1/8 and so on, and has at least 4 cells",
            key="fraction",
        )
    free = range(size - extra)
    sums = [Word(each) for many in range(2, len(free) + 1) for each in combinations(free, many)]
    found: list[tuple[list[int], tuple[Word, ...], tuple[Word, ...]]] = []
    for chosen in combinations(sums, extra):
        defining = [each | {len(free) + row} for row, each in enumerate(chosen)]
        subsets = (each for many in range(1, extra + 1) for each in combinations(defining, many))
        words = tuple(reduce(Word.symmetric_difference, each) for each in subsets)
        lengths = Counter(map(len, words))
        found.append(([lengths[length] for length in range(size + 1)], words, chosen))
    wanted = [Word(), *map(Word, Factorial(table, ()).asked)]
    for _, words, chosen in sorted(found, key=itemgetter(0)):
        if not any(effect ^ word in wanted for effect in wanted for word in words):
            whole = product(range(2), repeat=len(free))
            cells = ((*each, *(sum(each[index] for index in own) % 2 for own in chosen)) for each in whole)
            return Factorial(table, tuple(cells), words)
    raise ScenarioError(
        f"no fraction of {table.fraction} tells all main effects and the asked-for interactions apart; ask for a "
        "larger one, or for none",
        key="fraction",
    )


_OF_THE_BATCH = ("game", "seed", "name", "limits")


@dataclass(frozen=True)
class DesignFile:
    """A design, and the base scenario that its file names, if any. `where` is its source for messages."""

    factorial: Factorial
    config: Path | None
    where: str
    folder: Path = Path()

    def placed(self, levels: Mapping[str, Any], base: Source) -> dict[str, Any]:
        """Return levels whose prompt files are relative to the base scenario.

        The files are relative to the design, or to the base scenario if the design's folder has no such file.
        """
        config = Path(base) if isinstance(base, str | os.PathLike) else Path("scenario.toml")
        return {key: self._beside(key, level, config.parent) for key, level in levels.items()}

    def _beside(self, key: str, level: Any, folder: Path) -> Any:
        if key.rpartition(".")[2] != "prompt_file" or not isinstance(level, str):
            return level
        path = self.folder / level
        return os.path.relpath(path, folder) if path.is_file() else level


def is_design(path: Path) -> bool:
    """Return whether a file is a design rather than a scenario."""
    try:
        return not {"factors", "replicates"}.isdisjoint(read_toml(path))
    except ScenarioError:  # loading the file reports the error
        return False


def read_design(source: Path | Mapping[str, Any]) -> DesignFile:
    """Read the design of a file, or of a mapping with the content of such a file.

    Raises `ScenarioError` with the file and the key.
    """
    where = one_line(str(source)) if isinstance(source, Path) else "the design"
    folder = source.parent if isinstance(source, Path) else Path()
    try:
        document = read_toml(source) if isinstance(source, Path) else dict(source)
        for name in ("factors", "names", "labels"):
            if isinstance(found := document.get(name), Mapping):
                document[name] = _flat(found)
        table = validated(DesignTable, document)
        for key in table.factors:
            if key.partition(".")[0] in _OF_THE_BATCH:
                valid = "keys of game_config, players, defaults, staff"
                raise ScenarioError("is the same in all games of a batch", key=f"factors.{key}", valid=valid)
        design = factorial(table)
    except ScenarioError as error:
        raise error.placed(where=where) from None
    return DesignFile(design, None if table.config is None else folder / table.config, where, folder)


def _flat(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return values by dotted key, since TOML reads `a.b = [1, 2]` as a table in a table."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{above}.{dotted([key])}" if above else key
        flat |= _flat(value, name) if isinstance(value, Mapping) else {name: value}
    return flat


def cells(
    design: DesignFile, base: Source, cast: Sequence[str | None] = (None,), **loading: Any
) -> tuple[list[Scenario], dict[str, list[str]]]:
    """Return the scenarios of all cells and, by factor, the players that it belongs to.

    Each cell has one scenario for each model of the cast, cell by cell. Raises `ScenarioError` with the factor and the
    level if the scenario refuses a level.
    """
    first = load(base, **loading, model=cast[0])
    players = [plan.id for plan in first.players]
    found: list[Scenario] = []
    known: dict[str, int] = {}
    for cell in range(len(design.factorial.cells)):
        levels = design.factorial.levels(cell)
        try:
            casts = [load(base, **loading, model=model, levels=design.placed(levels, base)) for model in cast]
        except ScenarioError as error:
            raise _level_problem(design, levels, error, base, loading) from None
        at = ", ".join(f"{key} = {level_named(level)}" for key, level in levels.items())
        if [plan.id for plan in casts[0].players] != players:
            raise ScenarioError(f"{at}: seats other players than the base scenario", key="factors", where=design.where)
        same = json.dumps(casts[0].game_settings(), sort_keys=True)
        if same in known:
            other = design.factorial.levels(known[same])
            key = next(key for key in levels if levels[key] != other[key])
            two = f"{level_named(other[key])} and {level_named(levels[key])}"
            raise ScenarioError(f"{two} make the same scenario", key=f"factors.{key}", where=design.where)
        known[same] = cell
        found += casts
    _check_players(design, [*labels(found[: len(cast)]), EVERYONE])
    factors = design.factorial.table.factors.items()
    return found, {key: _carriers(design, key, levels, base, loading) for key, levels in factors}


def labels(casts: Sequence[Scenario]) -> list[str]:
    """Return the labels whose effects can be asked for: the players, and the models that take their seats in turn."""
    models = (each.players[0].model for each in casts) if len(casts) > 1 else ()
    return [*(plan.id for plan in casts[0].players), *models]


def _level_problem(
    design: DesignFile, levels: Mapping[str, Any], error: ScenarioError, base: Source, loading: Mapping[str, Any]
) -> ScenarioError:
    """Return the error with the one factor and level that cause it, or with all levels of the cell."""
    key, said = "factors", ", ".join(f"{key} = {level_named(level)}" for key, level in levels.items())
    for name, level in levels.items():
        try:
            load(base, **loading, levels=design.placed({name: level}, base))
        except ScenarioError as own:
            error, key, said = own, f"factors.{name}", level_named(level)
            break
    setting = error.key.removeprefix("--set ")
    problem = error.problem if f"factors.{setting}" == key or not setting else f"{setting}: {error.problem}"
    return ScenarioError(f"{said}: {problem}", key=key, where=design.where, valid=error.valid)


def _check_players(design: DesignFile, known: Sequence[str]) -> None:
    for number, name in enumerate(design.factorial.table.players):
        if name not in known:
            hint, valid = nearest(name, known)
            raise ScenarioError(
                f"{name} plays in no game{hint}", key=f"players.{number}", where=design.where, valid=valid
            )


def _carriers(
    design: DesignFile, key: str, levels: Sequence[Any], base: Source, loading: Mapping[str, Any]
) -> list[str]:
    """Return the players that a factor `players.N...` belongs to (all members of a population), else none."""
    if not key.startswith("players."):
        return []
    try:
        one, other = (load(base, **loading, levels=design.placed({key: level}, base)).players for level in levels[:2])
    except ScenarioError:  # the level is valid only together with others
        return []
    return [plan.id for plan, same in zip(one, other, strict=True) if plan.record() != same.record()]
