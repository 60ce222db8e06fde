"""Inference: 95% intervals of means per game by the bootstrap, a permutation test of the labels, and their ratings.

The bootstrap draws whole games, since the ranks within one depend on each other; those of one seed together, since they
share their random numbers. Ratings are Plackett-Luce strengths by maximum likelihood (every place goes to one of the
remaining players in proportion to strength), and OpenSkill ratings, game after game.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from openskill.models import PlackettLuce
from scipy.optimize import minimize
from scipy.special import ndtr, stdtrit

from agentsim.analysis.finished_games import GameRecord

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
PSEUDO = 0.5
"""Games that each label wins and loses against a ghost player, so that a label that never loses has a finite strength
(H. Turner and others, Modelling rankings in R: the PlackettLuce package, 2020)."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its interval of 95%; the ends are None where there are too few independent games for one."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def width(self) -> float:
        """Infinite without ends."""
        return math.inf if self.low is None or self.high is None else self.high - self.low

    def leaves_out(self, value: float) -> bool:
        return self.low is not None and self.high is not None and not self.low <= value <= self.high


def interval(value: float, ends: Array) -> Interval:
    """The estimate with its ends, which are NaN where there are none."""
    low, high = (None if math.isnan(end) else float(end) for end in ends)
    return Interval(float(value), low, high)


def blocks(seeds: Sequence[int]) -> Array:
    """A matrix of blocks by games that adds up the games of one seed when multiplied with sums by games.

    Each game is a block where there are fewer than `FEWEST` seeds; the results then hold for these seeds alone.
    """
    return np.eye(len(seeds)) if len(set(seeds)) < FEWEST else by_seed(seeds)


def by_seed(seeds: Sequence[int]) -> Array:
    """The same, however few seeds there are."""
    known = {seed: number for number, seed in enumerate(dict.fromkeys(seeds))}
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
    order = _order(sums, counts)
    sums, counts = (np.take_along_axis(each, order, axis=0) for each in (sums, counts))
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


def _order(sums: Array, counts: Array) -> Whole:
    """Return an order of each column's rows that depends on what they are, and not on which game is which.

    Columns with the same rows in another order so get the same intervals. Sorted rows are mixed by numbers that come
    of themselves, or the same drawings would err in the same way for all data.
    """
    usual = np.maximum(counts.max(axis=0, initial=0.0), 1e-300)  # a game that is told four times is one game
    plain = np.round(np.stack([counts, sums]) / usual, 9) + 0.0  # no -0.0, which has other bytes
    order = np.lexsort((plain[1], plain[0]), axis=0)
    for column in range(order.shape[1]):
        mark = crc32(plain[:, order[:, column], column].tobytes())
        order[:, column] = np.random.default_rng([SEED, mark]).permutation(order[:, column])
    return order


def permutation_p(ranks: Array, labels: Whole, count: int, seed: int = SEED, deals: int = DEALS) -> float:
    """The p-value of the hypothesis that labels mean nothing: they are dealt anew within games, `deals` times.

    `ranks` and `labels` are games by players; where a game has fewer, its row ends in NaN and -1. The statistic is the
    sum of the squared distances of the labels' mean ranks from the mean of all, weighed with the labels' entries.
    """
    from scipy.stats import monte_carlo_test  # `scipy.stats` takes a second

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


@dataclass(frozen=True)
class Strengths:
    """By label: the natural logarithm of the strength (their mean is 0), its standard error, its share of the sum.

    `freedom` are the degrees of freedom of the errors, infinite where they are the model's own.
    """

    logs: Array
    errors: Array
    shares: Array
    freedom: float = np.inf

    def intervals(self) -> Array:
        """(low, high) of each logarithm."""
        reach = stdtrit(self.freedom, UPPER) * self.errors
        return np.stack([self.logs - reach, self.logs + reach], axis=1)


