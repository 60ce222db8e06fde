"""Throttle: the queue before one host with one key, shared by all games of an event loop.

What the host takes is `allowance`, how far apart calls start `spacing`; what a call says does not belong here.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary

from agentsim.errors import RateLimited, TransportFailed
from agentsim.models.allowance import Allowance, Terms, Ticket
from agentsim.models.base import Usage
from agentsim.models.spacing import Spacer

__all__ = ["Admission", "Throttle", "shared_throttle"]


class Throttle:
    """Lets calls start in the order in which they asked; belongs to one event loop."""

    def __init__(
        self,
        terms: Terms = Terms(),  # noqa: B008 - it is frozen
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.allowance = Allowance(terms)
        self.spacer = Spacer(terms.spacing_s, clock=clock, sleep=sleep)
        self.spacer.patience_s = terms.patience_s
        self._clock, self._sleep = clock, sleep
        self._line = asyncio.Lock()
        self._changed = asyncio.Event()
        self._first: int | None = None  # tokens of the call that is next

    def agree(self, terms: Terms) -> None:
        """Somebody else calls there too; what that one knows holds as well."""
        self.allowance.agree(terms)
        self.spacer.spacing_s, self.spacer.patience_s = self.allowance.terms.spacing_s, self.allowance.terms.patience_s
        self._changed.set()

    def admission(self, tokens: int = 0) -> Admission:
        """A slot for the length of the block, which is one call of about so many tokens.

        A `RateLimited` that leaves the block is a 429, a block that ends well an answer; other errors say nothing of
        how busy the host is, but may ask for time. Whoever is cancelled in the queue leaves no gap.
        """
        return Admission(self, tokens)

    def ended(self, ticket: Ticket, error: BaseException | None) -> None:
        """A call is over, with an answer or with this."""
        if error is None:
            self.allowance.answered(ticket)
        elif isinstance(error, RateLimited):
            self.allowance.limited(ticket)
            self.allowance.used(ticket, 0)
        if isinstance(error, (RateLimited, TransportFailed)) and error.retry_after is not None:
            self.spacer.push_back(error.retry_after)
        self.allowance.ended(ticket)
        self._changed.set()

    async def turn(self, tokens: int) -> Ticket:
        """Wait for a slot for a call of about so many tokens; it is held until `ended`."""
        arrived = self._clock()
        async with self._line:
            self._first = tokens
            try:
                while True:
                    while wait := self.allowance.wait(self._clock(), tokens):
                        await self._pause(wait)
                    await self.spacer.turn(arrived)
                    now = self._clock()
                    if not self.allowance.wait(now, tokens):  # a 429 may have come meanwhile
                        return self.allowance.start(now, tokens)
            finally:
                self._first = None

    async def _pause(self, seconds: float) -> None:
        """So long, or until something changes: a call ends, or turns out to be smaller than it was thought to be."""
        self._changed.clear()
        if seconds == math.inf:
            await self._changed.wait()
            return
        both = [asyncio.ensure_future(self._changed.wait()), asyncio.ensure_future(self._slept(seconds))]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in both:
                one.cancel()

    async def _slept(self, seconds: float) -> None:
        await self._sleep(seconds)

    def note(self) -> str | None:
        """What holds calls back, in words for a person: `8 of 16 slots`; None where nothing does."""
        slots, most = self.allowance.slots, self.allowance.terms.concurrency
        notes = []
        if slots is not None and most is not None and slots < most:
            notes.append(f"{slots} of {most} slots")
        if (first := self._first) is not None:  # somebody waits
            if short := self.allowance.short_of(self._clock(), first):
                notes.append(f"waiting for {short}")
            elif (held := self.spacer.held()) >= 1:
                notes.append(f"asked to wait {held:.0f} s")
        return ", ".join(notes) or None


class Admission:
    """One call's slot, from its turn to the end of the block; `used` may be told what it came to."""

    _ticket: Ticket

    def __init__(self, throttle: Throttle, tokens: int) -> None:
        self._throttle, self._tokens = throttle, tokens

    async def __aenter__(self) -> Admission:
        self._ticket = await self._throttle.turn(self._tokens)
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._throttle.ended(self._ticket, error)

    def used(self, usage: Usage) -> None:
        """The tokens of the answer take the place of the estimate, where the provider counts them."""
        if usage.prompt_tokens is not None and usage.completion_tokens is not None:
            self._throttle.allowance.used(self._ticket, usage.prompt_tokens + usage.completion_tokens)


_SHARED: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str | None], Throttle]] = WeakKeyDictionary()


def shared_throttle(host: str, key: str | None, terms: Terms) -> Throttle:
    """The throttle of a host (`host:port`) and key in the running event loop, under these terms too."""
    throttles = _SHARED.setdefault(asyncio.get_running_loop(), {})
    throttle = throttles.get((host, key))
    if throttle is None:
        throttle = throttles[host, key] = Throttle(terms)
    else:
        throttle.agree(terms)
    return throttle
