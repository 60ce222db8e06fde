"""Agreement of coders, and rates corrected for the errors of judges.

Krippendorff's alpha is computed by the package `krippendorff`. Intervals are those of `intervals.jackknife`, with games
as clusters; of fewer than `FEWEST` games, units are, and the results hold for these games alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

import krippendorff
import numpy as np
from numpy.typing import NDArray

from agentsim.analysis.intervals import FEWEST, Array, Interval, jackknife
from agentsim.lazy import dataclass

RELIABLE: Final = 0.667
"""The least alpha at which a number is shown as it is (K. Krippendorff, Content Analysis, 2004, chapter 11.4)."""
MOST_CLUSTERS: Final = 200
"""The most clusters that alpha is computed without: more units of few games are put together."""
LEAST_CODED: Final = 5
"""The least units with and without a code that a person must have coded to correct a rate of two levels."""
Levels: TypeAlias = NDArray[np.int64]
"""The levels that one coder gave to units, from 0, or -1 for a unit without one."""


def clusters_of(games: Sequence[object]) -> Levels:
    """Return the number of each unit's cluster, from 0."""
    numbers = {game: number for number, game in enumerate(dict.fromkeys(games))}
    if len(numbers) < FEWEST:
        return np.arange(len(games), dtype=np.int64)
    return np.array([numbers[game] for game in games], dtype=np.int64)


def value_counts(coders: Sequence[Levels], levels: int) -> Array:
    """Return how many coders gave each unit (row) each level (column)."""
    counts = np.zeros((len(coders[0]), levels))
    for given in coders:
        known = given >= 0
        counts[np.flatnonzero(known), given[known]] += 1
    return counts


