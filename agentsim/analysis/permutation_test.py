"""Permutation test: could the labels be mere names? Mean ranks beside those with labels dealt anew within games."""

from __future__ import annotations

import numpy as np

from agentsim.analysis.intervals import Array, Whole

__all__ = ["DEALS", "dealt_p"]

DEALS = 2000


def dealt_p(ranks: Array, labels: Whole, size: int, seed: int, deals: int = DEALS) -> float:
    """The part of `deals` random deals (and the true one) in which mean ranks lie at least as far apart.

    `ranks` and `labels` are games by players; where a game has fewer, its row ends in NaN and -1. How far apart is the
    sum of the squared distances from the mean rank of all, each label's weighed with its entries.
    """
    generator = np.random.default_rng(seed)
    there = labels >= 0
    centred = np.where(there, ranks - np.nanmean(np.where(there, ranks, np.nan), axis=1, keepdims=True), 0.0)
    kind = np.where(there, labels, size).astype(np.int64)
    counts = np.bincount(kind.ravel(), minlength=size + 1)[:size].astype(np.float64)
    true = _apart(centred[None], kind, counts, size)[0]
    found, left = 0, deals
    step = max(1, 2_000_000 // max(1, ranks.size))
    while left > 0:
        now = min(step, left)
        keys = np.where(there, generator.random((now, *ranks.shape)), 2.0)  # who is not there stays where it is
        dealt = np.take_along_axis(np.broadcast_to(centred, keys.shape), keys.argsort(axis=2), axis=2)
        found += int((_apart(dealt, kind, counts, size) >= true - 1e-9).sum())
        left -= now
    return (found + 1) / (deals + 1)


def _apart(dealt: Array, kind: Whole, counts: Array, size: int) -> Array:
    """For each deal (deals by games by players) how far the labels' mean ranks lie apart."""
    flat, kinds = dealt.reshape(len(dealt), -1), kind.ravel()
    sums = np.stack([flat[:, kinds == label].sum(axis=1) for label in range(size)], axis=1)
    apart: Array = (sums**2 / np.maximum(counts, 1.0)).sum(axis=1)
    return apart
