"""Checks of a game, for its author. Each takes a game's name (or a `Case`) and reports where it found problems.

    from agentsim.testing import contract
    test_contract = contract("mygame")

`agentsim check GAME` runs them all. `CHECKS` has each by its name: `CHECKS["no_information_leak"]("mygame")`. The
checks do not need pytest, except `contract`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentsim.testing import determinism, golden, invariants, leaves, privacy, prompts, rules
from agentsim.testing.case import Case, Checkable, case_of
from agentsim.testing.check import Check, Finding, Report

CHECKS: Mapping[str, Check] = {
    each.name: each
    for each in (
        rules.games_end,
        rules.fallbacks_legal,
        rules.declared,
        rules.json_and_back,
        rules.log_replays,
        rules.run_replays,
        rules.pages_and_tables,
        invariants.invariants_hold,
        invariants.warnings_true,
        determinism.same_seed,
        determinism.same_process,
        determinism.asking_changes_nothing,
        determinism.bots_pure,
        prompts.prompts_filled,
        prompts.no_control_tokens,
        prompts.history_grows,
        prompts.person_can_play,
        leaves.leaves_shown,
        privacy.no_information_leak,
        privacy.private_words,
        golden.golden_files,
    )
}
"""Every check by its name."""

__all__ = ["CHECKS", "Case", "Check", "Checkable", "Finding", "Report", "case_of", "contract"]


def contract(game: Checkable, **changes: Any) -> Callable[..., None]:
    """Return a pytest test of every check, to be bound to a name that begins with `test`.

    `changes` are values of the `Case`.
    """
    import pytest

    cases: list[Case] = []  # made at the first check; its games are shared by the others

    @pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
    def test_contract(check: Check) -> None:
        if not cases:
            cases.append(case_of(game, **changes))
        report = check(cases[0])
        if report.findings:
            pytest.fail(str(report), pytrace=False)

    return test_contract
