"""Ratings with a posterior: strengths of the Plackett-Luce model, drawn by Gibbs sampling, and a check of their wins.

F. Caron and A. Doucet, Efficient Bayesian inference for generalized Bradley-Terry models, 2012. Games come as
`inference.stages` gives them; what they are made of is not known here (docs/inference.md).

`placement` is where a new label, the last one, stands against a reference pool. The posterior is that of the pool's
games and the new ones together, so that what is uncertain about the pool is in the interval (docs/inference.md, "A
reference pool"). Games come in blocks: as many as there are seats, with the same labels, which the new one takes every
seat of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import chdtrc

from agentsim.analysis.inference import FEWEST, SEED, UPPER, Array, Interval, fit

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


_ORDERS = 100
"""Orders of arrival that are drawn to know what a table is expected to teach."""
_GROWTH = 4
"""A round has a block for each so many that are played, and at least one."""


@dataclass(frozen=True, slots=True)
class Dispersion:
    """How much more the results of blocks vary than strengths alone explain: 1 is as much. `p` is the chance of it."""

    factor: float
    p: float

    @property
    def too_much(self) -> bool:
        return self.factor > 1 and self.p < WRONG


@dataclass(frozen=True)
class Placement:
    """The new label against a pool whose mean log strength is 0.

    `strength` is its log strength, `members` are those of the pool; `stronger` by member how likely the new one is the
    stronger, `places` how likely it is the strongest of all, the second, and so on. `dispersion` is None with fewer
    than `FEWEST` blocks.
    """

    strength: Interval
    members: tuple[Interval, ...]
    stronger: tuple[float, ...]
    places: tuple[float, ...]
    dispersion: Dispersion | None
    found: Posterior


def placement(
    pool: Sequence[Stages],
    games: Sequence[Stages],
    size: int,
    *,
    block: int,
    weight: float = 1.0,
    chains: int = CHAINS,
    seed: int = SEED,
) -> Placement:
    """Where the last of `size` labels stands, from the pool's games and its own, in blocks of `block`.

    Each of the pool's games counts as `weight` games (`posterior.independence`); where the new ones vary too much, they
    count by their dispersion as fewer.
    """

    def drawn(worth: float) -> Posterior:
        weights = np.repeat([weight, worth], [len(pool), len(games)])
        return posterior([*pool, *games], size, weight=weights, chains=chains, seed=seed)

    found = drawn(1.0)
    spread = _dispersion(found, games, block)
    if spread is not None and spread.too_much:
        found = drawn(1 / spread.factor)
    strength = found.logs - found.logs[:, :-1].mean(axis=1, keepdims=True)
    *members, own = credible(strength)
    stronger = (strength[:, -1:] > strength[:, :-1]).mean(axis=0)
    return Placement(
        own, tuple(members), tuple(map(float, stronger)), tuple(map(float, found.places[-1])), spread, found
    )


def _dispersion(found: Posterior, games: Sequence[Stages], block: int) -> Dispersion | None:
    """Pearson's statistic of what the last label took in each block, over its degrees of freedom (P. McCullagh and J.
    A. Nelder, Generalized Linear Models, 1989, section 4.5)."""
    if len(games) < FEWEST * block:
        return None
    strength = np.exp(found.logs.mean(axis=0))
    missed, variance = np.zeros(-(-len(games) // block)), np.zeros(-(-len(games) // block))
    for number, (rows, taken) in enumerate(games):
        chance = rows[:, -1] * strength[-1] / (rows @ strength)
        missed[number // block] += taken[-1] - chance.sum()
        variance[number // block] += (chance * (1 - chance)).sum()
    statistic, freedom = float((missed**2 / variance).sum()), len(missed) - 1
    return Dispersion(statistic / freedom, float(chdtrc(freedom, statistic)))


def next_tables(found: Posterior, seats: int, *, most: int, played: int, blocks: int) -> list[tuple[int, ...]]:
    """The labels at the tables of the next blocks, after so many that are `played`; at most `blocks` in all.

    Each block is the one that leaves the smallest expected variance of the last label's log strength: that of the
    inverse of the posterior's precision, the expected Fisher information of the blocks before it and its own (D. V.
    Lindley, On a measure of the information provided by an experiment, 1956, for a normal posterior). The last label
    has one to `most` of the seats, others one each; for each number of its seats the members come to the table one
    after the other, each time the one that teaches most.
    """
    size = found.logs.shape[1]
    logs = found.logs.mean(axis=0)
    precision = np.linalg.pinv(np.cov(found.logs.T), hermitian=True)
    scale = np.append(np.full(size - 1, -1 / (size - 1)), 1.0)

    def learned(table: Sequence[int]) -> Array:
        return precision + seats * information(logs, table)

    def left(table: Sequence[int]) -> float:
        return float(scale @ np.linalg.pinv(learned(table), hermitian=True) @ scale)

    def filled(own: int) -> tuple[int, ...]:
        table = (size - 1,) * own
        while len(table) < seats:
            table = min(((*table, label) for label in range(size - 1) if label not in table), key=left)
        return table

    tables: list[tuple[int, ...]] = []
    for _ in range(min(max(1, played // _GROWTH), blocks - played)):
        tried = map(filled, range(max(1, seats - size + 1), min(most, seats - 1) + 1))
        tables.append(min(tried, key=left))
        precision = learned(tables[-1])
    return tables


def information(logs: Array, table: Sequence[int]) -> Array:
    """The expected Fisher information of one game about the log strengths, labels by labels.

    It is the sum over places of diag(p) - p p', where p are the chances to take the place among those who have none.
    """
    waits = np.random.default_rng(SEED).standard_exponential((_ORDERS, len(table)))
    strength = np.exp(logs[list(table)])
    place = (waits / strength).argsort(axis=1).argsort(axis=1)
    competes = place[:, None, :] >= np.arange(len(table) - 1)[:, None]
    chance = competes * strength
    chance = (chance / chance.sum(axis=2, keepdims=True)).reshape(-1, len(table)) @ np.eye(len(logs))[list(table)]
    found: Array = (np.diag(chance.sum(axis=0)) - chance.T @ chance) / _ORDERS
    return found
