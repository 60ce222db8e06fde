"""Ratings with a posterior: strengths of the Plackett-Luce model, drawn by Gibbs sampling, and a check of their wins.

F. Caron and A. Doucet, Efficient Bayesian inference for generalized Bradley-Terry models, 2012. Games come as
`inference.stages` gives them; what they are made of is not known here (docs/inference.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from agentsim.analysis.inference import SEED, UPPER, Array, Interval, fit

PRIOR = 1.0
"""The shape of the prior, a gamma distribution: the chance of one to come before another is anything from 0 to 1, each
as likely; so is, with three and more, each division of the first places."""
CHAINS = 40
SWEEPS = 100
"""Sweeps of a chain before the first draw, and those that are drawn; both are doubled until the chains agree."""
MOST_SWEEPS = 3_200
AGREED = 1.05
"""The chains agree where their potential scale reduction is below this (A. Gelman and D. Rubin, 1992)."""
WRONG = 0.05
"""A check fails where its p-value is below this."""

Stages: TypeAlias = tuple[Array, Array]


@dataclass(frozen=True)
class Posterior:
    """Draws by labels: log strengths with a mean of 0 in each draw. `agreement` is the chains' scale reduction."""

    logs: Array
    agreement: float

    @property
    def shares(self) -> Array:
        """The chance to come first among one of each, by draws and labels."""
        strength = np.exp(self.logs - self.logs.max(axis=1, keepdims=True))
        found: Array = strength / strength.sum(axis=1, keepdims=True)
        return found

    @property
    def places(self) -> Array:
        """By labels and places: how likely a label is the strongest, the second, and so on."""
        place = (-self.logs).argsort(axis=1).argsort(axis=1)
        return np.stack([(place == at).mean(axis=0) for at in range(self.logs.shape[1])], axis=1)


def credible(draws: Array) -> list[Interval]:
    """The mean of each column, and the interval that holds 95% of its draws."""
    ends = np.quantile(draws, [1 - UPPER, UPPER], axis=0)
    columns = zip(draws.mean(axis=0), *ends, strict=True)
    return [Interval(float(value), float(low), float(high)) for value, low, high in columns]


def posterior(
    games: Sequence[Stages], size: int, *, weight: float | Array = 1.0, chains: int = CHAINS, seed: int = SEED
) -> Posterior:
    """The strengths of `size` labels. Each game counts as `weight` games (`independence`), or as its own of them."""
    generator = np.random.default_rng(seed)
    weights = np.broadcast_to(weight, len(games))
    field = np.concatenate([np.zeros((0, size)), *(rows for rows, _ in games)])
    stood, which = np.unique(field, axis=0, return_inverse=True)
    stages = np.array([len(rows) for rows, _ in games], dtype=np.int64)
    counts = np.bincount(which.ravel(), np.repeat(weights, stages), len(stood))
    shape = PRIOR + weights @ np.array([taken for _, taken in games]).reshape(-1, size)
    strength = generator.standard_gamma(PRIOR, size=(chains, size)) + 1e-12
    sweeps = SWEEPS
    while True:
        kept = np.empty((SWEEPS, chains, size))
        for number in range(-sweeps, sweeps):
            waited = generator.standard_gamma(counts, size=(chains, len(counts))) / (strength @ stood.T)
            strength = generator.standard_gamma(shape, size=(chains, size)) / (PRIOR + waited @ stood) + 1e-300
            total = generator.standard_gamma(size * PRIOR, size=(chains, 1))  # the sum is free: it is drawn anew
            strength *= total / (PRIOR * strength.sum(axis=1, keepdims=True))
            if number >= 0:
                kept[number * SWEEPS // sweeps] = np.log(strength)
        logs = kept - kept.mean(axis=2, keepdims=True)
        agreed = agreement(logs)
        if agreed < AGREED or 2 * sweeps > MOST_SWEEPS:
            return Posterior(logs.reshape(-1, size), agreed)
        sweeps *= 2


def agreement(logs: Array) -> float:
    """The largest potential scale reduction of sweeps by chains by labels."""
    within = logs.var(axis=0, ddof=1).mean(axis=0)
    between = logs.mean(axis=0).var(axis=0, ddof=1)
    if not within.all():
        return 1.0  # a single label has nothing to differ from
    return float(np.sqrt((len(logs) - 1) / len(logs) + between / within).max())


def independence(games: Sequence[Stages], size: int, together: Array) -> float:
    """As how many independent games one counts where blocks of games share their luck (`inference.blocks`): 1 or less.

    It makes the intervals as wide as those that hold whatever the dependence within blocks (`inference.fit`).
    """
    if len(together) == len(games):
        return 1.0
    alone, blocked = fit(games, size), fit(games, size, together)
    width, wider = (float(np.square(np.diff(each.intervals())).sum()) for each in (alone, blocked))
    return min(1.0, width / wider) if wider else 1.0


@dataclass(frozen=True)
class WinsCheck:
    """How many first places the strengths foretell for each label in these games, and how likely a fit this bad is."""

    expected: tuple[Interval, ...]
    p: float

    @property
    def fails(self) -> bool:
        return self.p < WRONG


def wins_check(found: Posterior, tables: Array, wins: Array, *, weight: float = 1.0, seed: int = SEED) -> WinsCheck:
    """A posterior predictive check; `tables` has how many of each label sat in each game.

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
    return WinsCheck(tuple(credible(possible)), float(p))
