"""The worked examples of docs/studies.md, exactly as written: from a config to a sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentsim.runs.player_message import NEUTRAL
from tests.cli.command_line import ROOT, agentsim
from tests.test_docs import blocks, commands

pytestmark = pytest.mark.usefixtures("few_draws")

PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")


def example(question: str) -> str:
    """Return the worked example below this heading."""
    return re.split(r"^##", PAGE.partition(f"### {question}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


HOTTER = example("Does a hotter temperature lose votes?")
PITCH = example("Did the pitch draw the votes?")


@pytest.mark.slow
def test_does_a_hotter_temperature_lose_votes(tmp_path: Path) -> None:
    assert agentsim("init", ".", cwd=tmp_path).code == 0
    run, fork, compare = commands(HOTTER)
    for words in (run, fork, compare):
        said = agentsim(*words, cwd=tmp_path)
        assert said.code == 0, said.err
    shown = said.out.splitlines()
    (rows,) = blocks(HOTTER, "text")
    cells = [row.split() for row in shown]
    assert [row for row in rows.splitlines() if row.split() not in cells] == []
    sentence = " ".join(re.findall(r"^> (.*)$", HOTTER, re.MULTILINE))
    against = next(row for row in shown if row.startswith("votes against") and "grudge2" in row)
    mean, low, high, needed = [*re.findall(r"[+-]?\d+(?:\.\d+)?", against)[4:7], against.split()[-1]]
    for figure in (mean, low, high):
        assert f"{float(figure):g}" in sentence
    assert f"{needed} branches of each arm" in sentence


def test_an_arm_that_only_sets_a_bots_temperature_is_said_to_be_identical(tmp_path: Path) -> None:
    assert agentsim("init", ".", cwd=tmp_path).code == 0
    run, *_ = commands(HOTTER)
    assert agentsim(*run, cwd=tmp_path).code == 0
    words = ("fork", "trunk", "--at", "8", "--arm", "hot", "--set", "players.4.temperature=1.2", "--branches", "5")
    assert agentsim(*words, "--no-html", cwd=tmp_path).code == 0
    said = agentsim("compare", "trunk", cwd=tmp_path)
    assert "hot and control are identical in every one of 5 pairs" in said.out


def test_did_the_pitch_draw_the_votes(tmp_path: Path) -> None:
    assert agentsim("init", ".", cwd=tmp_path).code == 0
    said = [agentsim(*words, "--display", "none", cwd=tmp_path) for words in commands(PITCH)]
    assert [each.code for each in said] == [0, 0, 0]
    _, silence, neutral = said
    (rows,) = blocks(PITCH, "text")
    assert [row for row in rows.splitlines() if row not in silence.out.splitlines()] == []
    assert "All that followed is the same in every one of 20 pairs" in neutral.out
    assert "5% of its listeners" in PITCH
    assert "+0.23, 95% interval 0.17 to 0.30, 20 pairs" in PITCH


def test_the_neutral_text_stands_there_word_for_word() -> None:
    assert next(blocks(PAGE.partition("## Influence\n")[2], "text")) == NEUTRAL.strip() + "\n"
