"""Where a new label stands against a reference pool: its posterior, and the table that teaches most about it.

A game's result is `inference.stages`; the posterior is that of `posterior.posterior` over the pool's games and the new
ones together, so that what is uncertain about the pool is in the interval (docs/inference.md, "A reference pool").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agentsim.analysis.inference import SEED, Array, Interval
from agentsim.analysis.posterior import CHAINS, Posterior, Stages, credible, posterior

_ORDERS = 400
"""Orders of arrival that are drawn to know what a table is expected to teach."""


@dataclass(frozen=True)
class Placement:
    """The new label, which is the last one, against a pool whose mean log strength is 0.

    `strength` is its log strength, `stronger` by member how likely the new one is the stronger, `places` how likely it
    is the strongest of all, the second, and so on.
    """

    strength: Interval
    stronger: tuple[float, ...]
    places: tuple[float, ...]
    found: Posterior

    @property
    def width(self) -> float:
        assert self.strength.low is not None, "draws have quantiles"
        assert self.strength.high is not None, "draws have quantiles"
        return self.strength.high - self.strength.low


def placement(games: Sequence[Stages], size: int, *, chains: int = CHAINS, seed: int = SEED) -> Placement:
    """Where the last of `size` labels stands against the others, from the pool's games and its own."""
    found = posterior(games, size, chains=chains, seed=seed)
    own, others = found.logs[:, -1], found.logs[:, :-1]
    (strength,) = credible((own - others.mean(axis=1))[:, None])
    stronger = (own[:, None] > others).mean(axis=0)
    return Placement(strength, tuple(map(float, stronger)), tuple(map(float, found.places[-1])), found)


def best_table(found: Posterior, seats: int, most: int) -> tuple[int, ...]:
    """The labels at the table of `seats` that leaves the smallest expected variance of the last label's log strength.

    The last label has one to `most` seats, others one each. For each number of its seats the table is filled one
    member after the other, each time with the one that leaves the smallest variance: that of the inverse of the
    posterior's precision plus the table's expected Fisher information.
    """
    size = found.logs.shape[1]
    logs = found.logs.mean(axis=0)
    precision = np.linalg.pinv(np.cov(found.logs.T), hermitian=True)
    wanted = np.append(np.full(size - 1, -1 / (size - 1)), 1.0)

    def left(table: Sequence[int]) -> float:
        covariance = np.linalg.pinv(precision + information(logs, table), hermitian=True)
        return float(wanted @ covariance @ wanted)

    full = []
    for own in range(max(1, seats - (size - 1)), min(most, seats - 1) + 1):
        table = [size - 1] * own
        while len(table) < seats:
            others = [label for label in range(size - 1) if label not in table]
            table.append(min(others, key=lambda label: left([*table, label])))
        full.append(table)
    return tuple(min(full, key=left))


def information(logs: Array, table: Sequence[int], *, seed: int = SEED) -> Array:
    """The expected Fisher information of one game about the log strengths, labels by labels.

    It is the sum over places of diag(p) - p p', where p are the chances to take the place among those who have none.
    """
    waits = np.random.default_rng(seed).standard_exponential((_ORDERS, len(table)))
    strength = np.exp(logs[list(table)])
    order = (waits / strength).argsort(axis=1)
    place = order.argsort(axis=1)
    competes = place[:, None, :] >= np.arange(len(table) - 1)[:, None]
    seated = np.eye(len(logs))[list(table)]
    chance = competes * strength
    chance = (chance / chance.sum(axis=2, keepdims=True)).reshape(-1, len(table)) @ seated
    found: Array = (np.diag(chance.sum(axis=0)) - chance.T @ chance) / _ORDERS
    return found
