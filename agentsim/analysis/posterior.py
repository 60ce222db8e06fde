"""Ratings with a posterior: strengths of the Plackett-Luce model, drawn by Gibbs sampling, and a check of their wins.

F. Caron and A. Doucet, Efficient Bayesian inference for generalized Bradley-Terry models, 2012. The formulas
are in docs/inference.md. A label is one of the models, personas or settings that are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from agentsim.analysis.intervals import SEED, UPPER, Array, Interval
from agentsim.analysis.symmetry import Orbits, interchangeable
from agentsim.lazy import dataclass

PRIOR = 1.0
"""The shape of the gamma prior. The probability that one comes before another is uniform from 0 to 1; with three and
more, the division of the first places is uniform too."""
CHAINS = 40
SWEEPS = 100
"""The sweeps of a chain before the first draw, and those that are drawn. Both are doubled until the chains agree."""
MOST_SWEEPS = 3_200
AGREED = 1.05
"""The chains agree if their potential scale reduction is below this (A. Gelman and D. Rubin, 1992)."""
PRINTED = (0.005, 0.0005, 0.005)
"""Half of the last printed digit of a log strength, a chance to come first, and the probability of a rank."""
MOST_DRAWS = 64_000
_PIECE = 4_000  # draws at a time
WRONG = 0.05
"""A check fails if its p-value is below this."""

ChoiceSets: TypeAlias = tuple[Array, Array]


def choice_sets(ranks: Sequence[float], labels: Sequence[int], size: int) -> ChoiceSets:
    """Return one game as (how many of each label competed for each rank, how many ranks each label took).

    In the Plackett-Luce model a game is a row of choices: the first of all players, then the next of those that are
    left, and so on; the last is no choice. Players who tie share their ranks: each rank has the competitors of the
    first, less the part of the tied players who would have gone before (B. Efron, The efficiency of Cox's likelihood
    function for censored data, 1977).
    """
    left = np.bincount(labels, minlength=size).astype(np.float64)
    rows, wins = [], np.zeros(size)
    for rank in sorted(set(ranks)):
        tied = [label for label, own in zip(labels, ranks, strict=True) if own == rank]
        group = np.bincount(tied, minlength=size).astype(np.float64)
        if left.sum() == len(tied):  # nobody else is left to choose from
            break
        rows += [left - group * (gone / len(tied)) for gone in range(len(tied))]
        wins += group
        left = left - group
    return np.array(rows).reshape(-1, size), wins


@dataclass(frozen=True)
class Posterior:
    """Draws by labels: log strengths with a mean of 0 in each draw, chain beside chain in each sweep.

    `scale_reduction` tells how far the chains agree (1 if fully). The data are the distinct rows of who competed for a
    rank (`contenders`), how many there are of each (`counts`), and for each label the ranks taken and the prior's
    (`shape`).
    """

    logs: Array
    scale_reduction: float
    chains: int
    contenders: Array
    counts: Array
    shape: Array

    @property
    def shares(self) -> Array:
        """Return the chance to come first among one of each, draws by labels."""
        strength = np.exp(self.logs - self.logs.max(axis=1, keepdims=True))
        found: Array = strength / strength.sum(axis=1, keepdims=True)
        return found

    @property
    def rank_probabilities(self) -> Array:
        """Return how likely each label is the strongest, the second and so on: labels by ranks."""
        return pool_interchangeable(self._rank_indicators.mean(axis=0), self.interchangeable_labels)

    @property
    def _rank_indicators(self) -> Array:
        rank = (-self.logs).argsort(axis=1).argsort(axis=1)
        found: Array = np.stack([rank == at for at in range(self.logs.shape[1])], axis=2).astype(np.float64)
        return found

    @cached_property
    def interchangeable_labels(self) -> Orbits:
        """Return the groups of labels that the games do not tell apart."""
        return interchangeable(self.contenders, self.counts, self.shape)

    @cached_property
    def gradients(self) -> Array:
        """Return the gradient of the log density at each draw, by log strengths; its expectation is 0."""
        found = np.empty_like(self.logs)
        shares = self.shares
        for at in range(0, len(shares), _PIECE):
            part = shares[at : at + _PIECE]
            taken = part * ((self.counts / (part @ self.contenders.T)) @ self.contenders)
            found[at : at + _PIECE] = self.shape - taken - part * (self.shape.sum() - self.counts.sum())
        return found

    def means(self, draws: Array) -> tuple[Array, Array]:
        """Return the mean of each column, and its Monte Carlo error by the spread of the chains' means.

        The gradient is a control variate: what it explains of a column is known to be 0 on the whole, and is taken off
        (A. Mira, R. Solgi and D. Imparato, Zero variance Markov chain Monte Carlo for Bayesian estimators, 2013). Of
        shares at one table of all nothing is left to chance.
        """
        centred = draws - draws.mean(axis=0)
        weights, *_ = np.linalg.lstsq(self.gradients - self.gradients.mean(axis=0), centred, rcond=1e-10)
        left = draws - self.gradients @ weights
        by_chain = left.reshape(-1, self.chains, draws.shape[1]).mean(axis=0)
        error = by_chain.std(axis=0, ddof=1) / self.chains**0.5
        return np.clip(left.mean(axis=0), draws.min(axis=0), draws.max(axis=0)), error

    @property
    def strengths(self) -> list[Interval]:
        """Return the log strength of each label, with the interval that holds 95% of the posterior."""
        return credible_intervals(self.logs, self.interchangeable_labels, self.means(self.logs)[0])

    @property
    def first(self) -> list[Interval]:
        """Return the chance of each label to come first among one of each, with 95% of the posterior."""
        if len(self.contenders) == 1 and np.ptp(self.contenders) == 0:  # one table: known exactly, by Dirichlet
            whole = float(self.shape.sum())
            ends = betaincinv(self.shape, whole - self.shape, np.array([[1 - UPPER], [UPPER]]))
            columns = zip(self.shape / whole, *ends, strict=True)
            return [Interval(float(value), float(low), float(high)) for value, low, high in columns]
        return credible_intervals(self.shares, self.interchangeable_labels, self.means(self.shares)[0])

    @property
    def to_printed_precision(self) -> bool:
        """Return whether the Monte Carlo error of strengths, shares and rank probabilities is below `PRINTED`."""
        size = self.logs.shape[1]
        errors = [self.means(draws)[1].max(initial=0.0) for draws in (self.logs, self.shares)]
        chances = self._rank_indicators.reshape(-1, self.chains, size * size).mean(axis=0)
        errors.append((chances.std(axis=0, ddof=1) / self.chains**0.5).max(initial=0.0))
        return all(error <= most for error, most in zip(errors, PRINTED, strict=True))


def pool_interchangeable(values: Array, alike: Orbits) -> Array:
    """Return values by labels, those of labels that the data do not tell apart as their mean."""
    found = values.copy()
    for group in alike:
        found[list(group)] = values[list(group)].mean(axis=0)
    return found


def credible_intervals(draws: Array, alike: Orbits = (), means: Array | None = None) -> list[Interval]:
    """Return the mean of each column, or the `means` given, and the interval that holds 95% of its draws.

    Columns that are `alike` have the same of both, by the draws of all of them.
    """
    ends = np.quantile(draws, [1 - UPPER, UPPER], axis=0)
    for group in alike:
        if len(group) > 1:
            ends[:, list(group)] = np.quantile(draws[:, list(group)], [1 - UPPER, UPPER])[:, None]
    values = np.round(pool_interchangeable(draws.mean(axis=0) if means is None else means, alike), 12) + 0.0  # no -0.00
    columns = zip(values, *ends, strict=True)
    return [Interval(float(value), float(low), float(high)) for value, low, high in columns]


def posterior(
    games: Sequence[ChoiceSets],
    size: int,
    *,
    weight: float | Array = 1.0,
    chains: int = CHAINS,
    seed: int = SEED,
    to_printed_precision: bool = False,
) -> Posterior:
    """Draw the strengths of `size` labels. `weight` is how many games each one counts as (`game_weight`).

    With `to_printed_precision`, draws are added until the Monte Carlo error is below what is printed, up to
    `MOST_DRAWS`.
    """
    generator = np.random.default_rng(seed)
    weights = np.broadcast_to(weight, len(games))
    field = np.concatenate([np.zeros((0, size)), *(rows for rows, _ in games)])
    contenders, which = np.unique(field, axis=0, return_inverse=True)
    rank_probabilities = np.array([len(rows) for rows, _ in games], dtype=np.int64)
    counts: Array = np.bincount(which.ravel(), np.repeat(weights, rank_probabilities), len(contenders)).astype(
        np.float64
    )
    shape = PRIOR + weights @ np.array([taken for _, taken in games]).reshape(-1, size)
    strength = generator.standard_gamma(PRIOR, size=(chains, size)) + 1e-12
    sweeps, drawn = SWEEPS, list[Array]()
    while True:
        kept = np.empty((SWEEPS, chains, size))
        for number in range(0 if drawn else -sweeps, sweeps):
            waited = generator.standard_gamma(counts, size=(chains, len(counts))) / (strength @ contenders.T)
            strength = generator.standard_gamma(shape, size=(chains, size)) / (PRIOR + waited @ contenders) + 1e-300
            total = generator.standard_gamma(size * PRIOR, size=(chains, 1))  # the sum is free: draw from its prior
            strength *= total / (PRIOR * strength.sum(axis=1, keepdims=True))
            if number >= 0:
                kept[number * SWEEPS // sweeps] = np.log(strength)
        logs = kept - kept.mean(axis=2, keepdims=True)
        if not drawn:
            reduction = scale_reduction(logs)
            if reduction >= AGREED and 2 * sweeps <= MOST_SWEEPS:
                sweeps *= 2
                continue
        drawn.append(logs.reshape(-1, size))
        found = Posterior(np.concatenate(drawn), reduction, chains, contenders, counts, shape)
        if not to_printed_precision or sum(map(len, drawn)) + len(drawn[0]) > MOST_DRAWS or found.to_printed_precision:
            return found


def scale_reduction(logs: Array) -> float:
    """Return the largest potential scale reduction of sweeps by chains by labels."""
    within = logs.var(axis=0, ddof=1).mean(axis=0)
    between = logs.mean(axis=0).var(axis=0, ddof=1)
    if not within.all():
        return 1.0  # a single label has nothing to differ from
    return float(np.sqrt((len(logs) - 1) / len(logs) + between / within).max())


def game_weight(games: Sequence[ChoiceSets], size: int, clusters: Array) -> float:
    """Return as how many independent games one counts if games of one cluster share their luck: 1 or less.

    Games of one seed are dealt alike, so that ten of them tell less than ten of ten seeds. The weight is the power of
    the likelihood that gives the posterior the spread of the scores of `clusters` by games (F. Pauli, W. Racugno and L.
    Ventura, Bayesian composite marginal likelihoods, Statistica Sinica 21, 2011), with Student's quantile for the
    number of clusters.
    """
    number = len(clusters)
    if number == len(games):
        return 1.0
    strength = np.exp(posterior(games, size).logs.mean(axis=0))
    chances = [rows * strength / (rows @ strength)[:, None] for rows, _ in games]
    scores = clusters @ np.array(
        [taken - chance.sum(axis=0) for (_, taken), chance in zip(games, chances, strict=True)]
    )
    chance = np.concatenate(chances)
    inverse = np.linalg.pinv(np.diag(chance.sum(axis=0)) - chance.T @ chance, rcond=1e-9, hermitian=True)
    spread = float(np.trace(inverse @ (scores.T @ scores))) * number / (number - 1)
    freed = max(1, size - 1) * (ndtri(UPPER) / stdtrit(number - 1, UPPER)) ** 2
    return min(1.0, float(freed) / spread) if spread else 1.0


@dataclass(frozen=True)
class WinsCheck:
    """The wins that the strengths predict for each label in these games, and the posterior predictive p-value."""

    expected: tuple[Interval, ...]
    p: float

    @property
    def fails(self) -> bool:
        return self.p < WRONG


def wins_check(found: Posterior, tables: Array, wins: Array, *, weight: float = 1.0, seed: int = SEED) -> WinsCheck:
    """Check the wins against the posterior; `tables` has how many of each label sat in each game.

    In each draw the same games are played again. The squared distances of wins from their expectation, each divided by
    it, are summed for what was played and what is played again (A. Gelman, X.-L. Meng and H. Stern, Posterior
    predictive assessment of model fitness via realized discrepancies, 1996).
    """
    generator = np.random.default_rng(seed)
    strength = found.shares[:: max(1, len(found.logs) // 1_000)]
    expected, again = np.zeros_like(strength), np.zeros_like(strength)
    sat, times = np.unique(tables, axis=0, return_counts=True)
    for table, often in zip(sat, times, strict=True):
        chance = strength * table
        chance /= chance.sum(axis=1, keepdims=True)
        expected += often * chance
        again += generator.multinomial(often, chance)
    again = expected + (again - expected) / weight**0.5
    floor = np.maximum(expected, 1e-9)
    far, farther = (((each - expected) ** 2 / floor).sum(axis=1) for each in (wins, again))
    p = (1 + np.count_nonzero(farther >= far)) / (1 + len(strength))
    possible = np.clip(again, 0, (tables > 0).sum(axis=0))
    # An additional column distinguishes the tables from the choices of the fit.
    kinds = (np.pad(each, ((0, 0), (0, 1)), constant_values=kind) for kind, each in enumerate((found.contenders, sat)))
    rows, counts = np.vstack(list(kinds)), np.concatenate([found.counts, times])
    *alike, _ = interchangeable(rows, counts, np.append(found.shape, -1.0))
    return WinsCheck(tuple(credible_intervals(possible, tuple(alike))), float(p))
