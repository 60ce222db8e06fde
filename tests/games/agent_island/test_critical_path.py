"""The critical path of a game: its pitches one after another, and one wave for each vote."""

from __future__ import annotations

import pytest

from agentsim import games
from agentsim.engine.simulate import simulate


@pytest.mark.parametrize(("players", "waves"), [(3, 7), (5, 18), (7, 33), (8, 42)])
def test_pitches_are_in_line_and_votes_are_one_wave(players: int, waves: int) -> None:
    """N players: N + ... + 2 pitches and N - 1 votes; for seven 33 latencies, where one after another has 57."""
    seats = [f"p{seat}" for seat in range(players)]
    played = simulate(games.find("agent_island"), {}, seats, bot="random")
    assert len(played.waves) == waves == sum(range(2, players + 1)) + players - 1
