"""What players claim to be: told to all, and counted as true or false against what they are."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.engine.event import AGAINST, Everyone, Interaction, Past
from agentsim.engine.panel import DataTable
from agentsim.errors import IllegalDecision
from agentsim.games.werewolf import GAME
from agentsim.games.werewolf.words import Said, Speech
from tests.games.werewolf.village import VILLAGE, asked, play

SAID = {
    "A": ["I see. | seer: E is a werewolf"],
    "B": ["I am plain. | villager"],
    "C": ["I see. | seer: A is a werewolf"],
    "D": ["I heal. | doctor"],
    "E": ["Me too. | seer"],
    "F": ["It was me. | werewolf"],
}


def rows(name: str, **answers: Any) -> list[dict[str, Any]]:
    frame = GAME.tables(play({"speak": SAID, **answers}).log, list(VILLAGE))[name]
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.rows]


def test_a_claim_is_told_to_all_beside_the_words() -> None:
    (told,) = [
        told for told in play({"speak": {"C": SAID["C"]}}).log if told.event.kind == "said" and told.event.content
    ]
    assert told.to is Everyone
    assert told.event == Said("C", "I see.", pack=None, claim="seer", seen="A", werewolf=True)
    assert told.event.heading == "C says, claiming to be a seer who saw that A is a werewolf"


def test_claims_are_a_closed_choice_of_roles_and_of_findings_about_the_living_others() -> None:
    speak = asked(play({"hunt": {"A": ["E"]}}), "speak")[0]
    others = [player for player in "ABCDFG" if player != speak.player]
    findings = [f"seer: {player} is {nature} werewolf" for nature in ("a", "no") for player in others]
    assert speak.legal["claim"].values == ("none", "werewolf", "seer", "doctor", "villager", *findings)
    with pytest.raises(IllegalDecision, match="claim must be one of"):
        speak.check(Speech(thought="", text="", claim="seer: E is a werewolf"))


def test_no_role_that_the_game_lacks_and_no_finding_without_a_seer_can_be_claimed() -> None:
    speak = asked(play(seats={"A": "w", "B": "d", "C": "v", "D": "v"}), "speak")[0]
    assert speak.legal["claim"].values == ("none", "werewolf", "doctor", "villager")
    assert "finding" not in speak.question()
    assert "finding" in asked(play(), "speak")[0].question()


def test_true_and_false_claims_and_findings_are_told_apart() -> None:
    found = {
        row["player"]: (row["role"], row["claim"], row["true"], row["seen"], row["finding_true"])
        for row in rows("claims")
    }
    assert found == {
        "A": ("werewolf", "seer", False, "E", False),
        "B": ("werewolf", "villager", False, None, None),
        "C": ("seer", "seer", True, "A", True),
        "D": ("doctor", "doctor", True, None, None),
        "E": ("villager", "seer", False, None, None),
        "F": ("villager", "werewolf", False, None, None),
    }


def test_the_panel_counts_claims_by_the_role_of_the_speaker() -> None:
    played = play({"speak": SAID})
    (panel,) = [panel for panel in GAME.panels(played.log, list(VILLAGE)) if panel.title == "What was claimed"]
    assert isinstance(panel, DataTable)
    assert panel.columns == ("role", "true claims", "false claims", "true findings", "false findings")
    assert panel.rows == (
        ("werewolf", 0, 2, 0, 1),
        ("seer", 1, 0, 1, 0),
        ("doctor", 1, 0, 0, 0),
        ("villager", 0, 2, 0, 0),
    )


def test_no_claim_counts_as_none() -> None:
    played = play({"speak": {"C": ["Good morning."]}})
    assert GAME.tables(played.log, list(VILLAGE))["claims"].rows == ()
    assert [panel.title for panel in GAME.panels(played.log, list(VILLAGE))] == ["Who was what"]


def test_of_what_one_player_heard_before_the_end_a_role_that_it_was_not_told_is_empty() -> None:
    played = play({"speak": SAID})
    part = [told for told in played.log[:-1] if told.heard_by("B")]
    frame = GAME.tables(part, list(VILLAGE))["claims"]
    known = {row[1]: (row[2], row[4]) for row in frame.rows}
    assert known["A"] == known["B"] == ("werewolf", False)
    assert known["C"] == (None, None)


def test_a_table_says_who_was_what_and_how_each_died() -> None:
    players = rows("players", vote={"C": ["A"]}, hunt={"A": ["G"]})
    assert tuple(players[0].values()) == ("A", "werewolf", "hanged", 1)
    assert tuple(players[2].values()) == ("C", "seer", None, None)
    assert tuple(players[-1].values()) == ("G", "villager", "killed", 1)


@pytest.mark.parametrize(
    ("claim", "accused"), [("seer: A is a werewolf", ["A"]), ("seer: A is no werewolf", []), ("seer", [])]
)
def test_a_claimed_finding_of_a_werewolf_is_a_deed_against_the_player(claim: str, accused: list[str]) -> None:
    (said,) = [event for event in play({"speak": {"C": [f"x | {claim}"]}}).events(Said) if event.claim]
    assert list(said.interactions(Past())) == [Interaction("C", player, "accused", AGAINST) for player in accused]
