"""Plackett-Luce: how strong each label is if every place goes to one of the rest in proportion to strength.

Fitted by the MM algorithm of D. R. Hunter, MM algorithms for generalized Bradley-Terry models (2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from agentsim.analysis.intervals import UPPER, Array, student

__all__ = ["Strengths", "fit", "stages"]

PSEUDO = 0.5
"""Games that each label wins and loses against nobody in particular, so that who never loses has a finite strength
(H. Turner and others, Modelling rankings in R: the PlackettLuce package, 2020)."""
_ENOUGH, _MOST_STEPS = 1e-9, 10_000


@dataclass(frozen=True)
class Strengths:
    """By label: the natural logarithm of the strength (their mean is 0), its standard error, its share of the sum.

    `freedom` are the degrees of freedom of the errors, None where they are the model's own.
    """

    logs: Array
    errors: Array
    shares: Array
    freedom: int | None = None

    def intervals(self) -> Array:
        """(low, high) of each logarithm."""
        quantile = NormalDist().inv_cdf(UPPER) if self.freedom is None else student(UPPER, self.freedom)
        reach = quantile * self.errors
        return np.stack([self.logs - reach, self.logs + reach], axis=1)


def stages(ranks: Sequence[float], labels: Sequence[int], size: int) -> tuple[Array, Array]:
    """One game as (how many of each label stood for each place, how many places each label took).

    Players who tie share their places: each is taken from those who stood for it, less the part of the tied who would
    have gone before (B. Efron, The efficiency of Cox's likelihood function for censored data, 1977).
    """
    standing = np.bincount(labels, minlength=size).astype(np.float64)
    rows, wins = [], np.zeros(size)
    for rank in sorted(set(ranks)):
        tied = [label for label, own in zip(labels, ranks, strict=True) if own == rank]
        group = np.bincount(tied, minlength=size).astype(np.float64)
        if standing.sum() == len(tied):  # the last place is nobody's choice
            break
        rows += [standing - group * (gone / len(tied)) for gone in range(len(tied))]
        wins += group
        standing = standing - group
    return np.array(rows).reshape(-1, size), wins


def fit(games: Sequence[tuple[Array, Array]], size: int, together: Array | None = None) -> Strengths:
    """The strengths of `size` labels from games as `stages` gives them.

    Where `together` puts several games into one block (see `intervals.blocks`), the errors are those of independent
    blocks, whatever binds the games within (K.-Y. Liang and S. L. Zeger, Longitudinal data analysis using generalized
    linear models, 1986).
    """
    field = np.concatenate([rows for rows, _ in games]) if games else np.zeros((0, size))
    stood, times = np.unique(field, axis=0, return_counts=True)
    stood = np.hstack([stood, np.zeros((len(stood), 1))])
    ghost = np.hstack([np.eye(size), np.ones((size, 1))])  # nobody in particular, against each in turn
    stood = np.concatenate([stood, ghost])
    times = np.concatenate([times.astype(np.float64), np.full(size, 2 * PSEUDO)])
    wins = np.append(sum((taken for _, taken in games), np.zeros(size)) + PSEUDO, PSEUDO * size)
    strength = np.ones(size + 1)
    for _ in range(_MOST_STEPS):
        better = wins / (stood.T @ (times / (stood @ strength)))
        better /= np.exp(np.log(better).mean())
        moved = float(np.abs(np.log(better / strength)).max())
        strength = better
        if moved < _ENOUGH:
            break
    part = stood * strength / (stood @ strength)[:, None]
    information = np.diag(times @ part) - (part * times[:, None]).T @ part
    covariance = np.linalg.pinv(information, hermitian=True)
    freedom = None
    if together is not None and len(together) < len(games):
        scores = together @ np.array([np.append(taken, 0.0) - _expected(rows, strength) for rows, taken in games])
        freedom = len(together) - 1
        covariance = covariance @ (scores.T @ scores) @ covariance * (len(together) / freedom)
    centre = np.eye(size, size + 1) - np.append(np.full(size, 1 / size), 0.0)
    logs = centre @ np.log(strength)
    errors = np.sqrt(np.maximum(0.0, np.diag(centre @ covariance @ centre.T)))
    shares = np.exp(logs - logs.max())
    return Strengths(logs, errors, shares / shares.sum(), freedom)


def _expected(rows: Array, strength: Array) -> Array:
    """How many places of one game each label should have taken, and none for nobody."""
    stood = np.hstack([rows, np.zeros((len(rows), 1))])
    expected: Array = (stood * strength / (stood @ strength)[:, None]).sum(axis=0)
    return expected
