"""Conditions: groups of games whose scenarios differ only in seed, name and seating, and differences between groups.

Means are of entries, differences are of means. Their intervals take games of one seed together, also those of two
conditions that were played with the same seeds (docs/inference.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agentsim.analysis.finished_games import RANK, WIN, Entrant, GameRecord
from agentsim.analysis.intervals import (
    FEWEST,
    Array,
    Interval,
    clusters,
    effective_clusters,
    interval,
    jackknife,
    leave_one_out,
    ratio_intervals,
)
from agentsim.analysis.standings import relative
from agentsim.lazy import dataclass
from agentsim.records.folders import Levels, levels, named

Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Condition:
    """The games under one condition; its name has the levels of the settings that vary (`""` if none does)."""

    name: str
    levels: Levels
    games: tuple[GameRecord, ...]

    @property
    def ranked(self) -> tuple[GameRecord, ...]:
        """Return the games that rank players."""
        return tuple(game for game in self.games if game.ranked)


@dataclass(frozen=True, slots=True)
class Measured:
    """The mean of a measure over the entries of one label (None: of all) under one condition."""

    measure: str
    label: str | None
    condition: str
    games: int
    mean: Interval


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of a measure under one condition less that under the condition `less`, by label (None: of all).

    `simultaneous` is the interval that holds for all differences between these two conditions at once.
    """

    measure: str
    label: str | None
    condition: str
    less: str
    games: tuple[int, int]
    difference: Interval
    simultaneous: Interval


def by_condition(
    games: Sequence[GameRecord], *, models: bool, pool: bool = False, cells: Mapping[str, Levels] | None = None
) -> list[Condition]:
    """Group the games by condition, in the order of the levels; with `pool` all of them are one.

    `cells` are the levels of a design's games by name, in the design's order; without them, levels are what differs
    between the scenarios.
    With `models` the models are a setting, since players are compared. If games of several folders are alike, the
    folder is a level. A game of bots that repeats another under its condition counts once.
    """
    found: list[Levels] = [{} for _ in games]
    if not pool:
        found = levels([game.scenario for game in games], models=models)
        if cells and all(game.name in cells for game in games):
            found = [cells[game.name] for game in games]
    in_order = list((cells or {}).values())
    folders = list(dict.fromkeys(game.folder for game in games))
    told = {named(own): set[str]() for own in found}
    for game, own in zip(games, found, strict=True):
        told[named(own)].add(game.folder)
    if not pool and any(len(each) > 1 for each in told.values()):
        found = [{**own, "folder": game.folder} for game, own in zip(games, found, strict=True)]
    groups: dict[str, tuple[Levels, dict[str, GameRecord]]] = {}
    for game, own in zip(games, found, strict=True):
        _, here = groups.setdefault(named(own, found), (own, {}))
        here.setdefault(game.certain or f"{game.folder}/{game.name}", game)

    def order(own: Levels) -> list[tuple[int, float, str]]:
        at = {key: folders.index(str(level)) if key == "folder" else level for key, level in own.items()}
        return [(0, level, "") if isinstance(level, int | float) else (1, 0, str(level)) for level in at.values()]

    conditions = [Condition(name, own, tuple(here.values())) for name, (own, here) in groups.items()]
    if cells and all(each.levels in in_order for each in conditions):
        return sorted(conditions, key=lambda each: in_order.index(each.levels))
    return sorted(conditions, key=lambda each: order(each.levels))


def same_sizes(conditions: Sequence[Condition]) -> list[Condition]:
    """Return the conditions, with relative ranks if tables differ in size."""
    if len({len(game.entrants) for each in conditions for game in each.games}) < 2:
        return list(conditions)
    return [Condition(each.name, each.levels, tuple(map(relative, each.games))) for each in conditions]


class _Columns:
    """Sums of measures and counts of entries, by games and columns of (measure, label)."""

    def __init__(self, games: Sequence[GameRecord]) -> None:
        sums: dict[tuple[str, str | None], dict[int, list[float]]] = {}
        for row, game in enumerate(games):
            for entrant, win in zip(game.entrants, game.wins, strict=True):
                for measure, label, value in _measures(entrant, win if game.ranked else None):
                    sums.setdefault((measure, label), {}).setdefault(row, []).append(value)
        measures = list(dict.fromkeys(measure for measure, _ in sums))
        self.keys = sorted(sums, key=lambda key: (measures.index(key[0]), key[1] is not None, key[1] or ""))
        self.sums, self.counts = (np.zeros((len(games), len(self.keys))) for _ in range(2))
        for column, key in enumerate(self.keys):
            for row, values in sums[key].items():
                self.sums[row, column], self.counts[row, column] = sum(values), len(values)


