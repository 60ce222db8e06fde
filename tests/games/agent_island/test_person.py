"""A person on the island: every question at a real terminal, and words that cannot be left out on a form."""

from __future__ import annotations

import re

import pytest

from tests.contract.harness import on_bots
from tests.players.filled import Filled
from tests.players.keyboard import Played, played

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
    r'"text":': ("?", "Some words."),
    r'"partner":': ("Ann", "dan", "Nobody"),
    r'"accept":': ("perhaps", "yes"),
    r'Answer: \{"(\w+)": "<words[^"]*"\}': (r"\1: A quip.",),
    r'Answer: \{"(\w+)": "<words[^"]*", "(\w+)": "<words[^"]*"\}': (r"\1: A quip.\n\2: Another.",),
    r'Answer: \{"Bea": "<words[^"]*", "Cyd": .*, "Dan":': (
        "Bea: far too many words for a quip",
        "Bea: A quip.\nCyd: A quip.\nDan: A quip.",
    ),
    r'"vote": "<(\w+)': ("vote: Ann", r"explanation: because\nvote: \1", r"\1"),
}


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return played(tmp_path_factory.mktemp("game"), SCENARIO, ANSWERS, columns=40)


def test_a_person_is_asked_everything_at_a_real_terminal_and_told_every_mistake(game: Played) -> None:
    for told in ("That will not do: There is no decision in the reply.", "'Ann' cannot be chosen."):
        assert told in game.screen, told
    assert game.screen.count("You are playing Agent Island") == 2, (
        "once at the beginning, and once for the question mark"
    )
    kinds = {"pitch", "approach", "answer_approach", "whisper", "quips", "vote", "summary"}
    assert {record["kind"] for record in game.decisions("Ann")} == kinds


def test_the_screen_of_a_person_holds_what_is_theirs_and_no_secret_of_the_others(game: Played) -> None:
    screen = re.sub(r"[│\s]+", " ", game.screen)
    private: dict[bool, set[str]] = {True: set(), False: set()}
    for event in (each for part in game.history["rounds"] for each in part["events"]):
        if event["visibility"] != "all" and len(event["content"]) > 40:
            private["Ann" in event["visibility"]].add(" ".join(event["content"].split()))
    assert min(map(len, private.values())) >= 2
    assert not [words for words in private[False] if words in screen]
    assert [words for words in private[True] if words in screen]


@pytest.mark.parametrize("kind", ["pitch", "whisper", "summary", "quips"])
def test_words_that_cannot_be_left_out_are_asked_for_one_by_one(kind: str) -> None:
    request = next(ask.request for ask in on_bots("agent_island", "random").asks() if ask.request.kind == kind)
    fields = list(request.schema()["properties"])
    form = Filled(request, "", *("Words.",) * len(fields))
    assert form.answer() == dict.fromkeys(fields, "Words.")
    assert form.text.count("An empty answer says nothing.") == 1
