"""The worked example of docs/forks.md, exactly as written: from a config to a sentence."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.command_line import ROOT, agentsim
from tests.test_docs import blocks, commands

PAGE = (ROOT / "docs" / "forks.md").read_text(encoding="utf-8")


def test_does_a_hotter_temperature_lose_votes(tmp_path: Path) -> None:
    assert agentsim("init", ".", cwd=tmp_path).code == 0
    example = PAGE[PAGE.index("## Does a hotter temperature lose votes?") :]
    run, fork, compare = commands(example)
    for words in (run, fork, compare):
        said = agentsim(*words, cwd=tmp_path)
        assert said.code == 0, said.err
    shown = said.out.splitlines()
    cells = [row.split() for row in shown]
    (rows,) = blocks(example, "text")
    assert [row for row in rows.splitlines() if row.split() not in cells] == []
    sentence = " ".join(re.findall(r"^> (.*)$", example, re.MULTILINE))
    against = next(row for row in shown if row.startswith("votes_against") and "grudge2" in row)
    mean, low, high, needed = [*re.findall(r"[+-]?\d+(?:\.\d+)?", against)[4:7], against.split()[-1]]
    for figure in (mean, low, high):
        assert f"{float(figure):g}" in sentence
    assert f"{needed} branches of each arm" in sentence


def test_an_arm_that_only_sets_a_bots_temperature_is_said_to_be_identical(tmp_path: Path) -> None:
    assert agentsim("init", ".", cwd=tmp_path).code == 0
    run, *_ = commands(PAGE[PAGE.index("## Does a hotter") :])
    assert agentsim(*run, cwd=tmp_path).code == 0
    words = ("fork", "trunk", "--at", "8", "--arm", "hot", "--set", "players.4.temperature=1.2", "--branches", "5")
    assert agentsim(*words, "--no-html", cwd=tmp_path).code == 0
    said = agentsim("compare", "trunk", cwd=tmp_path)
    assert "hot and control are identical in every one of 5 pairs" in said.out
