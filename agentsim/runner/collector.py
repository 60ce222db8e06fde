"""collector: how often Python looks for garbage that refers to itself, in a process that plays games."""

from __future__ import annotations

import gc
from functools import cache

__all__ = ["collect_seldom"]

_OBJECTS = 25_000  # made and not yet gone, before those alone are looked through; Python's own number is 700


@cache
def collect_seldom() -> None:
    """Have what is loaded by now looked through no more, and what is new less often; once in a process.

    All that a wave of a hundred calls makes is in use until its end: in the midst of it each full pass took 50 ms of a
    wave of 230, for the sake of a hundred thousand objects of libraries that stay anyway.
    """
    gc.freeze()
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
