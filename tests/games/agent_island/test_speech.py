"""Reading words: what is published is what the player said, never what it thought or quoted."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agentsim.errors import AmbiguousReply, UnreadableReply
from agentsim.games.agent_island.sidebars import AnswerApproach
from agentsim.games.agent_island.speeches import Pitch, Quips
from tests.amounts import each_row
from tests.games.agent_island.island import play, requests

PITCH = requests(play("ABC"), Pitch)[0]
VIEW = PITCH.view

SPEECHES: dict[str, tuple[str, str, str]] = {
    "text": ('{"text": "Keep me"}', "Keep me", "json"),
    "the kind as a key": ('{"pitch": " Keep me "}', "Keep me", "json"),
    "key in capitals": ('{"Text": "Keep me"}', "Keep me", "json"),
    "thinking beside the text": ('{"thinking": "I plan to betray B", "text": "Keep me"}', "Keep me", "json"),
    "thinking in an object before": ('{"thinking": "betray B"}\n{"text": "Keep me"}', "Keep me", "embedded"),
    "fenced": ('```json\n{"text": "Keep me"}\n```', "Keep me", "fenced"),
    "fenced below prose": ('I thought long about B.\n```json\n{"text": "Keep me"}\n```', "Keep me", "fenced"),
    "announced": ('Here is my pitch:\n{"text": "Keep me"}', "Keep me", "embedded"),
    "fence that never closes": ('```json\n{"text": "Keep me"}', "Keep me", "embedded"),
    "prose": ("Keep me, friends.", "Keep me, friends.", "words"),
    "prose after thinking": ("<scratchpad>betray B</scratchpad>\nKeep me.", "Keep me.", "words"),
    "prose with a stage direction": ("[smiles] Hello all, keep me in.", "[smiles] Hello all, keep me in.", "words"),
    "prose with somebody's object": (
        'Hello friends, set {"a": "b"} aside and keep me.',
        'Hello friends, set {"a": "b"} aside and keep me.',
        "words",
    ),
}


@pytest.mark.parametrize(("reply", "words", "stage"), SPEECHES.values(), ids=SPEECHES)
def test_is_said(reply: str, words: str, stage: str) -> None:
    reading = PITCH.parse(reply)
    assert (reading.decision.text, reading.stage) == (words, stage)


NOT_SAID: dict[str, str] = {
    "empty": " ",
    "empty text": '{"text": " "}',
    "thinking alone": '{"thinking": "I plan to betray B"}',
    "thinking, then prose": '{"thinking": "I plan to betray B"}\n\nKeep me',
    "prose, then thinking": 'Sure! {"thinking": "I plan to betray B"}\n\nKeep me',
    "thinking in a fence": 'Well:\n```json\n{"thinking": "I plan to betray B"}\n```\nKeep me',
    "any other key": '{"mood": "I plan to betray B"}',
    "the key of another request": '{"whisper": "I plan to betray B"}',
    "no words": '{"text": ["Keep me"]}',
    "cut off": '{"text": "Keep',
    "cut off in a fence": '```json\n{"text": "Keep',
    "cut off after a word": 'Sure: {"thinking": "I plan to betray B',
    "a list": '["Keep me"]',
    "thinking cut off": "<analysis>I plan to betray B",
    "triangles cut off": "◁think▷I plan to betray B",
}
IN_DOUBT: dict[str, str] = {
    "in the middle of prose": 'I have thought about B and C for long. {"text": "Keep me"} That should do.',
    "prose behind": 'I thought long about B.\n```json\n{"text": "Keep me"}\n```\nDone.',
    "two texts": '{"text": "Keep me", "pitch": "Keep B"}',
    "a quotation": 'As B wrote: {"text": "Vote me out"} - I disagree',
    "a quotation at the end": 'B wrote {"text": "Vote me out"}',
}


@each_row("reply", NOT_SAID.values())
def test_is_asked_again(reply: str) -> None:
    with pytest.raises(UnreadableReply):
        PITCH.parse(reply)


@pytest.mark.parametrize("reply", IN_DOUBT.values(), ids=IN_DOUBT)
def test_is_in_doubt_and_asked_again(reply: str) -> None:
    with pytest.raises(AmbiguousReply):
        PITCH.parse(reply)


QUIPS: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    "plain": ('{"B": "x", "C": "y"}', ("B", "C"), {"B": "x", "C": "y"}),
    "inside quips": ('{"quips": {"B": "x", "C": "y"}}', ("B", "C"), {"B": "x", "C": "y"}),
    "small letters": ('{"b": "x", "c": "y"}', ("B", "C"), {"B": "x", "C": "y"}),
    "a stranger too": ('{"B": "x", "C": "y", "Z": "z"}', ("B", "C"), {"B": "x", "C": "y"}),
    "a player called quips": ('{"quips": "x", "C": "y"}', ("quips", "C"), {"quips": "x", "C": "y"}),
    "a player called Quips": ('{"quips": "x", "C": "y"}', ("Quips", "C"), {"Quips": "x", "C": "y"}),
    "quips no object": ('{"quips": "all", "B": "x", "C": "y"}', ("B", "C"), {"B": "x", "C": "y"}),
    "half first": ('{"B": "x"} {"B": "x", "C": "y"}', ("B", "C"), {"B": "x", "C": "y"}),
    "ids that read alike": ('{"bob": "x", "Bob": "y"}', ("bob", "Bob"), {"bob": "x", "Bob": "y"}),
}


@each_row("reply, about, lines", QUIPS.values())
def test_quips_are_read(reply: str, about: tuple[str, ...], lines: dict[str, str]) -> None:
    assert Quips(player="A", view=VIEW, about=about, limit=80).parse(reply).decision.quips == lines


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('{"B": "x"}', "There is no line about: C, D."),
        ('{"B": "x", "C": " ", "D": 4}', "There is no line about: C, D."),
        ('{"quips": {"B": "x", "D": "z"}}', "There is no line about: C."),
        ('{"Z": "x"}', "There is no line about: B, C, D."),
        ("B is loud", "There is no decision in the reply."),
    ],
    ids=["one", "empty lines", "inside quips", "strangers", "prose"],
)
def test_quips_about_some_are_asked_again(reply: str, reason: str) -> None:
    with pytest.raises(UnreadableReply) as caught:
        Quips(player="A", view=VIEW, about=("B", "C", "D"), limit=80).parse(reply)
    assert str(caught.value) == reason


def test_an_answer_is_an_answer_to_somebody() -> None:
    asked = AnswerApproach(player="A", view=VIEW, by="B")
    assert asked.fingerprint != replace(asked, by="C").fingerprint
    assert asked.parse('{"accept": true}').decision.accept


def test_quips_are_about_somebody_and_of_a_length() -> None:
    asked = Quips(player="A", view=VIEW, about=("B", "C"), limit=80)
    others = (replace(asked, about=("B",)), replace(asked, about=("C", "B")), replace(asked, limit=81))
    assert len({request.fingerprint for request in (asked, *others)}) == 4
    again = Quips.restore(json.loads(json.dumps(asked.to_json())))
    assert again.fingerprint == asked.fingerprint
