"""Changes: wakes all tasks that wait for a change, such as the streams of open pages."""

from __future__ import annotations

import asyncio


class ChangeSignal:
    """A signal of changes. Read `next_change` before the state that changes, so that no change is missed."""

    def __init__(self) -> None:
        self._next_change = asyncio.Event()

    @property
    def next_change(self) -> asyncio.Event:
        """The event that the next change sets."""
        return self._next_change

    def notify(self) -> None:
        """Wake all tasks that wait."""
        reached, self._next_change = self._next_change, asyncio.Event()
        reached.set()


async def within(change: asyncio.Event, timeout_s: float) -> bool:
    """Wait for the event. Returns False if it is not set within the timeout in seconds."""
    try:
        async with asyncio.timeout(timeout_s):
            return await change.wait()
    except TimeoutError:
        return False
