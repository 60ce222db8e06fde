"""Event loop: what all calls of one share: the connections that the system allows, and time in which it runs.

How many calls a host takes is `rate_limiter`; which errors follow from a deadline is `faults`' business; limits of a
whole run are wall clock, and `runner.admission`'s.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from weakref import WeakKeyDictionary

_OUR_DESCRIPTORS = 16  # for modules, names that are looked up, files that are written
_DESCRIPTORS_OF_A_GAME = 2  # its journal, and its history
_TICK_S = 0.1
# A tick that comes later than this after the one before shows that the loop stood still. On a machine that is merely
# busy it comes sooner.
_STANDSTILL_S = 2 * _TICK_S
# Rounds of the loop, none of which waits, in which sockets are read to the end: at least 64 KiB in three of them.
_LAST_ROUNDS = 200

_NO_LIMIT = 2**31  # descriptors, where the system has no limit


class Places(asyncio.Semaphore):
    """A place for each call that may be under way; where they are `tight`, connections are not kept between calls."""

    tight = False


_PLACES: WeakKeyDictionary[asyncio.AbstractEventLoop, Places] = WeakKeyDictionary()


def places() -> Places:
    """Those of the running event loop."""
    loop = asyncio.get_running_loop()
    if (found := _PLACES.get(loop)) is None:
        make_room(0)
        found = _PLACES[loop]
    return found


def make_room(calls: int, games: int = 1, *, connections: int = 0) -> str | None:
    """Have places for so many calls at once, and so many connections, in so many games of the running event loop.

    The soft limit (`ulimit -n`) is raised where that helps. Where there are fewer all the same, what is said of it: in
    words for a person. Nothing happens where the loop has its places already.
    """
    loop = asyncio.get_running_loop()
    if loop in _PLACES:
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
    _PLACES[loop] = Places(room)
    _PLACES[loop].tight = room < connections
    if room >= calls:
        return None
    return f"ulimit -n is {soft}: at most {room} calls are made at once, not {calls}; a higher limit allows more"


def soft_limit() -> int:
    """How many descriptors this process may have; Windows has no such limit."""
    try:
        import resource
    except ImportError:
        return _NO_LIMIT
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _NO_LIMIT if soft == resource.RLIM_INFINITY else soft


class Deadline:
    """`async with Deadline(seconds)`: as `asyncio.timeout`, but an answer that is here in time is not thrown away.

    Time in which the loop stood still does not count: a process that is stopped (Ctrl-Z, a paused container) or that
    computes for seconds reads no answers meanwhile. Before the block is cancelled, what sockets hold is read.
    """

    def __init__(self, seconds: float) -> None:
        self._left_s, self._rounds = seconds, _LAST_ROUNDS
        self._timeout = asyncio.timeout(None)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._loop = asyncio.get_running_loop()
        self._seen = self._loop.time()
        self._timer: asyncio.Handle = self._loop.call_later(min(self._left_s, _TICK_S), self._look)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        await self._timeout.__aexit__(kind, error, trace)

    def _look(self) -> None:
        passed_s, self._seen = self._loop.time() - self._seen, self._loop.time()
        self._left_s -= passed_s if passed_s <= _STANDSTILL_S else _TICK_S
        if self._left_s > 0:
            self._timer = self._loop.call_later(min(self._left_s, _TICK_S), self._look)
        elif self._rounds:
            self._rounds -= 1
            self._timer = self._loop.call_soon(self._look)
        else:
            self._timeout.reschedule(self._loop.time())
