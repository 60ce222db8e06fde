"""turns: who waits for a call's turn, and for so long that somebody who looks on should know.

What holds calls back is the rate limiter's business; one timer serves all calls, of which a wave has a hundred.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agentsim.engine.play import Ask

__all__ = ["NOTICEABLE_S", "Turns"]

NOTICEABLE_S = 1.0
"""A wait for a call's turn that somebody who looks on is told of."""


class Turns:
    """`held` hears of every call whose turn has not come after `NOTICEABLE_S`, once; belongs to one event loop."""

    def __init__(self, held: Callable[[Ask], None]) -> None:
        self._held = held
        self._waiting: dict[int, tuple[float, Ask]] = {}  # by place: until when it is no news
        self._timer: asyncio.TimerHandle | None = None

    def waits(self, ask: Ask) -> None:
        """A call for this request waits for its turn."""
        loop = asyncio.get_running_loop()
        self._waiting[ask.place] = loop.time() + NOTICEABLE_S, ask
        if self._timer is None:
            self._timer = loop.call_later(NOTICEABLE_S, self._look)

    def over(self, ask: Ask) -> None:
        """It waits no more: its turn has come, or never will; may be said again."""
        self._waiting.pop(ask.place, None)

    def _look(self) -> None:
        loop, self._timer = asyncio.get_running_loop(), None
        for place, (due, ask) in list(self._waiting.items()):
            if due > loop.time():
                self._timer = loop.call_at(due, self._look)
                return
            del self._waiting[place]
            loop.call_soon(self._held, ask)  # what one raises is not the others' business
