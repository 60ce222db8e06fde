"""Descriptors: how many calls this machine has room for at once, in one event loop.

How many calls a host takes is `rate_limiter`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from agentsim.models.rate_limiter import NO_LIMIT, PLACES, Places

_OUR_DESCRIPTORS = 16  # for modules, names that are looked up, files that are written
_DESCRIPTORS_OF_A_GAME = 2  # its journal, and its history


def make_room(calls: int, games: int = 1, *, connections: int = 0) -> str | None:
    """Have places for so many calls at once, and so many connections, in so many games of the running event loop.

    The soft limit (`ulimit -n`) is raised where that helps. Where there are fewer all the same, what is said of it: in
    words for a person. Nothing happens where the loop has its places already.
    """
    loop = asyncio.get_running_loop()
    if loop in PLACES:
        return None
    try:
        taken = len(list(Path("/dev/fd").iterdir()))
    except OSError:
        taken = _OUR_DESCRIPTORS
    taken += _OUR_DESCRIPTORS + _DESCRIPTORS_OF_A_GAME * games
    connections = max(calls, connections)
    if taken + connections > soft_limit():
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = taken + connections if hard == resource.RLIM_INFINITY else min(taken + connections, hard)
        with suppress(OSError, ValueError):  # where the system has a limit of its own besides
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    soft = soft_limit()
    room = max(1, soft - taken)
    PLACES[loop] = Places(room)
    PLACES[loop].tight = room < connections
    if room >= calls:
        return None
    return f"ulimit -n is {soft}: at most {room} calls are made at once, not {calls}; a higher limit allows more"


def soft_limit() -> int:
    """How many descriptors this process may have; Windows has no such limit."""
    try:
        import resource
    except ImportError:
        return NO_LIMIT
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return NO_LIMIT if soft == resource.RLIM_INFINITY else soft
