"""Confidence intervals by the cluster jackknife, and tests by flipping the signs of clusters.

A cluster is what is independent of all others: the games of one seed, or a pair of branches. Leaving a cluster out
moves an estimate; the squares of these moves give its variance (CV3 of J. G. MacKinnon, M. O. Nielsen and M. D. Webb,
Fast and reliable jackknife and bootstrap methods for cluster-robust inference, 2023). Of the mean of paired differences
this is exactly Student's interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from agentsim.lazy import dataclass

Array: TypeAlias = NDArray[np.float64]
EstimateRow: TypeAlias = tuple[float, float | None, float | None, float | None, float | None]
"""mean, low, high, low_adj, high_adj."""
SEED = 20_261_121
"""The seed of all random numbers here, so that the same games give the same report."""
UPPER = 0.975
"""The quantile at which an interval of 95% ends."""
DRAWS = 2_000
FEWEST = 5
"""Fewer clusters give no interval: it would hold nearly all that is possible."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its interval of 95%; the ends are None of too few independent games."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def width(self) -> float:
        """Return the width, infinite without ends."""
        return math.inf if self.low is None or self.high is None else self.high - self.low

    def excludes(self, value: float) -> bool:
        """Return whether the interval has ends, and the value is not between them."""
        return self.low is not None and self.high is not None and not self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Effect:
    """The mean of the paired differences in one measure of one player (or model, or listener).

    `low` and `high` end the interval of 95% of this effect alone, `low_adj` and `high_adj` the one that holds for all
    effects together that are asked about. They are None of too few differences, and if all are the same.
    """

    measure: str
    player: str
    mean: float
    low: float | None
    high: float | None
    low_adj: float | None
    high_adj: float | None

    @property
    def pointwise(self) -> Interval:
        """Return the interval of this effect alone."""
        return Interval(self.mean, self.low, self.high)

    @property
    def simultaneous(self) -> Interval:
        """Return the simultaneous interval: 95% that it holds together with those of all other effects."""
        return Interval(self.mean, self.low_adj, self.high_adj)


def interval(value: float, ends: Array) -> Interval:
    """Return the estimate with its (low, high); NaN is None. Digits that depend on the order of sums are cut off."""
    low, high = (None if math.isnan(end) else round(float(end), 12) for end in ends)
    return Interval(float(value), low, high)


def estimate_row(column: Array) -> EstimateRow:
    """Return one column of `jackknife` as numbers; NaN is None."""
    low, high, low_adj, high_adj = (None if math.isnan(end) else float(end) for end in column[1:])
    return float(column[0]), low, high, low_adj, high_adj


def clusters(seeds: Sequence[int]) -> Array:
    """Return a matrix of clusters by games: multiplied with sums by games, it adds up the games of one seed.

    Of fewer than `FEWEST` seeds each game is a cluster; the results then hold for these seeds alone.
    """
    return np.eye(len(seeds)) if len(set(seeds)) < FEWEST else by_seed(seeds)


def by_seed(seeds: Sequence[int]) -> Array:
    """Return the matrix of `clusters`, however few seeds there are."""
    numbers = {seed: number for number, seed in enumerate(dict.fromkeys(seeds))}
    return np.eye(len(numbers))[:, [numbers[seed] for seed in seeds]]


def effective_clusters(sizes: Array) -> Array:
    """Return how many clusters of one size tell as much as these, by column (L. Kish, Survey Sampling, 1965)."""
    found: Array = sizes.sum(axis=0) ** 2 / np.maximum(1e-300, (sizes**2).sum(axis=0))
    return found


def jackknife(values: Array, moved: Array, sizes: Array, *, draws: int = DRAWS) -> Array:
    """Return rows value, low, high, low_adj, high_adj, a column for each estimate.

    `moved` are clusters by estimates: what leaving the cluster out changes. `sizes` are the parts of the variance that
    clusters are expected to have, in any unit: the quantile is Student's, with one degree of freedom less than
    equal clusters would be as many (A. V. Carter, K. T. Schnepel and D. G. Steigerwald, Asymptotic behavior of a t-test
    robust to cluster heterogeneity, 2017). Ends are NaN of fewer than `FEWEST` clusters, and if nothing moves.

    `low_adj` and `high_adj` hold for all columns together: their quantile is that of the greatest |t| if the signs of
    clusters are drawn (the wild bootstrap: E. Mammen, 1993; the greatest |t|: P. Westfall and S. Young, 1993). They
    need one cluster more: five have 16 patterns of signs. Without `draws` they are NaN.
    """
    found = np.full((5, len(values)), np.nan)
    found[0] = values
    counts, squares = (sizes > 0).sum(axis=0), (moved**2).sum(axis=0)
    sound = (counts >= FEWEST) & (squares * counts**2 > 1e-12 * np.maximum(1.0, np.nan_to_num(values) ** 2))
    if not sound.any():
        return found
    moved, squares, even = moved[:, sound], squares[sound], np.maximum(2.0, effective_clusters(sizes[:, sound]))
    errors, alone = np.sqrt(squares * (even - 1) / even), stdtrit(even - 1, UPPER)
    found[1:3, sound] = values[sound] + np.stack([-alone, alone]) * errors
    if draws:
        drawn = _signs(draws, len(moved)) @ moved
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(drawn) * np.sqrt((even - 1) / even / np.maximum(squares - drawn**2 / even, 0.0))
        greatest = np.nan_to_num(t, nan=0.0, posinf=np.inf).max(axis=1)
        together = np.maximum(np.quantile(greatest, 2 * UPPER - 1, method="higher"), alone)
        together = np.where(np.isinf(together) | (counts[sound] <= FEWEST), np.nan, together)
        found[3:, sound] = values[sound] + np.stack([-together, together]) * errors
    return found


