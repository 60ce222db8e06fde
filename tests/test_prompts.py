"""docs/prompts shows the prompts exactly as models get them."""

from __future__ import annotations

import pytest

from agentsim import games
from benchmarks import prompts


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    return prompts.written()


def test_prompts_are_shown_as_they_are(written: dict[str, str]) -> None:
    shown = {name: (prompts.FOLDER / name).read_text(encoding="utf-8") for name in written}
    assert shown == written, "if this is meant: python -m benchmarks.prompts, and review the diff"


@pytest.mark.parametrize("game", games.names())
def test_every_kind_of_question_is_shown(game: str, written: dict[str, str]) -> None:
    asked = [request.kind for request in games.find(game).requests] + ["survey"] * (game == "society")  # all have it
    assert asked == [line[3:] for line in written[f"{game}.md"].splitlines() if line.startswith("## ")]