def alpha_of(counts: Array, scale: Literal["nominal", "ordinal"] = "nominal") -> float | None:
    """Return Krippendorff's alpha, or None if no unit has two coders, or if all have one and the same level."""
    pairable = counts[counts.sum(axis=1) >= 2]
    if len(pairable) == 0 or np.count_nonzero(pairable.sum(axis=0)) < 2:
        return None
    return float(krippendorff.alpha(value_counts=pairable, level_of_measurement=scale))


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of some coders about one code. `units` are those that two or more of them coded.

    `alpha` is None if it is not defined: all of them gave one and the same level. `same` is the share of pairs of
    coders that agree about a unit.
    """

    units: int
    alpha: Interval | None
    same: float | None

    @property
    def doubt(self) -> str:
        """Why numbers of this code must not be relied on, or ""."""
        if self.units == 0:
            return ""
        if self.alpha is None:
            return "alpha is undefined: all gave one level"
        return f"alpha {self.alpha.value:.2f} is below {RELIABLE:.2f}" if self.alpha.value < RELIABLE else ""


def agreement(
    coders: Sequence[Levels], levels: int, games: Sequence[object], scale: Literal["nominal", "ordinal"] = "nominal"
) -> Agreement:
    """Return the agreement of coders, each of whom gave levels to the same units, which are of these games."""
    counts = value_counts(coders, levels)
    many = counts.sum(axis=1)
    pairable = many >= 2
    if not pairable.any():
        return Agreement(0, None, None)
    counts, many = counts[pairable], many[pairable]
    same = float((counts * (counts - 1)).sum() / (many * (many - 1)).sum())
    value = alpha_of(counts, scale)
    if value is None:
        return Agreement(len(counts), None, same)
    of = clusters_of([game for game, there in zip(games, pairable, strict=True) if there]) % MOST_CLUSTERS
    names = np.unique(of)
    without = [alpha_of(counts[of != name], scale) for name in names]
    moved = np.array([[0.0 if each is None else each - value] for each in without])
    sizes = np.array([[many[of == name].sum()] for name in names], dtype=np.float64)
    low, high = jackknife(np.array([value]), moved, sizes, draws=0)[1:3, 0]
    ends = (None, None) if np.isnan(low) else (max(-1.0, float(low)), min(1.0, float(high)))
    return Agreement(len(counts), Interval(value, *ends), same)


def confusion(one: Levels, other: Levels, levels: int) -> NDArray[np.int64]:
    """Return how many units have each level of one coder (row) and of the other (column)."""
    both = (one >= 0) & (other >= 0)
    table = np.zeros((levels, levels), dtype=np.int64)
    np.add.at(table, (one[both], other[both]), 1)
    return table


def rogan_gladen(judged: Array, person: Array, games: Sequence[object]) -> Interval | None:
    """Return the share of units that truly have a code, from a judge with known errors.

    `judged` is 1 or 0 for each unit, `person` is 1 or 0 for a random sample of them and NaN for the others. It is
    (share judged + specificity - 1) / (sensitivity + specificity - 1) (W. J. Rogan and B. Gladen, Estimating prevalence
    from the results of a screening test, 1978), both estimated from the sample. Returns None if the sample has fewer
    than `LEAST_CODED` units of a kind, or if the judge does no better than chance.
    """
    coded = ~np.isnan(person)
    yes, no = coded & (person == 1), coded & (person == 0)
    if min(yes.sum(), no.sum()) < LEAST_CODED:
        return None
    columns = (np.ones(len(judged)), judged, yes, yes * judged, no, no * judged)

    def share(sums: Array) -> Array:
        units, found, true, hits, false, alarms = sums
        alarm = alarms / np.maximum(false, 1)
        better = hits / np.maximum(true, 1) - alarm
        value: Array = (found / np.maximum(units, 1) - alarm) / np.where(better > 0, better, np.nan)
        return value

    return _estimated(columns, share, games, coded)


def prediction_powered(judged: Array, person: Array, games: Sequence[object]) -> Interval | None:
    """Return the mean of what a person would say of all units, from a judge of all and a person's sample.

    Arguments are as of `rogan_gladen`, with any numbers. It is the person's mean in the sample, plus `tuned` times the
    difference between the judge's mean elsewhere and in the sample (A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I.
    Jordan and T. Zrnic, Prediction-powered inference, 2023; the tuning: A. N. Angelopoulos, J. C. Duchi and T. Zrnic,
    PPI++, 2023). Returns None if the sample has fewer than `LEAST_CODED` units.
    """
    coded = ~np.isnan(person)
    many, rest = int(coded.sum()), int((~coded).sum())
    if many < LEAST_CODED:
        return None
    said, guess = np.where(coded, person, 0.0), judged
    spread = float(np.var(guess[coded]))
    shared = float(np.mean((person[coded] - person[coded].mean()) * (guess[coded] - guess[coded].mean())))
    tuned = shared / spread / (1 + many / rest) if spread and rest else 0.0
    columns = (coded, said, coded * guess, ~coded, ~coded * guess)

    def mean(sums: Array) -> Array:
        units, true, guessed, others, elsewhere = sums
        value: Array = true / np.maximum(units, 1) + tuned * (
            np.where(others > 0, elsewhere / np.maximum(others, 1), 0.0) - guessed / np.maximum(units, 1)
        )
        return value

    return _estimated(columns, mean, games, coded)


def plain_share(judged: Array, games: Sequence[object]) -> Interval:
    """Return the share of units that a judge gave a code, with an interval that ignores the judge's errors."""
    found = _estimated(
        (np.ones(len(judged)), judged), lambda sums: sums[1] / np.maximum(sums[0], 1), games, np.ones(len(judged))
    )
    assert found is not None, "a share of some units"
    return found


def _estimated(
    columns: Sequence[Array | NDArray[np.bool_]],
    estimate: Callable[[Array], Array],
    games: Sequence[object],
    weights: Array | NDArray[np.bool_],
) -> Interval | None:
    """Return a function of sums over units, with its interval when clusters are left out; between 0 and 1."""
    of = clusters_of(games)
    sums = np.stack([np.bincount(of, weights=np.asarray(column, dtype=np.float64)) for column in columns])
    whole = sums.sum(axis=1)
    value = float(estimate(whole[:, None])[0])
    if np.isnan(value):
        return None
    without = estimate(whole[:, None] - sums)
    sizes: Array = np.bincount(of, weights=np.asarray(weights, dtype=np.float64))[:, None].astype(np.float64)
    moved: Array = (without - value)[:, None]
    inside = min(1.0, max(0.0, value))
    if np.isnan(moved).any():  # one game alone decides whether the judge is better than chance
        return Interval(inside)
    low, high = jackknife(np.array([value]), moved, sizes, draws=0)[1:3, 0]
    if np.isnan(low):
        return Interval(inside)
    return Interval(inside, min(inside, max(0.0, float(low))), max(inside, min(1.0, float(high))))