def _signs(draws: int, size: int, seed: int = SEED) -> Array:
    return np.random.default_rng(seed).choice((-1.0, 1.0), size=(draws, size))


def paired_intervals(differences: Array, draws: int = DRAWS) -> Array:
    """Return `jackknife` of the means of pairs by effects; a pair without a value has NaN."""
    there = ~np.isnan(differences)
    counts = there.sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean: Array = np.where(there, differences, 0.0).sum(axis=0) / counts
    moved = np.where(there, mean - differences, 0.0) / np.maximum(counts - 1, 1)
    return jackknife(mean, moved, there.astype(np.float64), draws=draws)


def ratio_intervals(
    sums: Array, counts: Array, *, centre: float | None = None, within: tuple[float, float] = (-math.inf, math.inf)
) -> Array:
    """Return (low, high) for each column of clusters by labels: of the ratio of the sums to the counts.

    Two pseudo-games of an unknown label are added to those of each: their mean is that of all labels (or `centre`: 0.5
    of a rate, so that one is won and one lost), one is above it and one below by the standard deviation of all labels'
    games (A. Agresti and B. Coull, Approximate is better than "exact", 1998). Without them a label with no win in five
    games would have a rate of 0 (0 to 0). Ends are cut off at what is possible (`within`) and moved to hold the
    estimate. NaN of a label in fewer than `FEWEST` clusters, and if all games have the same result.
    """
    games, totals = (counts > 0).sum(axis=0), counts.sum(axis=0)
    mean = (sums.sum() / totals.sum() if totals.any() else 0.0) if centre is None else centre
    squares = float((counts**2).sum())
    spread = (float(((sums - mean * counts) ** 2).sum()) / squares) ** 0.5 if squares else 0.0
    if spread == 0:
        return np.full((sums.shape[1], 2), np.nan)
    plain = sums.sum(axis=0) / np.maximum(totals, 1e-300)
    usual = totals / np.maximum(games, 1)  # entries of the label in a game that it is in
    sums = np.vstack([sums, usual * (mean + spread), usual * (mean - spread)])
    counts = np.vstack([counts, usual, usual])
    value, moved = leave_one_out(sums, counts)
    low, high = np.clip(jackknife(value, moved, counts, draws=0)[1:3], *within)
    ends = np.stack([np.minimum(low, plain), np.maximum(high, plain)], axis=1)
    return np.where((games >= FEWEST)[:, None], ends, np.nan)


def leave_one_out(sums: Array, counts: Array) -> tuple[Array, Array]:
    """Return the ratio of the sums to the counts by column, and what leaving out each cluster changes."""
    total = counts.sum(axis=0)
    value: Array = sums.sum(axis=0) / np.maximum(total, 1e-300)
    rest = total - counts
    return value, (value * counts - sums) / np.where(rest > 0, rest, np.inf)


def sign_flip_p(scores: Array, *, seed: int = SEED, draws: int = DRAWS) -> float | None:
    """Return the p-value of the hypothesis that each column of clusters by scores has the expectation 0.

    The greatest |sum| of a column, in its standard deviations, is compared with those after the signs of clusters are
    drawn (J. Hemerik, J. J. Goeman and L. Finos, Robust testing in generalized linear models by sign flipping score
    contributions, 2020). None of `FEWEST` or fewer clusters that have a score.
    """
    scale = np.sqrt((scores**2).sum(axis=0))
    scores = scores[:, scale > 1e-9] / scale[scale > 1e-9]
    scores = scores[np.abs(scores).sum(axis=1) > 1e-9]
    if len(scores) <= FEWEST:
        return None
    drawn = np.abs(_signs(draws, len(scores), seed) @ scores).max(axis=1)
    far = np.abs(scores.sum(axis=0)).max()
    return float(1 + np.count_nonzero(drawn >= far * (1 - 1e-9))) / (1 + draws)
