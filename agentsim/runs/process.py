"""Process: an orderly end at a signal, and file descriptors for the calls of runs."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agentsim.engine.wording import counted
from agentsim.errors import Interrupted
from agentsim.models.pacing import CONNECTION_SLOTS, ConnectionSlots, soft_limit
from agentsim.players.terminal import InterruptRequest

_OUR_DESCRIPTORS = 16  # for modules, name lookups and written files
_DESCRIPTORS_OF_A_GAME = 2  # its journal and its history


@contextmanager
def stoppable(interrupt: InterruptRequest | None = None) -> Iterator[Callable[[asyncio.Task[Any]], None]]:
    """Context manager that yields a function to register tasks, which the first SIGINT or SIGTERM cancels.

    The cancellation becomes `Interrupted`; the second signal kills the process. If a person is on call, the first
    SIGINT rings for them instead and cancels nothing.
    """
    received: list[int] = []
    tasks: list[asyncio.Task[Any]] = []

    def handle(number: int, frame: object) -> None:
        if number == signal.SIGINT and interrupt is not None and interrupt.ring():
            for task in tasks:
                with suppress(RuntimeError):
                    task.get_loop().call_soon_threadsafe(interrupt.noticed)
            return
        received.append(number)
        if len(received) > 1:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        for task in tasks:
            with suppress(RuntimeError):  # the game is over and its loop closed
                task.get_loop().call_soon_threadsafe(task.cancel)

    def register(task: asyncio.Task[Any]) -> None:
        tasks.append(task)
        if received:  # the signal came before there was a task to cancel
            task.get_loop().call_soon(task.cancel)

    before = {}
    with suppress(ValueError):  # not the main thread: the host program handles signals
        before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield register
    except asyncio.CancelledError:
        raise Interrupted("stopped by a signal", signal_number=received[0] if received else 2) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def reserve_descriptors(calls: int, games: int = 1, *, connections: int = 0) -> str | None:
    """Reserve file descriptors for so many concurrent calls, connections and games in the running event loop.

    Raises the soft limit (`ulimit -n`) if it is too low. Returns a message for the user if fewer calls are possible all
    the same, else None. Does nothing if the loop has its places already.
    """
    loop = asyncio.get_running_loop()
    if loop in CONNECTION_SLOTS:
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
        with suppress(OSError, ValueError):  # systems may have another limit besides
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    soft = soft_limit()
    room = max(1, soft - taken)
    CONNECTION_SLOTS[loop] = ConnectionSlots(room)
    CONNECTION_SLOTS[loop].tight = room < connections
    if room >= calls:
        return None
    allowed = counted(room, "call is", "calls are")
    return f"ulimit -n is {soft}: at most {allowed} made at once, not {calls}; a higher limit allows more"
