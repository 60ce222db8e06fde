"""Inference: 95% intervals of means per game by the bootstrap, and a permutation test of the labels.

The bootstrap draws whole games, since the ranks within one depend on each other; those of one seed together, since they
share their random numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit
from scipy.stats import monte_carlo_test

__all__ = ["FEWEST", "UPPER", "Array", "Interval", "Whole", "blocks", "interval", "permutation_p", "ratio_intervals"]

Array: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
SEED = 20_261_121
"""The seed of all random numbers here, so that the same games give the same report."""
UPPER = 0.975
"""The quantile at which an interval of 95% ends."""
DRAWS = DEALS = 2_000
FEWEST = 5
"""Fewer independent games give no interval: it would hold nearly all that is possible."""
BLIND = 2
"""Pseudo-games that are added to those of each label."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its interval of 95%; the ends are None where there are too few independent games for one."""

    value: float
    low: float | None = None
    high: float | None = None


def interval(value: float, ends: Array) -> Interval:
    """The estimate with its ends, which are NaN where there are none."""
    low, high = (None if math.isnan(end) else float(end) for end in ends)
    return Interval(float(value), low, high)


def blocks(seeds: Sequence[int]) -> Array:
    """A matrix of blocks by games that adds up the games of one seed when multiplied with sums by games.

    Each game is a block where there are fewer than `FEWEST` seeds; the results then hold for these seeds alone.
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

    Each label's games get `BLIND` pseudo-games, as if of an unknown label: their mean is that of all labels (or
    `centre`: 0.5 of a rate, so that one is won and one lost), one is above it and one below by the standard deviation
    of all labels' games. All are drawn again; the percentiles are moved outwards as far as Student's interval is wider
    than the normal's without the correction of the variance (T. Hesterberg, What teachers should know about the
    bootstrap, 2015, section 5.3), cut off at what is possible (`within`) and stretched to hold the estimate. Without
    the pseudo-games a label with no win in five games would have a rate of 0 (0 to 0); A. Agresti and B. Coull add such
    games to rates (Approximate is better than "exact", 1998). NaN for a label in fewer than `FEWEST` games, and where
    all games have the same result.
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
    size = len(sums)  # each row of weights is how often each game is in one drawing
    weights = np.random.default_rng(SEED).multinomial(size, np.full(size, 1 / size), size=draws).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):  # a label may be in none of the games of a drawing
        drawn = (weights @ sums) / (weights @ counts)
    for column in np.flatnonzero(games >= FEWEST):
        number = int(games[column]) + BLIND
        tail = ndtr(-stdtrit(number - 1, UPPER) * (number / (number - 1)) ** 0.5)
        low, high = np.clip(np.nanquantile(drawn[:, column], [tail, 1 - tail]), *within)
        ratio = sums[:-BLIND, column].sum() / totals[column]
        found[column] = min(low, ratio), max(high, ratio)
    return found


def permutation_p(ranks: Array, labels: Whole, count: int, seed: int = SEED, deals: int = DEALS) -> float:
    """The p-value of the hypothesis that labels mean nothing: they are dealt anew within games, `deals` times.

    `ranks` and `labels` are games by players; where a game has fewer, its row ends in NaN and -1. The statistic is the
    sum of the squared distances of the labels' mean ranks from the mean of all, weighed with the labels' entries.
    """
    generator = np.random.default_rng(seed)
    there = labels >= 0
    centred = np.where(there, ranks - np.nanmean(np.where(there, ranks, np.nan), axis=1, keepdims=True), 0.0)
    members = [(labels == label).ravel() for label in range(count)]
    entries = np.array([own.sum() for own in members])

    def deal(size: tuple[int, int]) -> Array:
        keys = np.where(there, generator.random((size[0], *ranks.shape)), 2.0)  # an empty place stays where it is
        return np.take_along_axis(centred[None], keys.argsort(axis=2), axis=2).reshape(size)

    def distance(dealt: Array, axis: int) -> Array:
        sums = np.stack([dealt[..., own].sum(axis=axis) for own in members])
        found: Array = np.tensordot(1 / np.maximum(1.0, entries), sums**2, axes=1)
        return found

    batch = max(1, 2_000_000 // max(1, ranks.size))
    test = monte_carlo_test(
        centred.ravel(), deal, distance, vectorized=True, n_resamples=deals, batch=batch, alternative="greater"
    )
    return float(test.pvalue)
