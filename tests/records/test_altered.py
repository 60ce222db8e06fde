"""A history that lies is read, or refused in one line: by no command is it a mistake of agentsim's.

The alterations are those of `altered`, a fixed sample; each goes through two commands, and every command has many.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.command_line import agentsim
from tests.records.altered import altered, golden

SAMPLE = 60
GOLDEN = Path(__file__).parents[1] / "golden"
ALL = ("--include-prompts", "--include-reasoning", "--include-usage")
COMMANDS = (
    ("logs", "--filename", "x", *ALL),
    ("export", "x"),
    ("export", "x", "--format", "chat-jsonl"),
    ("runs",),
    ("diff", "g", "x"),
    ("report", "logs"),
    ("bundle", "x"),
    ("replay", "x"),
    ("resume", "x", "--display", "none"),
    ("watch", "x", "--display", "none"),
    ("export", "logs", "--format", "jsonl"),
    ("runs", "--json"),
)


@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=[pytest.mark.slow] * (number % 3 > 0)) for number in range(SAMPLE)]
)
def test_a_history_that_lies_is_shown_or_refused_in_a_line(number: int, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    game, text = altered(number)
    (logs / "x.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    (logs / "g.json").write_text(golden(game), encoding="utf-8")
    if number % 2:
        shutil.copy(GOLDEN / f"{game}.jsonl", logs / "x.jsonl")
    for turn in (0, 5):
        words = COMMANDS[(number + turn) % len(COMMANDS)]
        said = agentsim(*words, cwd=tmp_path)
        assert said.code in {0, 1, 2}, words
        assert "mistake of agentsim" not in said.err, f"{words}: {said.err}"
        assert "Traceback" not in said.err
