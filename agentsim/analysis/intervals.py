"""intervals: 95% intervals of means per game, and the quantiles that they need.

Games are taken whole, since the ranks within one depend on each other; those of one seed together, since they share
their luck.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEWEST", "Array", "Whole", "blocks", "ratio_intervals", "student"]

Array: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
FEWEST = 5
"""Of fewer independent games nothing is said: an interval would hold nearly all that is possible."""
BLIND = 2


def student(probability: float, freedom: int) -> float:
    """A quantile of Student's t by its expansion in the normal's (Abramowitz and Stegun 26.7.5); good from 3 on."""
    z, n = NormalDist().inv_cdf(probability), float(max(1, freedom))
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )


def blocks(seeds: Sequence[int]) -> Array:
    """What puts games of one seed together: blocks by games, to be multiplied with sums by games.

    Each game by itself where there are fewer than `FEWEST` seeds: then what is said is said of these seeds alone.
    """
    known = {seed: number for number, seed in enumerate(dict.fromkeys(seeds))}
    if len(known) < FEWEST:
        return np.eye(len(seeds))
    return np.eye(len(known))[:, [known[seed] for seed in seeds]]


def ratio_intervals(
    sums: Array,
    counts: Array,
    level: float = 0.95,
    *,
    centre: float | None = None,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Array:
    """(low, high) for each column of games by labels: of the ratio of the sums to the counts over all games.

    To each label's games `BLIND` are added that say what a label's games say if nobody knows which it is: their mean is
    that of all labels (or `centre`: 0.5 of a rate, so that one is won and one lost), their variance that of all labels'
    games about it. Around what comes out it is Student's interval, cut off at what is possible (`within`) and stretched
    to hold the estimate: the way of A. Agresti and B. Coull with rates (Approximate is better than "exact", 1998; two
    of each there, and the normal's quantile), for any mean of games. NaN for a label that is in fewer than `FEWEST`
    games, and where all games say the same.
    """
    games, totals = (counts > 0).sum(axis=0), counts.sum(axis=0)
    found = np.full((sums.shape[1], 2), np.nan)
    mean = (sums.sum() / totals.sum() if totals.any() else 0.0) if centre is None else centre
    squares = float((counts**2).sum())
    spread = float(((sums - mean * counts) ** 2).sum()) / squares if squares else 0.0
    enough = games >= FEWEST
    if not enough.any() or spread == 0:
        return found
    sums, counts, games, totals = sums[:, enough], counts[:, enough], games[enough], totals[enough]
    usual = totals / games  # entries of the label in a game that it is in
    weight = totals + BLIND * usual
    middle = (sums.sum(axis=0) + BLIND * usual * mean) / weight
    inside = ((sums - middle * counts) ** 2).sum(axis=0)
    error = np.sqrt(inside + BLIND * usual**2 * (spread + (mean - middle) ** 2)) / weight
    reach = error * np.array([student(0.5 + level / 2, int(number) + BLIND - 1) for number in games])
    ratio = sums.sum(axis=0) / totals
    low, high = np.clip(middle - reach, *within), np.clip(middle + reach, *within)
    found[enough] = np.stack([np.minimum(low, ratio), np.maximum(high, ratio)], axis=1)
    return found
