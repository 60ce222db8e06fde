"""collector: how often Python looks for garbage that refers to itself, in a process that plays games."""

from __future__ import annotations

import gc
import time
from functools import cache

__all__ = ["collect_meanwhile", "collect_seldom"]

_OBJECTS = 25_000  # made and not yet gone, before those alone are looked through; Python's own number is 700
_WORTH_A_LOOK = 2_000  # objects, where there is time
_LOOKS = 50  # through what is new, at the least, before one through all
_LOOKS_A_SECOND = 5_000  # between those through all, for every second that one took: 0.2 ms of it for each
_between = _LOOKS


@cache
def collect_seldom() -> None:
    """Have what is loaded by now looked through no more, and what is new less often; once in a process.

    All that a wave of a hundred calls makes is in use until its end: in the midst of it each full pass took 50 ms of a
    wave of 230, for the sake of a hundred thousand objects of libraries that stay anyway.
    """
    gc.freeze()
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])


def collect_meanwhile() -> None:
    """Look for garbage now, where nobody waits for us: less is left to be found in the midst of the answers."""
    global _between  # noqa: PLW0603 - there is one collector in a process
    new, _, looks = gc.get_count()
    if new <= _WORTH_A_LOOK:
        return
    if looks < _between:
        gc.collect(1)
        return
    started = time.perf_counter()
    gc.collect()
    _between = max(_LOOKS, int((time.perf_counter() - started) * _LOOKS_A_SECOND))
