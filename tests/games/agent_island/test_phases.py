"""The optional phases: private sidebars and public quips."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.event import Everyone
from agentsim.errors import IllegalDecision
from agentsim.games.agent_island.sidebars import NOBODY, Answer, Approached, ApproachMade, Paired, Whisper, Whispered
from agentsim.games.agent_island.speeches import Quipped, QuipsMade
from agentsim.games.agent_island.view import IslandRequest
from tests.amounts import examples
from tests.games.agent_island.island import lines, play, requests, told, waves_of

# sidebars

SIDEBARS: dict[str, Any] = {
    "round_overrides": [{"round": 1, "phases": ["sidebars", "votes"]}],
    "rounds": 2,
    "messages_per_exchange": 3,
}


def test_pairs_are_made_in_the_drawn_order_and_talk_in_the_same_waves() -> None:
    approach = {"approach": {"C": ApproachMade(partner="A"), "B": ApproachMade(partner="D")}}
    played = play("ABCDE", answers=approach, chance={"sidebars/1": ["CBEAD"]}, **SIDEBARS)
    assert [event.pair for event in played.events(Paired)] == [("C", "A"), ("B", "D")]
    assert waves_of(played, "approach") == [["C"], ["B"]], "E has nobody left to approach"
    assert waves_of(played, "whisper") == [["C", "B"], ["A", "D"], ["C", "B"]]


def test_partners_speak_in_turn_as_many_messages_as_configured() -> None:
    approach = {
        "approach": {
            "A": ApproachMade(partner="B"),
            "C": ApproachMade(partner=NOBODY),
            "D": ApproachMade(partner=NOBODY),
        }
    }
    played = play("ABCD", answers=approach, chance={"sidebars/1": ["ABCD"]}, **SIDEBARS)
    assert [(event.speaker, event.listener) for event in played.events(Whispered)] == [
        ("A", "B"),
        ("B", "A"),
        ("A", "B"),
    ]
    whispers = requests(played, Whisper)
    assert [(request.turn, request.turns, request.partner) for request in whispers] == [
        (1, 3, "B"),
        (2, 3, "A"),
        (3, 3, "B"),
    ]
    assert [len(lines(request.view, "privately to")) for request in whispers] == [0, 1, 2]


def test_an_exchange_is_heard_by_the_two_alone() -> None:
    played = play("ABCDE", **SIDEBARS)
    assert told(played, Whispered)
    for entry in told(played, Whispered):
        assert set(entry.to) == {entry.event.speaker, entry.event.listener}
    pairs = {event.speaker: event.listener for event in played.events(Whispered)}
    for request in requests(played, IslandRequest):
        for line in lines(request.view, "privately to"):
            assert request.player in {line.sender, pairs[line.sender]}


def test_who_is_approached_may_decline_and_is_still_free() -> None:
    script = {
        "approach": {"A": ApproachMade(partner="B"), "C": ApproachMade(partner="B"), "D": ApproachMade(partner="A")},
        "answer_approach": {"B": [Answer(accept=False), Answer(accept=True)]},
    }
    played = play("ABCD", answers=script, chance={"sidebars/1": ["ACDB"]}, **SIDEBARS)
    assert [event.pair for event in played.events(Paired)] == [("C", "B"), ("D", "A")]
    first = told(played, Approached)[0]
    assert (first.event.accepted, first.to) == (False, ("A", "B")), "a refusal stays between the two"


def test_a_player_may_approach_nobody_and_only_it_knows() -> None:
    played = play("ABC", answers={"approach": ApproachMade(partner=NOBODY)}, **SIDEBARS)
    assert played.events(Paired) == []
    assert played.events(Whispered) == []
    assert sorted(entry.to for entry in told(played, Approached)) == [("A",), ("B",), ("C",)]


def test_only_free_players_can_be_approached() -> None:
    with pytest.raises(IllegalDecision):
        play(
            "ABCD",
            answers={"approach": {"A": ApproachMade(partner="B"), "C": ApproachMade(partner="B")}},
            chance={"sidebars/1": ["ACBD"]},
            **SIDEBARS,
        )


@given(st.integers(0, 10_000), st.integers(3, 7))
@examples(30)
def test_pairs_are_disjoint_and_complete_when_everybody_accepts(seed: int, count: int) -> None:
    pairs = [event.pair for event in play("ABCDEFG"[:count], seed=seed, **SIDEBARS).events(Paired)]
    members = [player for pair in pairs for player in pair]
    assert len(members) == len(set(members))
    assert len(pairs) == count // 2


def test_no_pair_hears_another_and_a_wave_knows_nothing_of_itself() -> None:
    played = play("ABCD", **SIDEBARS)
    for request in requests(played, Whisper):
        heard = lines(request.view, "privately to")
        assert len(heard) == request.turn - 1
        assert {line.sender for line in heard} <= {request.player, request.partner}


# quips


def test_quips_are_one_wave_one_line_about_every_other_and_public() -> None:
    played = play("ABCD", phases=["quips", "votes"], rounds=2, chance={"quips/1": ["DBAC"]})
    assert waves_of(played, "quips")[0] == ["D", "B", "A", "C"]
    first = [entry for entry in told(played, Quipped) if entry.round == 1]
    assert all(entry.to is Everyone and entry.by == entry.event.player for entry in first)
    assert [entry.event.player for entry in first[::3]] == ["D", "B", "A", "C"]
    assert Counter((entry.event.player, entry.event.about) for entry in first) == Counter(
        (player, about) for player in "ABCD" for about in "ABCD" if player != about
    )


def test_a_missing_quip_is_silence() -> None:
    script = {"quips": {"B": [QuipsMade(quips={"A": "about A"}), QuipsMade(quips={})]}}
    played = play("ABC", answers=script, phases=["quips", "votes"], rounds=2)
    texts = {(event.player, event.about): event.text for event in played.events(Quipped)}
    assert texts["B", "A"] == "about A"
    assert texts["B", "C"] == ""
