"""intervals: 95% intervals of means per game, by drawing games again (bootstrap); and the quantiles that they need.

Games are drawn whole, since the ranks within one depend on each other; those of one seed together, since they share
their luck.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEWEST", "SEED", "UPPER", "Array", "Interval", "Whole", "blocks", "interval", "ratio_intervals", "student"]

Array: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
SEED = 20_261_121
"""Draws and deals begin with it, so that the same games give the same report."""
UPPER = 0.975
"""Where an interval of 95% ends, as a part of what is below."""
DRAWS = 2_000
FEWEST = 5
"""Of fewer independent games nothing is said: an interval would hold nearly all that is possible."""
BLIND = 2
"""Games that are added to those of each label."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its interval of 95%; the ends are None where there are too few independent games for one."""

    value: float
    low: float | None = None
    high: float | None = None


def interval(value: float, ends: Array) -> Interval:
    """The estimate with its ends, NaN where nothing is known of them."""
    low, high = (None if math.isnan(end) else float(end) for end in ends)
    return Interval(float(value), low, high)


def student(probability: float, freedom: int) -> float:
    """A quantile of Student's t by its expansion in the normal's (Abramowitz and Stegun 26.7.5); good from 3 on."""
    z, n = NormalDist().inv_cdf(probability), float(max(1, freedom))
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )


def blocks(seeds: Sequence[int]) -> Array:
    """What puts games of one seed together: blocks by games, to be multiplied with sums by games.

    Each game by itself where there are fewer than `FEWEST` seeds: then what is said is said of these seeds alone.
    """
    known = {seed: number for number, seed in enumerate(dict.fromkeys(seeds))}
    if len(known) < FEWEST:
        return np.eye(len(seeds))
    return np.eye(len(known))[:, [known[seed] for seed in seeds]]


def ratio_intervals(
    sums: Array,
    counts: Array,
    *,
    centre: float | None = None,
    within: tuple[float, float] = (-math.inf, math.inf),
    draws: int = DRAWS,
) -> Array:
    """(low, high) for each column of games by labels: of the ratio of the sums to the counts over all games.

    To each label's games `BLIND` are added that say what a label's games say if nobody knows which it is: their mean is
    that of all labels (or `centre`: 0.5 of a rate, so that one is won and one lost), one above it and one below by the
    standard deviation of all labels' games. All are drawn again; the percentiles are moved outwards as far as Student's
    interval is wider than the normal's without the correction of the variance (T. Hesterberg, What teachers should know
    about the bootstrap, 2015, section 5.3), cut off at what is possible (`within`) and stretched to hold the estimate.
    Without the blind games who won none of five would have a rate of 0 (0 to 0); to add such is the way of A. Agresti
    and B. Coull with rates (Approximate is better than "exact", 1998). NaN for a label that is in fewer than `FEWEST`
    games, and where all games say the same.
    """
    games, totals = (counts > 0).sum(axis=0), counts.sum(axis=0)
    found = np.full((sums.shape[1], 2), np.nan)
    mean = (sums.sum() / totals.sum() if totals.any() else 0.0) if centre is None else centre
    squares = float((counts**2).sum())
    spread = (float(((sums - mean * counts) ** 2).sum()) / squares) ** 0.5 if squares else 0.0
    if spread == 0:
        return found
    usual = totals / np.maximum(games, 1)  # entries of the label in a game that it is in
    sums = np.vstack([sums, usual * (mean + spread), usual * (mean - spread)])
    counts = np.vstack([counts, usual, usual])
    weights = _drawings(len(sums), draws)
    with np.errstate(invalid="ignore", divide="ignore"):  # a label may be in none of the games of a drawing
        drawn = (weights @ sums) / (weights @ counts)
    for column in np.flatnonzero(games >= FEWEST):
        number = int(games[column]) + BLIND
        reach = student(UPPER, number - 1) * (number / (number - 1)) ** 0.5
        tail = NormalDist().cdf(-reach)
        low, high = np.clip(np.nanquantile(drawn[:, column], [tail, 1 - tail]), *within)
        ratio = sums[:-BLIND, column].sum() / totals[column]
        found[column] = min(low, ratio), max(high, ratio)
    return found


def _drawings(games: int, draws: int) -> Array:
    """How often each game is in each drawing: `draws` rows of `games` counts."""
    generator = np.random.default_rng(SEED)
    return generator.multinomial(games, np.full(games, 1 / games), size=draws).astype(np.float64)
