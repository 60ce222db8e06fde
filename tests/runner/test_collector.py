"""What a process that plays games does about garbage."""

from __future__ import annotations

import gc
import time
import weakref

import pytest

from agentsim.runner import collector
from agentsim.runner.collector import collect_meanwhile, collect_seldom


def test_what_was_loaded_is_looked_through_no_more_and_what_is_new_still_is() -> None:
    collect_seldom()
    frozen, after = gc.get_freeze_count(), gc.get_threshold()[0]
    assert frozen > 10_000
    assert gc.isenabled()
    assert after > 700
    loops: list[list[object]] = [[] for _ in range(1_000)]
    for loop in loops:
        loop.append(loop)
    collect_seldom()
    assert gc.get_freeze_count() <= frozen, "once in a process: what is garbage by now would stay for ever"
    del loops, loop
    assert gc.collect() >= 1_000


class Loop:
    """Garbage that refers to itself."""

    def __init__(self) -> None:
        self.itself = self


def test_where_there_is_time_much_that_is_new_is_looked_through_and_little_is_not() -> None:
    gc.collect()
    seen = weakref.ref(Loop())
    collect_meanwhile()
    assert seen() is not None
    for _ in range(2_500):
        Loop()
    collect_meanwhile()
    assert seen() is None


def test_the_longer_a_look_through_all_takes_the_rarer_is_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of somebody else's may hold millions of objects."""
    looked: list[int] = []
    clock = iter([0.0, 1.0, 1.0, 1.001])  # the first takes a second, the second a millisecond
    counts = iter([(10_000, 0, 50), (10_000, 0, 4_999), (10_000, 0, 5_000)])
    monkeypatch.setattr(collector, "_between", 50)
    monkeypatch.setattr(gc, "get_count", lambda: next(counts))
    monkeypatch.setattr(gc, "collect", lambda generation=2: looked.append(generation))
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    for _ in range(3):
        collect_meanwhile()
    assert looked == [2, 1, 2]
