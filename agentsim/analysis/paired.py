"""Effects as means of paired differences: their intervals alone and together, and how many pairs an effect needs.

Intervals are Student's, of the mean of the differences. Those that hold together take the quantile of the greatest |t|
of all columns: the signs of the centred differences are drawn again, those of a pair together (the wild bootstrap: E.
Mammen, 1993; the greatest |t|: P. Westfall and S. Young, 1993).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import stdtrit

from agentsim.analysis.inference import DRAWS, FEWEST, SEED, UPPER, Array, Interval

Row: TypeAlias = tuple[float, float | None, float | None, float | None, float | None]
"""mean, low, high, low_adj, high_adj."""
POWER = 0.8
"""The chance to find an effect that studies are planned for."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The mean of the differences in one measure of one player (or model, or listener).

    `low` and `high` end the interval of 95% of this effect alone, `low_adj` and `high_adj` that which holds for all
    effects together that are asked about. They are None of too few differences, and where all are the same.
    """

    measure: str
    player: str
    mean: float
    low: float | None
    high: float | None
    low_adj: float | None
    high_adj: float | None

    @property
    def alone(self) -> Interval:
        return Interval(self.mean, self.low, self.high)

    @property
    def together(self) -> Interval:
        return Interval(self.mean, self.low_adj, self.high_adj)


def paired_intervals(differences: Array, draws: int = DRAWS) -> Array:
    """Rows mean, low, high, low_adj, high_adj for each column of pairs by effects; a pair without a value has NaN.

    Ends are NaN of fewer than `FEWEST` pairs, and where all differences are the same: there is nothing to tell how far
    the mean may lie off. Those that hold together need one pair more: five have 16 patterns of signs, too few to tell
    the greatest of many |t|.
    """
    found, counts, centred, squares, sound = moments(differences, FEWEST)
    if not sound.any():
        return found
    mean, counts, centred, squares = found[0, sound], counts[sound], centred[:, sound], squares[sound]
    errors = np.sqrt(squares / (counts - 1) / counts)
    alone = stdtrit(counts - 1, UPPER)
    signs = np.random.default_rng(SEED).choice((-1.0, 1.0), size=(draws, len(differences)))
    drawn = signs @ centred / counts
    spread = np.maximum(squares - counts * drawn**2, 0.0) / (counts - 1) / counts
    with np.errstate(divide="ignore", invalid="ignore"):
        greatest = np.nan_to_num(np.abs(drawn) / np.sqrt(spread), nan=0.0, posinf=np.inf).max(axis=1)
    together = np.maximum(np.quantile(greatest, 2 * UPPER - 1, method="higher"), alone)
    together = np.where(np.isinf(together) | (counts <= FEWEST), np.nan, together)
    found[1:, sound] = mean + np.stack([-alone, alone, -together, together]) * errors
    return found


def moments(differences: Array, fewest: int) -> tuple[Array, Array, Array, Array, Array]:
    """Five rows, the means in the first; counts, differences from the means, sums of squares, where there are ends."""
    there = ~np.isnan(differences)
    counts = there.sum(axis=0)
    mean = np.where(there, differences, 0.0).sum(axis=0) / np.maximum(counts, 1)
    centred = np.where(there, differences - mean, 0.0)
    squares = (centred**2).sum(axis=0)
    sound = (counts >= fewest) & (squares > 1e-12 * np.maximum(1.0, mean**2))
    found = np.full((5, differences.shape[1]), np.nan)
    found[0] = np.where(counts > 0, mean, np.nan)
    return found, counts, centred, squares, sound


def known(column: Array) -> Row:
    """One column of intervals as numbers; None for NaN."""
    low, high, low_adj, high_adj = (None if math.isnan(end) else float(end) for end in column[1:])
    return float(column[0]), low, high, low_adj, high_adj


def fewest(enough: Callable[[int], bool], low: int, most: int) -> int | None:
    """The smallest number above `low` that is enough, as all larger ones are; None where `most` is not."""
    high = low + 1
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
