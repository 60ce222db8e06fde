"""A random policy needs no rule of a game: what it answers is legal wherever a legal answer can be drawn."""

from __future__ import annotations

import pytest

from agentsim.engine.random_policy import random_decision
from tests.contract.harness import GAMES, on_bots


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_game_can_be_played_by_drawn_answers(name: str, seed: int) -> None:
    played = on_bots(name, random_decision, seed=seed)
    assert played.outcome.standings
    assert len({decision.model_dump_json() for _, decisions in played.waves for decision in decisions}) > 5
