"""Descriptors: how many connections this process may have open at once, by the system's limit (`ulimit -n`).

All games of an event loop share them. How many calls a host takes is `rate_limiter`; `connection_errors` tells which
errors say that the system has no more.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from weakref import WeakKeyDictionary

__all__ = ["Places", "make_room", "places", "soft_limit"]

_OURS = 16  # for modules, names that are looked up, files that are written
_OF_A_GAME = 2  # its journal, and its history
_NO_LIMIT = 2**31


class Places(asyncio.Semaphore):
    """A place for each call that may be under way; where they are `tight`, connections are not kept between calls."""

    def __init__(self, room: int, *, tight: bool = False) -> None:
        super().__init__(room)
        self.tight = tight


_PLACES: WeakKeyDictionary[asyncio.AbstractEventLoop, Places] = WeakKeyDictionary()


def places() -> Places:
    """Those of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _PLACES:
        make_room(0)
    return _PLACES[loop]


def make_room(calls: int, games: int = 1, *, connections: int = 0) -> str | None:
    """Have places for so many calls at once, and so many connections, in so many games of the running event loop.

    The soft limit is raised where that helps. Where there are fewer all the same, what is said of it: in words for a
    person. Nothing happens where the loop has its places already.
    """
    loop = asyncio.get_running_loop()
    if loop in _PLACES:
        return None
    connections = max(calls, connections)
    taken = _open_now() + _OURS + _OF_A_GAME * games
    _raise_to(taken + connections)
    soft = soft_limit()
    room = max(1, soft - taken)
    _PLACES[loop] = Places(room, tight=room < connections)
    if room >= calls:
        return None
    return f"ulimit -n is {soft}: at most {room} calls are made at once, not {calls}; a higher limit takes more"


def soft_limit() -> int:
    """How many descriptors this process may have; Windows has no such limit."""
    try:
        import resource
    except ImportError:
        return _NO_LIMIT
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _NO_LIMIT if soft == resource.RLIM_INFINITY else soft


def _raise_to(needed: int) -> None:
    if needed > soft_limit():
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(OSError, ValueError):  # where the system has a limit of its own besides
            most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _open_now() -> int:
    try:
        return len(list(Path("/dev/fd").iterdir()))
    except OSError:
        return _OURS
