"""Factorial designs: which levels of which factors are played together, and what that can and cannot tell apart.

A fraction is regular, of factors with two levels: those of some factors are sums modulo 2 of the others' (G. E. P. Box
and J. S. Hunter, The 2^(k-p) fractional factorial designs, 1961). Of all such fractions of a size it is the one of
minimum aberration (A. Fries and W. G. Hunter, 1980) among those that keep main effects and the asked-for interactions
apart. The file is read by `load`; effects are estimated by `analysis.design_effects`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations, product
from math import prod
from operator import itemgetter
from typing import Annotated, TypeAlias

from pydantic import Field, JsonValue

from agentsim.engine.codec import ClosedTable
from agentsim.errors import ScenarioError, UsageError
from agentsim.scenario.validation import nearest, one_line

EVERYONE = "all players"
"""Stands for the mean of all players of a game."""
MOST_CELLS, MOST_IN_FRACTION = 256, 9
Word: TypeAlias = frozenset[int]
"""Places of factors whose levels add up to an even number in every cell of a fraction."""


class Until(ClosedTable):
    """What ends a batch before its last game: the intervals of a planned effect are narrower than `width`.

    `factor` is a factor or two of them with a comma between, for their interaction; None stands for all.
    Without a `measure` it is win, or the first score where no player is ranked.
    """

    width: Annotated[float, Field(gt=0)]
    measure: str | None = None
    factor: str | None = None
    player: str | None = None


class DesignTable(ClosedTable):
    """A design file. `factors` are levels by the dotted key of a scenario; the first level is the reference."""

    config: str | None = Field(default=None, description="The base scenario's file, relative to this one")
    factors: dict[str, Annotated[tuple[JsonValue, ...], Field(min_length=2)]] = Field(min_length=1)
    fraction: str | None = Field(default=None, pattern=r"^1/[1-9][0-9]{0,3}$")
    interactions: tuple[tuple[str, str], ...] = Field(default=(), description="Pairs of factors")
    replicates: int | None = Field(default=None, ge=1, description="Blocks: how often the whole design is played")
    measures: tuple[str, ...] = Field(default=(), description="The planned measures; all if absent")
    players: tuple[str, ...] = Field(
        default=(), description="Whose measures; absent: players that a factor concerns, or all"
    )


@dataclass(frozen=True)
class Contrast:
    """A main effect or an interaction as a sum over cells: `weights` by cell, which add up to 0.

    A level less the first one; of an interaction, that difference at a level of the second factor less the same at its
    first level.
    """

    name: str
    factors: tuple[str, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Factorial:
    """A design: `cells` are numbers of levels by factor; `words` are what a fraction is defined by."""

    table: DesignTable
    cells: tuple[tuple[int, ...], ...]
    words: tuple[Word, ...] = ()

    @cached_property
    def factors(self) -> tuple[str, ...]:
        return tuple(self.table.factors)

    @property
    def promised(self) -> DesignTable:
        """What a batch keeps of its design's file from its first game on; it may grow."""
        return self.table.model_copy(update={"config": None, "replicates": None})

    def effect(self, factor: str | None) -> tuple[str, ...] | None:
        """The factors of the effect `a`, or of the interaction `a,b`; `UsageError` for one that is not asked for."""
        if factor is None:
            return None
        names = [tuple(self.factors[place] for place in effect) for effect in self.asked]
        wanted = {part.strip() for part in factor.split(",")}
        for name in names:
            if {*name} == wanted:
                return name
        hint, valid = nearest(factor, [",".join(name) for name in names])
        asked = f" (valid: {valid})" if valid else hint
        raise UsageError(f"--factor {factor}: the design asks for no such effect{asked}")

    def levels(self, cell: int) -> dict[str, JsonValue]:
        """The level of each factor in a cell."""
        return {key: self.table.factors[key][at] for key, at in zip(self.factors, self.cells[cell], strict=True)}

    @property
    def resolution(self) -> int | None:
        """How many factors the shortest word has; None of a full design, in which nothing is aliased."""
        return min(map(len, self.words), default=None)

    @cached_property
    def asked(self) -> tuple[tuple[int, ...], ...]:
        """The effects to be estimated, as places of factors."""
        pairs = (tuple(self.factors.index(each) for each in pair) for pair in self.table.interactions)
        return (*((place,) for place in range(len(self.factors))), *pairs)

    def aliases(self) -> dict[str, list[str]]:
        """By effect, the main effects and interactions of two factors that it cannot be told from."""
        found = {}
        for effect in self.asked:
            same = sorted((len(other), sorted(other)) for word in self.words if len(other := word ^ {*effect}) < 3)
            if same:
                found[self._named(effect)] = [self._named(other) for _, other in same]
        return found

    @property
    def in_words(self) -> str:
        """The size of the design, and what a fraction gives up for it."""
        whole = prod(map(len, self.table.factors.values()))
        if not self.words:
            return f"full factorial: {whole} cells"
        said = f"{self.table.fraction} of {whole} cells: {len(self.cells)}, resolution {self.resolution}"
        mixed = "; ".join(f"{effect} with {', '.join(same)}" for effect, same in self.aliases().items())
        return f"{said}; aliased: {mixed}" if mixed else said

    def contrasts(self) -> list[Contrast]:
        """Main effects and the asked-for interactions, each level against the first."""
        return [
            self._contrast(effect, levels)
            for effect in self.asked
            for levels in product(*(range(1, len(self.table.factors[self.factors[place]])) for place in effect))
        ]

    def _contrast(self, effect: Sequence[int], levels: Sequence[int]) -> Contrast:
        weights = []
        share = prod(len(self.table.factors[self.factors[place]]) for place in effect) / len(self.cells)
        for cell in self.cells:
            signs = (
                1 if cell[place] == level else -1 if cell[place] == 0 else 0
                for place, level in zip(effect, levels, strict=True)
            )
            weights.append(prod(signs) * share)
        said = []
        for place, level in zip(effect, levels, strict=True):
            values = self.table.factors[self.factors[place]]
            said.append(f"{self.factors[place]}: {level_named(values[level])} less {level_named(values[0])}")
        return Contrast(" x ".join(said), tuple(self.factors[place] for place in effect), tuple(weights))

    def _named(self, effect: Sequence[int]) -> str:
        return " x ".join(self.factors[place] for place in effect)


