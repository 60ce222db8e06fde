"""Patterns: a regular expression is compiled at its first use, and then is as that of the standard library."""

from __future__ import annotations

import gc
import re
from importlib import import_module
from pkgutil import walk_packages

import agentsim
from agentsim.patterns import Pattern


def test_a_pattern_is_as_the_standard_librarys() -> None:
    text, ours, theirs = "a1 b22 c333", Pattern(r"[A-Z](\d+)", re.IGNORECASE), re.compile(r"[A-Z](\d+)", re.I)
    assert "search" not in vars(ours), "not compiled yet"
    for name in ("search", "match", "fullmatch"):
        found, expected = (getattr(each, name)(text, 3, 6) for each in (ours, theirs))
        assert (found and found.span()) == (expected and expected.span())
    assert [each.span() for each in ours.finditer(text, 2)] == [each.span() for each in theirs.finditer(text, 2)]
    assert (ours.findall(text), ours.sub("x", text, 1)) == (theirs.findall(text), theirs.sub("x", text, 1))
    assert (ours.split(text, 1), ours.pattern) == (theirs.split(text, 1), theirs.pattern)
    assert "search" in vars(ours), "compiled once"
    assert not hasattr(ours, "scanner"), "only the methods that are used"


def test_all_patterns_of_the_package_can_be_compiled() -> None:
    for module in walk_packages(agentsim.__path__, "agentsim."):
        if not module.name.endswith(("__main__", "on_dask", "test_game")):
            import_module(module.name)
    gc.unfreeze()  # `gc.get_objects` leaves out what was loaded before the first test
    patterns = [each for each in gc.get_objects() if isinstance(each, Pattern)]  # also those within tables
    gc.freeze()
    assert len(patterns) > 350
    for each in patterns:
        each.search("")
