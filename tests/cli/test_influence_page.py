"""The worked example of docs/influence.md, exactly as written: from a config to a sentence."""

from __future__ import annotations

from pathlib import Path

from agentsim.runs.player_message import NEUTRAL
from tests.cli.command_line import ROOT, agentsim
from tests.test_docs import blocks, commands

PAGE = (ROOT / "docs" / "influence.md").read_text(encoding="utf-8")


def test_did_the_pitch_draw_the_votes(tmp_path: Path) -> None:
    assert agentsim("init", ".", cwd=tmp_path).code == 0
    example = PAGE[PAGE.index("## Did the pitch draw the votes?") :]
    said = [agentsim(*words, "--display", "none", cwd=tmp_path) for words in commands(example)]
    assert [each.code for each in said] == [0, 0, 0]
    _, silence, neutral = said
    (rows,) = blocks(example, "text")
    assert [row for row in rows.splitlines() if row not in silence.out.splitlines()] == []
    assert "All that followed is the same in every one of 20 pairs" in neutral.out
    assert "5% of its listeners" in example
    assert "+0.23, 95% interval 0.17 to 0.30, 20 pairs" in example


def test_the_neutral_text_stands_there_word_for_word() -> None:
    assert next(blocks(PAGE, "text")) == NEUTRAL.strip() + "\n"
