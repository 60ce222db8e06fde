"""Golden outcomes: a changed rule, event, prompt or standing of any game is a diff."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.amounts import amounts
from tests.contract.outcomes import OUTCOMES, SEEDS, outcome_text, scenarios


@amounts("seeds", SEEDS[:2], SEEDS)
@pytest.mark.parametrize("name", scenarios())
def test_the_outcome_is_the_golden_one(name: str, seeds: Sequence[int]) -> None:
    golden = (OUTCOMES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    assert [line.partition(":")[0] for line in golden[: len(SEEDS)]] == [f"seed {seed}" for seed in SEEDS]
    of_seeds = [*golden[: len(seeds)], *golden[len(SEEDS) :]]
    advice = "if this is meant: python -m tests.contract.outcomes, and review the diff"
    assert outcome_text(scenarios()[name], seeds).splitlines() == of_seeds, advice


def test_every_golden_outcome_has_a_scenario() -> None:
    assert {path.stem for path in OUTCOMES.glob("*.txt")} == set(scenarios())
