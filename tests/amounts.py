"""Parts of long tests: each run checks a part of the cases, the slow tests check all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import settings


def amounts(name: str, part: object, whole: object) -> pytest.MarkDecorator:
    """Parametrize a test by the amount it checks; `-m slow` selects the whole."""
    return pytest.mark.parametrize(name, [part, pytest.param(whole, marks=pytest.mark.slow)])


def some_of(name: str, cases: Mapping[str, Any] | Iterable[str], *kept: str) -> pytest.MarkDecorator:
    """Parametrize a test by cases, or by their names alone; only those in `kept` are in every run."""
    by_name = cases if isinstance(cases, Mapping) else {case: case for case in cases}
    assert by_name.keys() >= set(kept)
    slow = {case: [pytest.mark.slow] * (case not in kept) for case in by_name}
    return pytest.mark.parametrize(name, [pytest.param(by_name[case], id=case, marks=slow[case]) for case in by_name])


def one_in(count: int) -> pytest.MarkDecorator:
    """Mark a parametrized test of which one row in `count` is in every run, and every row in the slow tests."""
    return pytest.mark.one_in(count)


def examples(thorough: int) -> settings:
    """Return the settings of a property that is tried this often in the thorough profile.

    Other profiles try the same share of it as of the properties that have no number, of which the thorough one tries a
    hundred.
    """
    return settings(max_examples=max(1, thorough * settings().max_examples // 100))
