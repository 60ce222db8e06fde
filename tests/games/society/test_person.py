"""A person among the agents: the form asks for the action, then for its fields; one day is at a pseudo-terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.games.society.society import TERMS, acted, law, play, request
from tests.players.filled import Filled, NothingLeft, filled
from tests.players.keyboard import played

ASKED = request(play(agents=3, note_chars=0), 1)
NOTING = request(play(agents=3), 1)


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
    assert filled(ASKED, *lines)[0] == acted(action)


def test_a_note_is_asked_for_last_and_may_be_left_out() -> None:
    assert filled(NOTING, "work", "farm", "3", "Farm first.")[0].note == "Farm first."
    assert filled(NOTING, "work", "farm", "3", "")[0] == acted("work farm 3")


def test_the_screen_offers_the_actions_and_then_the_fields_of_one() -> None:
    _, screen = filled(ASKED, "work", "farm", "3")
    asked = " ".join(screen[screen.rindex("action [") :].split())
    assert asked.startswith("action [forum_post / forum_reply / direct_message / create_proposal / vote / work / ")
    assert asked.endswith("set_name / idle]: work type [farm / generate / gather]: hours [1 to 8]:")


@pytest.mark.parametrize(
    ("type_", "lines", "kinds"),
    [
        ("law", ["none"], "tax / dividend / allocation / work_minimum / repeal / voting_rule / none"),
        ("allocation", ["tax", "none"], "allocation / none"),
        ("infrastructure", ["tax", "build", "farm"], "build / none"),
        ("other", [], ""),
    ],
)
def test_only_the_terms_that_a_type_can_carry_are_asked_for(type_: str, lines: list[str], kinds: str) -> None:
    decision, screen = filled(ASKED, "create_proposal", "A", "About A.", type_, *lines)
    assert decision == acted(law("A", *([TERMS["farm"]] if "build" in kinds else []), type_=type_))
    asked = " ".join(screen[screen.rindex("kind of proposal") :].split())
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
    _, screen = filled(ASKED, "create_proposal", "A", "b", "law", *lines, "repeal", "x", "1")
    screen = " ".join(screen.split())
    for words in ("hours [1 to 8]", "quorum [0 to 3]", "amount [0.01 or more]", "law [none]", "from 1 to 3, please"):
        assert words in screen, words


def test_an_amount_that_is_no_number_in_plain_digits_is_asked_again_and_nothing_else() -> None:
    decision, screen = filled(ASKED, "trade", "2", "food", "much", "1e1", "-1", "0", "2.5")
    assert decision == acted("trade 2 food 2.5")
    assert screen.count("A number in plain digits from 0.01, such as 2.5, please.") == 4


def test_what_there_is_to_choose_from_stands_with_the_question() -> None:
    first = law("One")
    played = play(
        {1: [first, "work gather 3", "idle"], 2: ["post hello"]}, agents=3, days=1, actions_per_day=3, note_chars=0
    )
    form = Filled(request(played, 1, 2), "vote", "x", "1", "no", "because")
    assert form.answer()["action"] == {"action": "vote", "proposal_id": 1, "vote": "no", "reasoning": "because"}
    assert "number of the proposal [1]: A whole number, please: 1." in form.text
    hints = {
        "forum_reply": "number of the post [1]",
        "work farm": "hours [1 to 5]",
        "contribute": "number of the project [none]",
    }
    hints |= {"trade": "number of the agent [0 for the common pool, or 1 to 3]", "direct_message": "agent [1 to 3]"}
    for action, hint in hints.items():
        form = Filled(request(played, 1, 2), *action.split())
        with pytest.raises(NothingLeft):
            form.answer()
        assert hint in form.text


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
    "What does agent #1 do": [
        '{"action": "trade", "recipient_agent_id": 2, "resource_type": "food", "amount": 99}',
        "?",
        '{"action": "work",\n "work_type": "farm", "hours": 4}',
        '{"action": "idle", "reasoning": "I have enough."}',
    ],
}


def test_a_person_lives_a_day_at_a_real_terminal_as_a_model_does(tmp_path: Path) -> None:
    game = played(tmp_path, SCENARIO, ANSWERS)
    assert "an action is rejected: Action rejected: you hold 10" in game.screen, (
        "what comes to nothing is told as to a model"
    )
    assert "You are active and hold 16.8 food, 8 energy" in game.screen
    assert game.screen.count("Actions:") == 2, "at first, and at the question mark"
    mine = game.decisions("me")
    assert [record["decision"]["action"]["action"] for record in mine] == ["trade", "work", "idle"]
    assert {(record["source"], len(record["attempts"])) for record in mine} == {("human", 1)}
