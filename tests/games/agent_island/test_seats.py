"""No seat, name or order bias: under `bot/random` every player wins and leaves equally often.

Without pitches, to which that bot does not listen, games take half the time.
"""

from __future__ import annotations

from collections import Counter

import pytest

from agentsim.engine.simulate import Simulation
from agentsim.games.agent_island.votes import Eliminated
from tests.games.agent_island.island import play

PLAYERS = ("zoe", "B", "agent10", "A", "agent1")
CRITICAL = 18.47  # chi-squared, 4 degrees of freedom, p = 0.001


@pytest.fixture(scope="module", params=[500, pytest.param(2_000, marks=pytest.mark.slow)])
def games(request: pytest.FixtureRequest) -> list[Simulation]:
    return [play(PLAYERS, bot="random", seed=f"seats/{number}", phases=["votes"]) for number in range(request.param)]


def _chi_squared(counts: Counter[str]) -> float:
    expected = counts.total() / len(PLAYERS)
    return sum((counts[player] - expected) ** 2 / expected for player in PLAYERS)


def test_every_seat_wins_equally_often(games: list[Simulation]) -> None:
    wins = Counter(str(played.outcome.winner) for played in games)
    assert wins.total() == len(games)
    assert _chi_squared(wins) < CRITICAL


@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "second", "third"])
def test_every_seat_leaves_equally_often(games: list[Simulation], place: int) -> None:
    assert _chi_squared(Counter(played.events(Eliminated)[place].player for played in games)) < CRITICAL


def test_the_measure_would_see_a_bias() -> None:
    """23 wins in a hundred instead of 20 may be chance, 24 are not."""
    assert _chi_squared(Counter({"zoe": 460, "B": 385, "agent10": 385, "A": 385, "agent1": 385})) < CRITICAL
    assert _chi_squared(Counter({"zoe": 480, "B": 380, "agent10": 380, "A": 380, "agent1": 380})) > CRITICAL
