"""Signals: the first one ends a run or a batch in order, and the second ends the process."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from agentsim.errors import Interrupted
from agentsim.players.terminal import InterruptRequest


@contextmanager
def stoppable(interrupt: InterruptRequest | None = None) -> Iterator[Callable[[asyncio.Task[Any]], None]]:
    """Registers the task that the first SIGINT or SIGTERM cancels, which becomes `Interrupted`; the second kills.

    Where a person is on call, the first SIGINT rings for them instead, and counts for nothing else.
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
            with suppress(RuntimeError):  # the game is over, its loop closed
                task.get_loop().call_soon_threadsafe(task.cancel)

    def register(task: asyncio.Task[Any]) -> None:
        tasks.append(task)
        if received:  # before there was a task to cancel
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
