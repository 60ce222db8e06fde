"""Strengths across games: the draws have the posterior that integration gives, and the prior of ratings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import beta, expit, polygamma

from agentsim.analysis.across import drawn
from agentsim.analysis.inference import stages
from benchmarks.inference_worlds import Array


def integrated(won: list[tuple[int, int]]) -> Array:
    """Means and standard deviations of two labels' difference: their own, that in the first game, and the spread.

    In a game the difference is their own plus the logarithm of a ratio of two gamma distributed numbers.
    """
    shape = np.geomspace(0.2, 102.0, 60)[:, None, None]
    own, added = np.linspace(-10, 10, 81)[:, None], np.linspace(-25, 25, 401)
    spread = np.sqrt(polygamma(1, shape))
    weight = np.exp(-(spread**2) / 2) * np.abs(np.gradient(spread, axis=0)) * expit(own) * expit(-own)
    ratio = (expit(added) * expit(-added)) ** shape / beta(shape, shape)
    told = [ratio * expit(own + added) ** wins * expit(-own - added) ** losses for wins, losses in won]
    for each in told:
        weight = weight * each.sum(axis=2, keepdims=True)
    inside = weight * told[0] / told[0].sum(axis=2, keepdims=True)
    found = []
    for value in (own, own + added, spread):
        mean = (inside * value).sum() / inside.sum()
        found.append((mean, np.sqrt((inside * (value - mean) ** 2).sum() / inside.sum())))
    return np.array(found)


def test_the_draws_have_the_posterior_that_integration_gives() -> None:
    won = [(9, 3), (2, 1)]
    games = [[stages([1.0, 2.0], [0, 1], 2)] * wins + [stages([1.0, 2.0], [1, 0], 2)] * losses for wins, losses in won]
    by_game, own, spread = drawn(games, 2, chains=100)
    for draws, exact in zip((own @ [1, -1], by_game[:, 0] @ [1, -1], spread), integrated(won), strict=True):
        assert (draws.mean(), draws.std()) == pytest.approx(tuple(exact), abs=0.05)


def test_before_any_game_labels_of_several_games_have_the_prior_of_ratings() -> None:
    _, own, _ = drawn([[], []], 4)
    shares = np.exp(own) / np.exp(own).sum(axis=1, keepdims=True)
    largest = (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4  # of four parts, where each division is as likely
    assert (shares.max(axis=1).mean(), shares.min(axis=1).mean()) == pytest.approx((largest, 1 / 16), abs=0.02)
