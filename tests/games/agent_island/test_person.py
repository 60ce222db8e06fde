"""A person on the island: every question at a real terminal, and words that cannot be left out asked for at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsim.engine.play import Ask
from tests.contract.harness import on_bots
from tests.players.keyboard import played
from tests.players.test_human import Screen

SCENARIO = """
game = "agent_island"
seed = 9
[defaults]
model = "bot/grudge"
[game_config]
memory = "summary"
phases = ["pitches", "sidebars", "quips", "votes"]
quip_chars = 20
[[players]]
id = "Ann"
model = "human"
[[players]]
id = "Bea"
[[players]]
id = "Cyd"
[[players]]
id = "Dan"
"""
ANSWERS = {
    r"text: $": ("?", "", "Some words."),
    r"partner \[[^]]*\]: $": ("Ann", "", "dan", "Nobody"),
    r"accept \[[^]]*\]: $": ("perhaps", "yes"),
    r"(?:Bea|Cyd|Dan): $": ("", "far too many words for a quip", "A quip."),
    r"explanation \[[^]]*\]: $": ("because", ""),
    r"vote \[[^]]*\]: $": ("Ann", "", "bea", "cyd", "dan"),
}


def test_a_person_is_asked_everything_at_a_real_terminal_and_told_every_mistake(tmp_path: Path) -> None:
    game = played(tmp_path, SCENARIO, ANSWERS, columns=40)
    for told in (
        "An empty line says nothing. Some words, please.",
        "That is 29 characters, and 20 fit.",
        "One of these, please: ",
        "Yes or no, please.",
    ):
        assert told in game.screen, told
    assert game.screen.count("You are playing Agent Island") == 2, (
        "once at the beginning, and once for the question mark"
    )
    mine = game.decisions("Ann")
    kinds = {"pitch", "approach", "answer_approach", "whisper", "quips", "vote", "summary"}
    assert {record["kind"] for record in mine} == kinds
    assert {len(record["tries"]) for record in mine} == {1}, "a mistake is a person's own affair, not an attempt"


@pytest.mark.parametrize("kind", ["pitch", "whisper", "summary", "quips"])
def test_words_that_cannot_be_left_out_are_asked_for_one_by_one(kind: str) -> None:
    request = next(ask.request for ask in on_bots("agent_island", "random").asks() if ask.request.kind == kind)
    fields = list(request.schema()["properties"])
    screen = Screen("", *("Words.",) * len(fields), persona="")
    assert screen.answer(Ask(1, 1, 0, 1, request)) == dict.fromkeys(fields, "Words.")
    assert screen.text.count("An empty line says nothing.") == 1
    assert "JSON object with" not in screen.text
