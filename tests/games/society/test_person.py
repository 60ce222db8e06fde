"""A person among the agents: the action is asked for first, then its fields and no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.play import Ask
from agentsim.errors import Interrupted
from agentsim.games.society.requests import Act, Acted
from tests.games.society.society import TERMS, acted, law, play, request
from tests.players.keyboard import played
from tests.players.test_human import Screen

ASKED = request(play(agents=3, note_chars=0), 1)
NOTING = request(play(agents=3), 1)


def typed(*lines: str, asked: Act = ASKED) -> tuple[Acted, str]:
    """The decision that these lines come to, and the screen. Every line is needed."""
    screen = Screen(*lines, persona="")
    answer = screen.answer(Ask(index=1, wave=1, place=0, nth=1, request=asked))
    decision = asked.parse(json.dumps(answer)).decision
    assert not screen.player.terminal._source.read(), "what was typed and never asked for"  # type: ignore[union-attr] # there is a source
    return decision, screen.text


@pytest.mark.parametrize(
    ("lines", "action"),
    [
        (("forum_post", "Hello"), "post Hello"),
        (("Direct_Message", "2", "Hello"), "direct_message 2 Hello"),
        (("work", "farm", "3"), "work farm 3"),
        (("trade", "0", "food", "2.5"), "trade 0 food 2.5"),
        (("idle", ""), "idle"),
        (("create_proposal", "Ten", "About Ten.", "law", "none"), law("Ten")),
        (("create_proposal", "Ten", "About Ten.", "law", "tax", "food", "10", "none"), law("Ten", TERMS["tax"])),
        (
            ("create_proposal", "Gifts", "About Gifts.", "allocation", "allocation", "food", "2", "1, 3", "none"),
            law("Gifts", {"kind": "allocation", "resource": "food", "amount": 2, "agents": [1, 3]}, type_="allocation"),
        ),
    ],
)
def test_an_action_is_typed_field_by_field(lines: tuple[str, ...], action: Any) -> None:
    assert typed(*lines)[0] == acted(action)


def test_a_note_is_asked_for_last_and_may_be_left_out() -> None:
    assert typed("work", "farm", "3", "Farm first.", asked=NOTING)[0].note == "Farm first."
    assert typed("work", "farm", "3", "", asked=NOTING)[0] == acted("work farm 3")


def test_the_screen_offers_the_actions_and_then_the_fields_of_one() -> None:
    _, screen = typed("work", "farm", "3")
    asked = " ".join(screen[screen.rindex("action [") :].split())
    assert asked.startswith("action [forum_post / forum_reply / direct_message / create_proposal / vote / work / ")
    assert asked.endswith("set_name / idle]: work type [farm / generate / gather]: hours [1 to 8]:")


@pytest.mark.parametrize(
    ("type_", "lines", "kinds"),
    [
        ("law", ["none"], "tax / dividend / allocation / work_minimum / repeal / voting_rule / none"),
        ("allocation", ["tax", "none"], "allocation / none"),
        ("infrastructure", ["none", "build", "farm"], "build"),
        ("other", [], ""),
    ],
)
def test_only_the_terms_that_a_type_can_carry_are_asked_for(type_: str, lines: list[str], kinds: str) -> None:
    decision, screen = typed("create_proposal", "A", "About A.", type_, *lines)
    assert decision == acted(law("A", *([TERMS["farm"]] if kinds == "build" else []), type_=type_))
    asked = " ".join(screen[screen.rindex("proposal type") :].split())
    assert (f"terms: kind [{kinds}]:" in asked) if kinds else ("terms" not in asked)


def test_the_terms_of_a_law_are_asked_within_what_the_society_allows() -> None:
    lines = (
        "work_minimum",
        "9",
        "8",
        "voting_rule",
        "60",
        "4",
        "3",
        "allocation",
        "food",
        "1",
        "4",
        "2",
        "repeal",
        "x",
    )
    _, screen = typed("create_proposal", "A", "b", "law", *lines, "repeal", "x", "1")
    screen = " ".join(screen.split())
    for words in ("hours [1 to 8]", "quorum [0 to 3]", "amount [0.01 or more]", "law [none]", "from 1 to 3, please"):
        assert words in screen, words


def test_an_amount_that_is_no_number_in_plain_digits_is_asked_again_and_nothing_else() -> None:
    decision, screen = typed("trade", "2", "food", "much", "1e1", "-1", "0", "2.5")
    assert decision == acted("trade 2 food 2.5")
    assert screen.count("A number in plain digits from 0.01, such as 2.5, please.") == 4


def test_what_there_is_to_choose_from_stands_with_the_question() -> None:
    first = law("One")
    played = play(
        {1: [first, "work gather 3", "idle"], 2: ["post hello"]}, agents=3, days=1, actions_per_day=3, note_chars=0
    )
    screen = Screen("vote", "x", "1", "no", "because", persona="")
    answer = screen.answer(Ask(index=1, wave=1, place=0, nth=1, request=request(played, 1, 2)))
    assert answer["action"] == {"action": "vote", "proposal_id": 1, "vote": "no", "reasoning": "because"}
    assert "proposal id [1]: A whole number, please: 1." in screen.text
    hints = {"forum_reply": "parent message id [1]", "work farm": "hours [1 to 5]", "contribute": "project id [none]"}
    hints |= {"trade": "recipient agent id [0 for the common pool, or 1 to 3]", "direct_message": "id [1 to 3]"}
    for action, hint in hints.items():
        screen = Screen(*action.split(), persona="")
        with pytest.raises(Interrupted):
            screen.answer(Ask(index=1, wave=1, place=0, nth=1, request=request(played, 1, 2)))
        assert hint in screen.text


SCENARIO = """\
game = "society"
seed = 4
[game_config]
days = 1
note_chars = 0
[[players]]
id = "me"
model = "human"
[[players]]
id = "a"
count = 2
model = "bot/idle"
"""
ANSWERS: dict[str, list[str]] = {
    r"set_name / idle\]: ": ["dance", "work", "trade", "?", "idle"],
    r"work type \[farm / generate / gather\]: ": ["farm", "<", "farm"],
    r"hours \[1 to 8\]: ": ["9", "4"],
    r"recipient agent id \[0 for the common pool, or 1 to 3\]: ": ["2"],
    r"resource type \[food / energy / materials\]: ": ["food"],
    r"amount \[you hold 16\.8 food\]: ": ["much", "2"],
    r"reasoning: ": ["I have enough."],
}


def test_a_person_lives_a_day_at_a_real_terminal_and_is_told_every_mistake(tmp_path: Path) -> None:
    game = played(tmp_path, SCENARIO, ANSWERS)
    for said in (
        "One of these, please: forum_post,",
        "A whole number, please: 1 to 8.",
        "A number in plain digits from 0.01, such as 2.5, please.",
        "You are active and hold 16.8 food, 8 energy",
    ):
        assert said in game.screen, said
    assert game.screen.count("The actions:") == 2, "at first, and at the question mark"
    mine = game.decisions("me")
    assert [record["decision"]["action"]["action"] for record in mine] == ["work", "trade", "idle"]
    assert {(record["source"], len(record["tries"])) for record in mine} == {("human", 1)}
