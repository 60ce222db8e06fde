"""The rejections of actions at an agent's turn."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.games.society.talk import Renamed
from tests.amounts import each_row
from tests.games.society.society import TERMS, held, law, play, rejections, request


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"start_food": 0.99}, "work needs 1 food, and you hold 0.99"),
        ({"start_energy": 1.49}, "it takes 1.5 energy, and you hold 1.49"),
    ],
)
def test_work_needs_food_and_energy(config: dict[str, Any], reason: str) -> None:
    assert rejections(play({1: ["work farm 3"]}, **config)) == [reason]


@each_row(
    "action, reason",
    [
        ("trade 2 food 10.01", "you hold 10 food, not 10.01"),
        ("trade 1 food 1", "that is yourself"),
        ("direct_message 1 hi", "that is yourself"),
        ("forum_reply 1 hi", "there is no post 1"),
        ("vote 1 yes", "there is no such proposal"),
        ("contribute 1 1", "project 1 needs no materials"),
        (law("L", TERMS["farm"], TERMS["farm"], type_="infrastructure"), "an infrastructure proposal has at most one "),
        (law("L", TERMS["tax"], type_="allocation"), "a proposal of type allocation cannot have the term tax"),
        (law("L", TERMS["farm"]), "a proposal of type law cannot have the term build"),
        (law("L", TERMS["tax"], type_="other"), "a proposal of type other cannot have the term tax"),
        (law("L", {"kind": "work_minimum", "hours": 9}), "no agent can work more than 8 hours a day"),
        (law("L", {"kind": "voting_rule", "threshold": 50, "quorum": 5}), "there are only 4 agents to vote"),
        (
            law("L", {"kind": "allocation", "resource": "food", "amount": 1, "agents": [5]}, type_="allocation"),
            "there is no agent #5",
        ),
    ],
)
def test_an_action_that_cannot_be_is_rejected_without_penalty(action: Any, reason: str) -> None:
    played = play({1: [action]}, days=2)
    (given,) = rejections(played)
    assert given.startswith(reason)
    assert held(played, 1) == (8, 8, 5)
    assert given in json.loads(request(played, 1).you.memory.news()[0].line)["fact"]
    assert request(played, 2).you.memory.news() == []


def test_a_name_is_one_line_and_known_to_all() -> None:
    played = play({1: [{"action": "set_name", "display_name": " Ada\n the  First "}]}, days=2)
    assert [event.name for event in played.events(Renamed)] == ["Ada the First"]
    assert request(played, 1).you.name == "Ada the First"
