"""Amounts: a test that looks at very much looks at a part of it in every run, and at all of it in the slow ones."""

from __future__ import annotations

import pytest


def amounts(name: str, part: int, whole: int) -> pytest.MarkDecorator:
    """Parametrize a test by how much it looks at; `-m slow` selects the whole."""
    return pytest.mark.parametrize(name, [part, pytest.param(whole, marks=pytest.mark.slow)])
