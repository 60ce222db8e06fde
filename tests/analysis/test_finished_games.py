"""What is compared of a finished game."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsim.analysis.conditions import Condition
from agentsim.analysis.conditions import measured as means
from agentsim.analysis.finished_games import GameRecord, Measures, game_record
from agentsim.records.load import load_history

GOLDEN = Path(__file__).parents[1] / "golden"
PLACES = {"rank", "win"}


def record(name: str) -> GameRecord:
    """A golden history's; `society` ranks no agent, `agent_island` every player."""
    found = game_record(name, load_history(GOLDEN / f"{name}.json"))
    assert found is not None
    return found


@pytest.mark.parametrize(("name", "ranked"), [("society", False), ("agent_island", True)])
def test_where_no_player_is_ranked_there_are_no_ranks_and_wins_to_compare(name: str, ranked: bool) -> None:
    game = record(name)
    measured = {measure for measure, _ in Measures.of(game).results}
    assert game.ranked == ranked
    assert measured & PLACES == (PLACES if ranked else set())
    assert measured - PLACES, "scores are compared in either case"
    compared = {each.measure for each in means([Condition("", {}, (game, game))])}
    assert compared & PLACES == (PLACES if ranked else set())
