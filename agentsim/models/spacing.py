"""Spacing: the least time between the starts of two calls to one host with one key.

How many calls run at once does not belong here, nor how long a failed call waits for its own next attempt.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

__all__ = ["LONGEST_PUSH_S", "Spacer"]

# A provider may ask one caller for five minutes; the others find out for themselves after one, and spend their own
# patience.
LONGEST_PUSH_S = 60.0


class Spacer:
    """Lets calls start one after another, in the order in which they asked; belongs to one event loop."""

    def __init__(
        self,
        spacing_s: float = 0.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.spacing_s = spacing_s
        self.patience_s = math.inf  # of whoever has the least
        self._clock, self._sleep = clock, sleep
        self._next = self._pushed = clock()
        self._line = asyncio.Lock()
        self._waiting = 0

    async def turn(self, arrived: float | None = None) -> None:
        """Return when the next call may start; a caller that is cancelled in the line leaves no gap.

        What the host asks for holds a call for no longer than there is patience since it `arrived`.
        """
        arrived = self._clock() if arrived is None else arrived
        now = self._clock()
        if not self._waiting and max(self._next, self._pushed) <= now:  # no call waits, there is nothing to wait for
            self._next = now + self.spacing_s
            return
        self._waiting += 1
        try:
            async with self._line:
                # Asked again after each sleep: meanwhile the next start may have been pushed back.
                while (wait := max(self._next, min(self._pushed, arrived + self.patience_s)) - self._clock()) > 0:
                    await self._sleep(wait)
                self._next = self._clock() + self.spacing_s
        finally:
            self._waiting -= 1

    def held(self) -> float:
        """Seconds until the next call may start, if none starts before."""
        return max(0.0, max(self._next, self._pushed) - self._clock())

    def push_back(self, seconds: float) -> None:
        """Let no call start for so long, at most `LONGEST_PUSH_S`: the host has asked for it.

        What asks for more than there is patience is no wait, and may hold for one call alone: the next finds out.
        """
        if seconds <= self.patience_s:
            self._pushed = max(self._pushed, self._clock() + min(seconds, LONGEST_PUSH_S))