class DesignRecord(ClosedTable):
    """The design in a batch's manifest: the table, and the levels of each cell, which games refer to by number.

    `carriers` are the players whom a factor is of; none of one that is of the whole game.
    """

    table: DesignTable
    cells: tuple[dict[str, JsonValue], ...]
    carriers: dict[str, tuple[str, ...]]
    until: Until | None = None

    @classmethod
    def of(cls, design: Factorial, carriers: Mapping[str, Sequence[str]], until: Until | None) -> DesignRecord:
        levels = tuple(map(design.levels, range(len(design.cells))))
        named = {key: tuple(own) for key, own in carriers.items()}
        return cls(table=design.promised, cells=levels, carriers=named, until=until)

    def factorial(self) -> Factorial:
        """The design; `ValueError` where the cells are not its own."""
        found = factorial(self.table)
        if [*map(found.levels, range(len(found.cells)))] != [*self.cells]:
            raise ValueError("its cells are not those of its design")
        return found


def level_named(level: JsonValue) -> str:
    """A level in a few words."""
    return one_line(level if isinstance(level, str) else json.dumps(level, ensure_ascii=False), 40)


def factorial(table: DesignTable) -> Factorial:
    """The design of a table; `ScenarioError` where it cannot be, or would not tell apart what is asked for."""
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
    counts = [len(levels) for levels in table.factors.values()]
    parts = 1 if table.fraction is None else int(table.fraction[2:])
    if prod(counts) > MOST_CELLS * parts:
        raise ScenarioError(f"make {prod(counts) // parts:,} cells, and {MOST_CELLS} are the most", key="factors")
    if parts == 1:
        return Factorial(table, tuple(product(*map(range, counts))))
    return _fraction(table, counts, parts)


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
            cells = ((*each, *(sum(each[place] for place in own) % 2 for own in chosen)) for each in whole)
            return Factorial(table, tuple(cells), words)
    raise ScenarioError(
        f"no fraction of {table.fraction} tells all main effects and the asked-for interactions apart; ask for a "
        "larger one, or for none",
        key="fraction",
    )