def stages(ranks: Sequence[float], labels: Sequence[int], size: int) -> tuple[Array, Array]:
    """One game as (how many of each label competed for each place, how many places each label took).

    Players who tie share their places: each place has the competitors of the first, less the part of the tied players
    who would have gone before (B. Efron, The efficiency of Cox's likelihood function for censored data, 1977).
    """
    standing = np.bincount(labels, minlength=size).astype(np.float64)
    rows, wins = [], np.zeros(size)
    for rank in sorted(set(ranks)):
        tied = [label for label, own in zip(labels, ranks, strict=True) if own == rank]
        group = np.bincount(tied, minlength=size).astype(np.float64)
        if standing.sum() == len(tied):  # the last place is not contested
            break
        rows += [standing - group * (gone / len(tied)) for gone in range(len(tied))]
        wins += group
        standing = standing - group
    return np.array(rows).reshape(-1, size), wins


def fit(games: Sequence[tuple[Array, Array]], size: int, together: Array | None = None) -> Strengths:
    """The strengths of `size` labels from games as `stages` gives them.

    Where `together` puts several games into one block (see `inference.blocks`), the errors are those of independent
    blocks, whatever the dependence within (K.-Y. Liang and S. L. Zeger, Longitudinal data analysis using generalized
    linear models, 1986).
    """
    field = np.concatenate([rows for rows, _ in games]) if games else np.zeros((0, size))
    stood, times = np.unique(field, axis=0, return_counts=True)
    ghost = np.hstack([np.eye(size), np.ones((size, 1))])  # the ghost player against each label in turn
    stood = np.concatenate([np.hstack([stood, np.zeros((len(stood), 1))]), ghost])
    times = np.concatenate([times.astype(np.float64), np.full(size, 2 * PSEUDO)])
    wins = np.append(sum((taken for _, taken in games), np.zeros(size)) + PSEUDO, PSEUDO * size)

    def loss(logs: Array) -> tuple[float, Array]:
        """The negative logarithm of the likelihood, and its gradient."""
        strength = np.exp(logs)
        total = stood @ strength
        return times @ np.log(total) - wins @ logs, strength * (stood.T @ (times / total)) - wins

    logs = minimize(loss, np.zeros(size + 1), jac=True, method="BFGS", options={"gtol": 1e-7}).x
    part = _chances(stood, logs)
    information = np.diag(times @ part) - (part * times[:, None]).T @ part
    covariance = np.linalg.pinv(information, hermitian=True)
    freedom = np.inf
    if together is not None and len(together) < len(games):
        taken = np.array([np.append(taken - _chances(rows, logs[:size]).sum(axis=0), 0.0) for rows, taken in games])
        scores = together @ taken
        freedom = len(together) - 1
        covariance = covariance @ (scores.T @ scores) @ covariance * (len(together) / freedom)
    centre = np.eye(size, size + 1) - np.append(np.full(size, 1 / size), 0.0)
    logs = centre @ logs
    errors = np.sqrt(np.maximum(0.0, np.diag(centre @ covariance @ centre.T)))
    shares = np.exp(logs - logs.max())
    return Strengths(logs, errors, shares / shares.sum(), freedom)


def _chances(stood: Array, logs: Array) -> Array:
    """The chance of each label to take each place, among those who compete for it."""
    strength: Array = stood * np.exp(logs - logs.max())
    strength /= strength.sum(axis=1, keepdims=True)
    return strength


def openskill_ratings(games: Sequence[GameRecord], labels: Sequence[str]) -> list[tuple[float, float]]:
    """(mu, sigma) of each label; where several players of a label are in a game, it gets their mean rating."""
    model = PlackettLuce()
    held = {label: model.rating(name=label) for label in labels}
    for game in games:
        if len({entrant.label for entrant in game.entrants}) < 2:
            continue
        teams = [[model.create_rating([held[e.label].mu, held[e.label].sigma])] for e in game.entrants]
        rated = model.rate(teams, ranks=[entrant.rank for entrant in game.entrants])
        for label in {entrant.label for entrant in game.entrants}:
            own = [team[0] for team, e in zip(rated, game.entrants, strict=True) if e.label == label]
            mu, sigma = sum(each.mu for each in own) / len(own), sum(each.sigma for each in own) / len(own)
            held[label] = model.create_rating([mu, sigma], name=label)
    return [(held[label].mu, held[label].sigma) for label in labels]
