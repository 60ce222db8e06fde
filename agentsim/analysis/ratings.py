"""Ratings of labels: Plackett-Luce strengths by maximum likelihood, and OpenSkill ratings, game after game.

In Plackett and Luce's model every place goes to one of the remaining players in proportion to strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from openskill.models import PlackettLuce
from scipy.optimize import minimize
from scipy.special import stdtrit

from agentsim.analysis.game_records import GameRecord
from agentsim.analysis.inference import UPPER, Array

__all__ = ["Strengths", "fit", "openskill_ratings", "stages"]

PSEUDO = 0.5
"""Games that each label wins and loses against a ghost player, so that a label that never loses has a finite strength
(H. Turner and others, Modelling rankings in R: the PlackettLuce package, 2020)."""


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
