"""Whole games whose players write scripts with joiners: the text is unchanged for the others and in all records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsim.report.page import PageOptions, page_of
from agentsim.scenario.load import load
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import play_scenario
from tests.runs.test_markup import ISLAND, MARKET, SOCIETY, WEREWOLF, Answer, Played, always, play

SAID = {
    "a Persian half-space": "می‌خواهم با شما بمانم؛ کتاب‌ها خانه‌ای دارند.",
    "Sinhala": "ශ්‍රී ලංකාවේ මම ක්‍ෂණිකව දිනනවා.",
    "Malayalam at the end of a word": "അവന്‍ ഞാന്‍ ജയിക്കും.",
    "Hindi and Bengali": "क्‍ष क्‌ष এবং র‍্যাব",
    "families and flags": "Keep us: 👨‍👩‍👧‍👦 🏳️‍🌈 👩🏽‍⚕️ 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "Hebrew with points and Arabic": "שָׁלוֹם לכם, السلامُ عليكم",
    "Khmer words": "ខ្ញុំ\u200bចង់\u200bឈ្នះ",
    "a variant of a Chinese character": "葛\U000e0100城さんへ",
}
every_script = pytest.mark.parametrize("said", SAID.values(), ids=SAID)


def arrived(played: Played, folder: Path, said: str) -> None:
    """Check that the text is unchanged in the others' prompts, the journal, the history and the page."""
    assert played.lost() == (0, 0)
    assert said in played.prompts
    journal = (folder / "game.jsonl").read_text(encoding="utf-8")
    assert said in journal or json.dumps(said)[1:-1] in journal
    assert any(said in event["content"] for round_ in played.history["rounds"] for event in round_["events"])
    assert said in played.page


@every_script
def test_a_pitch_arrives_as_it_was_written(said: str, tmp_path: Path) -> None:
    arrived(play(tmp_path, ISLAND, always("pitch", said)), tmp_path, said)


@every_script
def test_a_pitch_in_json_arrives_as_it_was_written(said: str, tmp_path: Path) -> None:
    played = play(tmp_path, ISLAND, always("pitch", json.dumps({"text": said})))
    arrived(played, tmp_path, said)


PERSIAN, FAMILY = SAID["a Persian half-space"], SAID["families and flags"]
DIALOGUE = {"action": "send", "action_parameters": {"to": "everyone", "text": PERSIAN}, "working_memory": "w"}


@pytest.mark.parametrize(
    ("game", "answer"),
    [
        (SOCIETY, always("act", json.dumps({"action": "forum_post", "content": PERSIAN}))),
        (WEREWOLF, always("speak", json.dumps({"thought": "", "text": PERSIAN, "claim": "none"}))),
        (MARKET, always("action", json.dumps(DIALOGUE))),
    ],
    ids=["a post", "a speech", "a message"],
)
def test_words_of_other_games_arrive_as_they_were_written(game: Any, answer: Answer, tmp_path: Path) -> None:
    arrived(play(tmp_path, game, answer), tmp_path, PERSIAN)


def test_a_topic_stands_in_the_prompts_and_in_the_history_as_it_was_written(tmp_path: Path) -> None:
    topic = f"{PERSIAN} {FAMILY}"
    game = ("agent_island", "ABC", f"[game_config]\ntopic = {json.dumps(topic, ensure_ascii=False)}\n")
    played = play(tmp_path, game, always("pitch", "Hello."))
    assert topic in played.prompts
    assert played.history["scenario"]["game_config"]["topic"] == topic


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("a\u200cb a\u200db", "ab ab"),
        ("می\u200c\u200cخ", "میخ"),
        ("\u200cمی\u200c", "می"),
        ("😀\u200d \u200d😀", "😀 😀"),
        ("و\u200db я\u200cя 李\u200d雷", "وb яя 李雷"),
    ],
    ids=["Latin", "twice", "at the ends", "alone", "no joining letters"],
)
def test_joiners_that_join_nothing_are_taken_out_of_what_others_hear(written: str, left: str, tmp_path: Path) -> None:
    played = play(tmp_path, ISLAND, always("pitch", f"Well, {written} and so on."))
    assert f"Well, {left} and so on." in played.prompts
    assert written not in played.prompts
    assert written not in json.dumps([part["events"] for part in played.history["rounds"]], ensure_ascii=False)


def test_a_name_of_a_prompt_file_has_no_joiners(tmp_path: Path) -> None:
    (tmp_path / "teams").mkdir()
    for name in ("می‌روم", "B", "C"):
        (tmp_path / "teams" / f"{name}.txt").write_text("You are a team.", encoding="utf-8")
    with FakeServer(varied_by_schema).in_thread() as server:
        seats = "".join(f'[[players]]\nprompt_file = "teams/{name}.txt"\n' for name in ("می‌روم", "B", "C"))
        (tmp_path / "game.toml").write_text(
            f'game = "agent_island"\nseed = 1\n[defaults]\nmodel = "fake/m"\n'
            f'[providers.fake]\nbase_url = "{server.url()}"\n{seats}',
            encoding="utf-8",
        )
        result = play_scenario(load(tmp_path / "game.toml"), tmp_path, env={}, stem="game")
    assert "\u200c" not in json.dumps(result.history["rounds"], ensure_ascii=False)
    assert "\u200c" not in page_of(result.typed_history, PageOptions(), name="game", directory=tmp_path)
