"""The `[game_config]` table: phases and overrides, and what makes no game."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from agentsim.errors import ScenarioError
from agentsim.games.agent_island import GAME
from agentsim.games.agent_island.config import AgentIslandConfig
from agentsim.games.agent_island.speeches import Pitch, Pitched
from tests.amounts import each_row
from tests.games.agent_island.island import play, requests, told

FOUR = {"A": "D C", "B": "D C", "C": "D B B", "D": "A B"}
"""D leaves, then C, and B wins."""


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ([{"round": 2, "phases": ["votes"]}], {1: True, 2: False, 3: True}),
        ([{"round": "final", "phases": ["votes"]}], {1: True, 2: True, 3: False}),
        ([{"round": 1, "phases": ["votes"]}, {"round": "final", "phases": ["votes"]}], {1: False, 2: True, 3: False}),
        ([{"round": 3, "phases": ["votes"]}, {"round": "final", "phases": ["pitches", "votes"]}], {3: True}),
    ],
    ids=["by number", "final", "two", "final wins over the number"],
)
def test_overrides_change_the_phases_of_a_round(overrides: list[dict[str, Any]], expected: dict[int, bool]) -> None:
    played = play("ABCD", FOUR, round_overrides=overrides)
    pitched = {entry.round for entry in told(played, Pitched)}
    assert {index: index in pitched for index in expected} == expected


def test_overrides_change_lengths_and_leave_the_rest_alone() -> None:
    played = play("ABC", pitch_chars=100, round_overrides=[{"round": "final", "pitch_chars": 50}])
    limits = {(request.view.round, request.limit) for request in requests(played, Pitch)}
    assert limits == {(1, 100), (2, 50)}


def test_phases_run_in_the_order_given() -> None:
    kinds = [entry.event.kind for entry in play("ABC", phases=["quips", "votes", "pitches"]).log if entry.round == 1]
    assert [kind for kind in dict.fromkeys(kinds) if kind in {"quip", "vote", "pitch"}] == ["quip", "vote", "pitch"]
    assert kinds.count("pitch") == 2, "who has left does not pitch"


@each_row(
    "players, config, key, words",
    [
        ("AB", {}, "players", "found 2 "),
        ("", {}, "players", "found 0 "),
        (["A", "B", "nobody"], {}, "players", "nobody"),
        (["A", "B", "Nobody"], {}, "players", "nobody"),
        ("ABC", {"rounds": 3}, "game_config.rounds", "3 players can play 2 rounds at most, found 3"),
        ("ABC", {"round_overrides": ({"round": 3},)}, "game_config.round_overrides", "no round 3 with 3 players"),
        ("ABCDE", {"rounds": 3, "round_overrides": ({"round": 4},)}, "game_config.round_overrides", "no round 4"),
    ],
)
def test_a_game_that_cannot_be_is_refused_with_the_key(players: Any, config: Any, key: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words) as caught:
        GAME.admit(AgentIslandConfig.from_toml(config), list(players))
    assert caught.value.key == key


@pytest.mark.parametrize(
    "config",
    [{}, {"rounds": 2}, {"rounds": 4}, {"round_overrides": [{"round": "final"}, {"round": 4}]}],
    ids=["default", "least rounds", "most rounds", "overrides"],
)
def test_a_game_that_can_be_is_admitted(config: dict[str, Any]) -> None:
    GAME.admit(AgentIslandConfig.from_toml(config), list("ABCDE"))


@each_row(
    "config",
    [
        {"phases": ["pitches"]},
        {"phases": ["votes", "votes"]},
        {"phases": ["dance", "votes"]},
        {"rounds": 1},
        {"rounds": "many"},
        {"rounds": "3"},
        {"pitch_chars": 19},
        {"messages_per_exchange": 0},
        {"memory": "none"},
        {"tempo": 1},
        {"round_overrides": [{"round": 0}]},
        {"round_overrides": [{"round": "last"}]},
        {"round_overrides": [{"round": 1}, {"round": 1}]},
        {"round_overrides": [{"round": 1, "vote": "poll", "phases": ["pitches"]}]},
        {"quips_by": ["A", "A"]},
        {"quips_by": []},
        {"round_overrides": [{"round": 1, "quips_by": ["A", "B", "A"]}]},
        {"round_overrides": [{"round": 1, "memory": "summary"}]},
    ],
)
def test_a_config_that_makes_no_sense_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AgentIslandConfig.from_toml(config)
