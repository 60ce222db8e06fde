"""A world of arms whose truth is known: what `agentsim compare` says of it, counted over many forks.

Four players; branch k of both arms shares its luck, and every player draws of its own in each branch, as a model's
sampling does. The measures are rank, win, a score with a long tail, a common deed and a rare one. Where an effect is
planted, the first player is better by it, and its score and deeds are more; the truth of each measure is its mean over
`TRUTH_PAIRS` pairs.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from agentsim.analysis.inference import Array
from agentsim.analysis.paired import paired_intervals

SEED = 20_261_123
PLAYERS = 4
MEASURES = ("rank", "win", "score", "deed", "rare deed")
TRUTH_PAIRS = 1_000_000


@dataclass(frozen=True)
class Rates:
    """Shares of the simulated forks.

    `false_positives` and `covered` are of single intervals, over all measures and players; `family_wise` is of forks in
    which any of the intervals that hold together misses the truth, `told` of forks in which they find any effect.
    `treated` is the coverage of the player with the effect alone, by measure.
    """

    pairs: int
    effect: float
    simulations: int
    false_positives: float | None
    covered: float
    family_wise: float
    told: float
    treated: dict[str, float]

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def differences(generator: np.random.Generator, pairs: int, effect: float) -> Array:
    """Pairs by (measure, player): the treated branch less the control's."""
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


def rates(*, pairs: int = 40, effect: float = 0.0, simulations: int = 2_000, seed: int = SEED) -> Rates:
    """What is said of so many forks; `effect` 0 is a world of A/A arms."""
    generator = np.random.default_rng(seed)
    truth = np.zeros(PLAYERS * len(MEASURES))
    if effect:
        parts = [differences(generator, TRUTH_PAIRS // 20, effect).mean(axis=0) for _ in range(20)]
        truth = np.mean(parts, axis=0)
    missed, known = np.zeros(len(truth)), np.zeros(len(truth))
    family = told = 0
    for _ in range(simulations):
        _, low, high, low_adj, high_adj = paired_intervals(differences(generator, pairs, effect))
        there = ~np.isnan(low)
        known += there
        missed += there & ((low > truth) | (high < truth))
        family += bool(((low_adj > truth) | (high_adj < truth)).any())
        told += bool(((low_adj > 0) | (high_adj < 0)).any())
    by_measure = (1 - missed / np.maximum(known, 1)).reshape(len(MEASURES), PLAYERS)
    share = float(missed.sum() / known.sum())
    return Rates(
        pairs=pairs,
        effect=effect,
        simulations=simulations,
        false_positives=None if effect else share,
        covered=1 - share,
        family_wise=family / simulations,
        told=told / simulations,
        treated={measure: float(by_measure[row, 0]) for row, measure in enumerate(MEASURES)},
    )
