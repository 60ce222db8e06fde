"""Placement: the strength of a new label, the last one, relative to a reference pool, and the tables that inform most.

The posterior is that of the pool's games and the new ones together, so the interval includes the uncertainty about the
pool (docs/inference.md, "A reference pool"). A block has as many games as there are seats, all with the same labels;
the new label takes every seat in turn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import chdtrc

from agentsim.analysis.intervals import FEWEST, SEED, Array, Interval
from agentsim.analysis.posterior import CHAINS, WRONG, ChoiceSets, Posterior, credible_intervals, posterior
from agentsim.lazy import dataclass

_ORDERS = 100
"""The number of finishing orders that are drawn to estimate the information of a table."""
_GROWTH = 4
"""A round has one block for every `_GROWTH` blocks that are played, and at least one."""


@dataclass(frozen=True, slots=True)
class Dispersion:
    """The ratio of the variance of blocks' results to the variance that strengths alone explain, and its p-value."""

    factor: float
    p: float

    @property
    def too_much(self) -> bool:
        return self.factor > 1 and self.p < WRONG


@dataclass(frozen=True)
class Placement:
    """The new label relative to a pool whose mean log strength is 0.

    `strength` is the log strength of the new label, `members` are those of the pool. `stronger` has by member the
    probability that the new label is stronger, `rank_probabilities` the probabilities that it is the strongest of all,
    the second, and so on. `dispersion` is None with fewer than `FEWEST` blocks.
    """

    strength: Interval
    members: tuple[Interval, ...]
    stronger: tuple[float, ...]
    rank_probabilities: tuple[float, ...]
    dispersion: Dispersion | None
    found: Posterior


def placement(
    pool: Sequence[ChoiceSets],
    games: Sequence[ChoiceSets],
    size: int,
    *,
    block: int,
    weight: float = 1.0,
    chains: int = CHAINS,
    seed: int = SEED,
) -> Placement:
    """Return the placement of the last of `size` labels, from the pool's games and its own, in blocks of `block` games.

    Each of the pool's games counts as `weight` games (`posterior.game_weight`). If the new games vary too much, each
    counts as 1 / dispersion games.
    """

    def drawn(worth: float) -> Posterior:
        weights = np.repeat([weight, worth], [len(pool), len(games)])
        return posterior([*pool, *games], size, weight=weights, chains=chains, seed=seed)

    found = drawn(1.0)
    spread = _dispersion(found, games, block)
    if spread is not None and spread.too_much:
        found = drawn(1 / spread.factor)
    strength = found.logs - found.logs[:, :-1].mean(axis=1, keepdims=True)
    *members, own = credible_intervals(strength)
    stronger = (strength[:, -1:] > strength[:, :-1]).mean(axis=0)
    return Placement(
        own, tuple(members), tuple(map(float, stronger)), tuple(map(float, found.rank_probabilities[-1])), spread, found
    )


def _dispersion(found: Posterior, games: Sequence[ChoiceSets], block: int) -> Dispersion | None:
    """Return Pearson's statistic of the last label's ranks in each block, over its degrees of freedom.

    P. McCullagh and J. A. Nelder, Generalized Linear Models, 1989, section 4.5. Returns None for fewer than `FEWEST`
    blocks.
    """
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
    """Return the labels at the tables of the next blocks, given that `played` of at most `blocks` blocks are played.

    Each block is the one with the smallest expected variance of the last label's log strength: that of the inverse of
    the posterior precision plus the expected Fisher information of the blocks before it and its own (D. V. Lindley, On
    a measure of the information provided by an experiment, 1956, for a normal posterior). The last label has one to
    `most` of the seats, and any other label at most one. For each number of its seats, members are added greedily, the
    most informative first.
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
    """Return the expected Fisher information of one game about the log strengths, as a matrix of labels by labels.

    It is the sum over ranks of diag(p) - p p', in which p are the chances to take the rank among those who have none.
    """
    waits = np.random.default_rng(SEED).standard_exponential((_ORDERS, len(table)))
    strength = np.exp(logs[list(table)])
    rank = (waits / strength).argsort(axis=1).argsort(axis=1)
    competes = rank[:, None, :] >= np.arange(len(table) - 1)[:, None]
    chance = competes * strength
    chance = (chance / chance.sum(axis=2, keepdims=True)).reshape(-1, len(table)) @ np.eye(len(logs))[list(table)]
    found: Array = (np.diag(chance.sum(axis=0)) - chance.T @ chance) / _ORDERS
    return found
