"""Checks of a game, for its author: each takes a game's name (or a `Case`) and reports what it found, and where.

    from agentsim.testing import contract
    test_contract = contract("mygame")

`agentsim check GAME` runs them all. `CHECKS` has each by its name: `CHECKS["same_ears"]("mygame")`. None needs pytest.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from agentsim.testing.case import Case, Checkable, case_of
from agentsim.testing.check import CHECKS, Check, Finding, Report

for _part in ("rules", "laws", "purity", "prompts", "leaves", "privacy", "golden"):  # each enters its checks
    import_module(f"agentsim.testing.{_part}")

__all__ = ["CHECKS", "Case", "Check", "Checkable", "Finding", "Report", "case_of", "contract"]


def contract(game: Checkable, **changes: Any) -> Callable[..., None]:
    """A pytest test of every check, for a name that begins with `test`; `changes` are values of the `Case`."""
    import pytest

    cases: list[Case] = []  # made at the first check, and kept with the games that it has played

    @pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
    def test_contract(check: Check) -> None:
        if not cases:
            cases.append(case_of(game, **changes))
        report = check(cases[0])
        if report.findings:
            pytest.fail(str(report), pytrace=False)

    return test_contract
