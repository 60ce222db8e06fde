"""Golden outcomes: a changed rule, event, prompt or standing of any game is a diff."""

from __future__ import annotations

import pytest

from tests.contract.outcomes import OUTCOMES, outcome_text, scenarios


@pytest.mark.parametrize("name", scenarios())
def test_the_outcome_is_the_golden_one(name: str) -> None:
    golden = (OUTCOMES / f"{name}.txt").read_text(encoding="utf-8")
    advice = "if this is meant: python -m tests.contract.outcomes, and review the diff"
    assert outcome_text(scenarios()[name]) == golden, advice


def test_every_golden_outcome_has_a_scenario() -> None:
    assert {path.stem for path in OUTCOMES.glob("*.txt")} == set(scenarios())
