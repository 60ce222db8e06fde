"""Confidence sequences: intervals that hold at all times together, for a batch that may end at any of them."""

from __future__ import annotations

import math

import numpy as np

from agentsim.analysis.inference import Array
from agentsim.analysis.paired import moments

ALPHA = 0.05
TIGHTEST = 50
"""The number of blocks at which a confidence sequence is narrowest for its number."""
FEWEST_SEEN = 20
"""Fewer blocks give no confidence sequence, which is an asymptotic one."""


def confidence_sequence(differences: Array, alpha: float = ALPHA) -> Array:
    """Rows mean, low, high, low_adj, high_adj for each column of blocks by effects; NaN stands for a missing block.

    After t blocks the interval of a mean with standard deviation s is +- s sqrt(2 (t r^2 + 1) / (t^2 r^2) log(sqrt(t
    r^2 + 1) / alpha)), an asymptotic confidence sequence (I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy, A.
    Ramdas, Time-uniform central limit theory and asymptotic confidence sequences, Annals of Statistics 52, 2024):
    whenever one looks, and whatever makes one stop. r makes it narrowest after `TIGHTEST` blocks. Those that hold
    together have alpha divided by their number (Bonferroni). NaN of fewer than `FEWEST_SEEN` blocks, and where all
    blocks are the same.
    """
    found, counts, _, squares, sound = moments(differences, FEWEST_SEEN)
    counts = np.maximum(counts, 1)
    sd = np.sqrt(squares / np.maximum(counts - 1, 1))
    for row, level in ((1, alpha), (3, alpha / max(1, len(sd)))):
        reach = sd * sequence_factor(counts, level)
        found[row : row + 2] = np.where(sound, [found[0] - reach, found[0] + reach], np.nan)
    return found


def sequence_factor(counts: Array, alpha: float = ALPHA) -> Array:
    """Half the width of a confidence sequence after so many blocks, in standard deviations."""
    chance = -2 * math.log(alpha)
    mixed = counts * (chance + math.log(chance + 1)) / TIGHTEST
    found: Array = np.sqrt(2 * (mixed + 1) / (counts * mixed) * np.log(np.sqrt(mixed + 1) / alpha))
    return found