def _measures(entrant: Entrant, win: float | None) -> Iterator[tuple[str, str | None, float]]:
    if win is not None:
        yield RANK, entrant.label, entrant.rank
        yield WIN, entrant.label, win
    for measure, value in entrant.scores.items():
        yield measure, entrant.label, value
        yield measure, None, value  # ranks and wins of all players are the same under every condition


def measured(conditions: Sequence[Condition]) -> list[Measured]:
    """Return the mean of every measure by label and condition, with `intervals.ratio_intervals`."""
    found = []
    for each in conditions:
        columns, membership = _Columns(each.games), clusters([game.seed for game in each.games])
        for index, (measure, label) in enumerate(columns.keys):
            sums, counts = columns.sums[:, [index]], columns.counts[:, [index]]
            centre, within = (0.5, (0.0, 1.0)) if measure == WIN else (None, (-np.inf, np.inf))
            (ends,) = ratio_intervals(membership @ sums, membership @ counts, centre=centre, within=within)
            mean = interval(float(sums.sum() / counts.sum()), ends)
            found.append(Measured(measure, label, each.name, int((counts > 0).sum()), mean))
    keys = list(dict.fromkeys((each.measure, each.label) for each in found))
    shown = [each for each in found if each.label is not None or each.mean.low is not None]  # else all games are alike
    return sorted(shown, key=lambda each: keys.index((each.measure, each.label)))


def differences(conditions: Sequence[Condition]) -> list[Difference]:
    """Return each condition less the first, for each measure of each label that both have."""
    first, found = conditions[0], []
    for other in conditions[1:]:
        games = (*other.games, *first.games)
        columns = _Columns(games)
        arm = np.arange(len(games)) < len(other.games)
        there = [(columns.counts[side] > 0).sum(axis=0) for side in (arm, ~arm)]
        both = np.flatnonzero((there[0] > 0) & (there[1] > 0))
        rates = np.array([columns.keys[index][0] == WIN for index in both], dtype=bool)
        seeds = [game.seed for game in games]
        ends = difference_intervals(columns.sums[:, both], columns.counts[:, both], arm, seeds, rates)
        for (mean, *limits), index in zip(ends.T, both, strict=True):
            measure, label = columns.keys[index]
            alone, simultaneous = (interval(mean, np.array(each)) for each in (limits[:2], limits[2:]))
            many = int(there[0][index]), int(there[1][index])
            if label is None and alone == Interval(0.0):
                continue  # the rules make it the same in all games
            found.append(Difference(measure, label, other.name, first.name, many, alone, simultaneous))
    return found


def difference_intervals(sums: Array, counts: Array, arm: Flags, seeds: Sequence[int], rates: Flags) -> Array:
    """Return `intervals.jackknife` of the differences of means, arm less the others, by column.

    A seed is a cluster, with its games on both sides. `rates` get half a won and half a lost game on each side (half of
    what A. Agresti and B. Caffo add to proportions of independent trials, 2000). Ends are NaN of fewer than `FEWEST`
    clusters on a side, also if games are so uneven among them that fewer even ones would tell as much; and of fewer
    seeds than that which are not the same on both sides.
    """
    membership, names = clusters(seeds), np.array(seeds)
    # few seeds count game by game, which says nothing of a difference if each condition has seeds of its own
    sound = np.full(len(rates), len({*seeds}) >= FEWEST or {*names[arm]} == {*names[~arm]})
    plain, value, halves = np.zeros(len(rates)), np.zeros(len(rates)), np.zeros((4, len(rates)))
    moved, sizes = np.zeros((2, len(membership) + 4, len(rates)))
    for number, (side, sign) in enumerate(((arm, 1.0), (~arm, -1.0))):
        there = membership[:, side] @ counts[side]
        sound &= effective_clusters(there) >= FEWEST - 1e-9
        added = halves.copy()
        added[2 * number : 2 * number + 2] = np.where(
            rates, counts.sum(axis=0) / np.maximum(1, (counts > 0).sum(axis=0)) / 2, 0.0
        )
        won = np.array([1, 0, 1, 0])[:, None] * added
        here = np.vstack([there, added])
        mean, pulls = leave_one_out(np.vstack([membership[:, side] @ sums[side], won]), here)
        plain += sign * sums[side].sum(axis=0) / counts[side].sum(axis=0)
        value, moved, sizes = value + sign * mean, moved + sign * pulls, sizes + here / here.sum(axis=0) ** 2
    found = jackknife(value, moved, sizes)
    found[0] = plain
    found[1:, ~sound] = np.nan
    found[1::2], found[2::2] = np.minimum(found[1::2], plain), np.maximum(found[2::2], plain)
    found[:, rates] = np.clip(found[:, rates], -1, 1)
    return found
