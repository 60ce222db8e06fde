"""intervals: 95% intervals of means per game, by drawing games again; and the quantiles that they need.

Games are drawn whole, since the ranks within one depend on each other; those of one seed together, since they share
their luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEWEST", "Array", "Whole", "blocks", "bootstrap", "ratio_intervals", "student"]

Array: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
DRAWS = 2000
FEWEST = 5
"""Of fewer independent games drawing says nothing: no mean of theirs lies outside of what they were, so of three games
an interval would hold the truth seven times in ten."""


def student(probability: float, freedom: int) -> float:
    """A quantile of Student's t by its expansion in the normal's (Abramowitz and Stegun 26.7.5); good from 3 on."""
    z, n = NormalDist().inv_cdf(probability), float(max(1, freedom))
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )


def bootstrap(games: int, seed: int, draws: int = DRAWS) -> Array:
    """How often each game is in each drawing: `draws` rows of `games` counts."""
    generator = np.random.default_rng(seed)
    return generator.multinomial(games, np.full(games, 1 / games), size=draws).astype(np.float64)


def blocks(seeds: Sequence[int]) -> Array:
    """What puts games of one seed together: blocks by games, to be multiplied with sums by games.

    Each game by itself where there are fewer than `FEWEST` seeds: then what is said is said of these seeds alone.
    """
    known = {seed: number for number, seed in enumerate(dict.fromkeys(seeds))}
    if len(known) < FEWEST:
        return np.eye(len(seeds))
    return np.eye(len(known))[:, [known[seed] for seed in seeds]]


def ratio_intervals(sums: Array, counts: Array, weights: Array, level: float = 0.95) -> Array:
    """(low, high) for each column of games by labels: of the ratio of the sums to the counts over all games.

    The percentiles are moved outwards as far as Student's interval is wider than the normal's without the correction
    of the variance, or few games would give too narrow ones (T. Hesterberg, What teachers should know about the
    bootstrap, 2015, section 5.3). NaN for a label that is in fewer than `FEWEST` games.
    """
    games = len(sums)
    if games < FEWEST:
        return np.full((sums.shape[1], 2), np.nan)
    upper = student(0.5 + level / 2, games - 1) * (games / (games - 1)) ** 0.5
    tail = NormalDist().cdf(-upper)
    drawn_sums, drawn_counts = weights @ sums, weights @ counts
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = np.where(drawn_counts > 0, drawn_sums / drawn_counts, np.nan)
    found = np.full((sums.shape[1], 2), np.nan)
    enough = ((counts > 0).sum(axis=0) >= FEWEST) & (np.isnan(drawn).mean(axis=0) < 0.5)
    if enough.any():
        found[enough] = np.nanquantile(drawn[:, enough], [tail, 1 - tail], axis=0).T
    return found
