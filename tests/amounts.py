"""Amounts: a test that looks at very much looks at a part of it in every run, and at all of it in the slow ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest


def amounts(name: str, part: object, whole: object) -> pytest.MarkDecorator:
    """Parametrize a test by how much it looks at; `-m slow` selects the whole."""
    return pytest.mark.parametrize(name, [part, pytest.param(whole, marks=pytest.mark.slow)])


def some_of(name: str, cases: Mapping[str, Any], *kept: str) -> pytest.MarkDecorator:
    """Parametrize a test by cases with names, of which those `kept` are looked at in every run."""
    assert cases.keys() >= set(kept)
    slow = {case: [pytest.mark.slow] * (case not in kept) for case in cases}
    return pytest.mark.parametrize(name, [pytest.param(cases[case], id=case, marks=slow[case]) for case in cases])
