"""Who is told what: roles, the pack, findings, protections, whispers and the votes of the night stay secret."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.games.werewolf.words import Dealt, Inspected, Protected, Said, Voted
from tests.amounts import each_row
from tests.games.werewolf.village import VILLAGE, heard, play

ANSWERS = {
    "whisper": {"A": ["kill E"], "B": ["yes, E"]},
    "hunt": {"A": ["E"], "B": ["E"]},
    "inspect": {"C": ["A"]},
    "protect": {"D": ["F"]},
}


@each_row("player", VILLAGE)
def test_a_player_is_told_its_role_and_only_a_werewolf_its_fellows(player: str) -> None:
    (dealt,) = heard(play(), player, Dealt)
    assert (dealt.player, dealt.role[0], dealt.pack) == (player, VILLAGE[player], ("A", "B") if player in "AB" else ())


@pytest.mark.parametrize(
    ("event", "concerned"),
    [(Inspected, "C"), (Protected, "D"), (Said, "AB"), (Voted, "AB")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_the_secrets_of_a_night_are_told_only_to_whom_they_concern(event: type[Any], concerned: str) -> None:
    log = play(ANSWERS, speeches=0).log
    morning = next(index for index, told in enumerate(log) if told.event.kind == "died")
    night = [told.to for told in log[:morning] if isinstance(told.event, event)]
    assert set(night) == {tuple(concerned)}


def test_a_dead_werewolf_hears_no_more_whispers() -> None:
    seats = {**VILLAGE, "G": "w", "H": "v", "I": "v"}
    played = play(
        {"vote": {"C": ["A"], "D": ["A"]}, "whisper": {"B": ["one", "two"], "G": ["one", "two"]}}, seats, max_days=2
    )
    assert [event.text for event in heard(played, "A", Said) if event.text] == ["one", "one"]


@pytest.mark.parametrize(
    ("player", "knows"), [("A", "You are a werewolf. The werewolves are A and B."), ("C", "A is a werewolf"), ("E", "")]
)
def test_a_prompt_holds_what_its_player_knows_and_no_more(player: str, knows: str) -> None:
    played = play({"inspect": {"C": ["A"]}, "whisper": {"A": ["kill E"]}})
    prompt = [ask.request for ask in played.asks(player)][-1]
    text = prompt.prompt().text()
    assert knows in text
    whole = json.dumps(prompt.to_json())
    assert ("kill E" in whole) == (player in "AB")
    assert ("A is a werewolf" in text) == (player == "C")
    assert ("You are a werewolf" in text) == (player == "A")


def test_what_others_are_never_changes_what_a_villager_is_asked() -> None:
    """The same game with other roles for the others, as long as nothing comes of it."""
    one = play(speeches=1, chance={"speeches": [list("ABCDEFG")]})
    other = play(
        seats={"A": "s", "B": "d", "C": "w", "D": "w", "E": "v", "F": "v", "G": "v"},
        chance={"speeches": [list("ABCDEFG")]},
    )
    asks = [[json.dumps(ask.request.to_json()) for ask in played.asks("E")] for played in (one, other)]
    assert asks[0] == asks[1]
