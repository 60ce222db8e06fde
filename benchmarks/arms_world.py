"""A simulated world of arms with known effects, to measure the error rates of `agentsim compare` over many forks.

There are four players. Branch k of both arms shares its luck, and every player draws of its own in each branch, as a
model's sampling does. The measures are rank, win, a score with a long tail, a common interaction and a rare one. A
planted effect makes the first player better and raises its score and interactions. The truth of each measure is its
mean over `TRUTH_PAIRS` pairs.
"""

from __future__ import annotations

import numpy as np

from agentsim.analysis.intervals import Array

SEED = 20_261_123
PLAYERS = 4
MEASURES = ("rank", "win", "score", "deed", "rare deed")
TRUTH_PAIRS = 1_000_000


def differences(generator: np.random.Generator, pairs: int, effect: float) -> Array:
    """Return pairs by (measure, player): the treated branch less the control's."""
    luck = generator.normal(size=(pairs, PLAYERS))
    treated, control = (_branches(generator, luck, planted) for planted in (effect, 0.0))
    return treated - control


def _branches(generator: np.random.Generator, luck: Array, effect: float) -> Array:
    better = np.zeros(PLAYERS)
    better[0] = effect
    skill = luck + better + generator.normal(size=luck.shape)
    rank = (-skill).argsort(axis=1).argsort(axis=1) + 1.0
    score = 10 * np.exp(0.5 * (luck + better) + 0.3 * generator.normal(size=luck.shape))
    deed, rare = (generator.poisson(rate * np.exp(0.3 * luck + better)) for rate in (1.5, 0.15))
    return np.hstack([rank, rank == 1, score, deed, rare]).astype(np.float64)
