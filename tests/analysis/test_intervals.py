"""The cluster jackknife beside leaving out each cluster by hand, and sign flips beside all patterns of signs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import stdtrit

from agentsim.analysis.intervals import FEWEST, jackknife, leave_one_out, ratio_intervals, sign_flip_p


def test_the_jackknife_leaves_out_each_cluster_in_turn() -> None:
    generator = np.random.default_rng(1)
    sums, counts = generator.normal(size=(9, 2)), generator.integers(1, 5, size=(9, 2)).astype(np.float64)
    value, moved = leave_one_out(sums, counts)
    without = np.array(
        [np.delete(sums, row, 0).sum(axis=0) / np.delete(counts, row, 0).sum(axis=0) for row in range(9)]
    )
    assert value == pytest.approx(sums.sum(axis=0) / counts.sum(axis=0))
    assert moved == pytest.approx(without - value)
    even = counts.sum(axis=0) ** 2 / (counts**2).sum(axis=0)
    reach = stdtrit(even - 1, 0.975) * np.sqrt((even - 1) / even * ((without - value) ** 2).sum(axis=0))
    found = jackknife(value, moved, counts)
    assert found[:3] == pytest.approx(np.stack([value, value - reach, value + reach]))
    assert (found[3] <= found[1]).all()
    assert (found[4] >= found[2]).all()


def test_a_cluster_that_says_nothing_of_a_label_is_none_of_its_clusters() -> None:
    generator = np.random.default_rng(2)
    sums, counts = generator.normal(size=(FEWEST + 3, 2)), np.ones((FEWEST + 3, 2))
    sums[: FEWEST - 1, 1] = counts[: FEWEST - 1, 1] = 0.0
    ends = ratio_intervals(sums, counts)
    assert np.isfinite(ends[0]).all()
    assert np.isnan(ends[1]).all()


def test_sign_flips_are_the_share_of_patterns_that_go_as_far() -> None:
    scores = np.random.default_rng(3).normal(0.4, 1.0, size=(8, 3))
    scale = np.sqrt((scores**2).sum(axis=0))
    patterns = np.abs(np.array(list(product((-1, 1), repeat=8))) @ scores / scale).max(axis=1)
    exact = (patterns >= np.abs(scores.sum(axis=0) / scale).max() - 1e-9).mean()
    assert sign_flip_p(scores, draws=20_000) == pytest.approx(exact, abs=0.015)
    assert sign_flip_p(scores[: FEWEST + 1]) is not None
    assert sign_flip_p(scores[:FEWEST]) is None
    assert sign_flip_p(np.vstack([scores[:FEWEST], np.zeros((9, 3))])) is None, "a cluster without a score is none"
