"""What a process that plays games does about garbage."""

from __future__ import annotations

import gc
import weakref

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
