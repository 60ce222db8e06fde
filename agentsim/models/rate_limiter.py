"""The rate limiter: the queue for one host and key, shared by all games of an event loop.

Slots adapt to 429s (additive increase, multiplicative decrease), sliding windows of a minute limit requests and tokens,
and calls start at least a spacing apart. `retries` decides how long a failed call waits before its own next attempt.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from agentsim.engine.wording import counted
from agentsim.errors import RateLimited, TransportFailed

MINUTE_S = 60.0
LONGEST_PUSH_S = 60.0
"""The longest time in seconds for which a Retry-After of one call delays the others."""

_CAUTION = 8  # slots grow this many times slower near the number at which the host sent a 429


class Places(asyncio.Semaphore):
    """The semaphore of the calls that may be under way. If it is `tight`, connections are closed after each call."""

    tight = False


PLACES: WeakKeyDictionary[asyncio.AbstractEventLoop, Places] = WeakKeyDictionary()
"""The semaphore of each event loop, sized by the file descriptors of this machine (`runs.process.make_room`)."""
NO_LIMIT = 2**31
"""A number larger than any real limit."""
_ENOUGH = Places(NO_LIMIT)


def places() -> Places:
    """Return the semaphore of the running event loop, an unlimited one if none was set."""
    return PLACES.get(asyncio.get_running_loop(), _ENOUGH)


def soft_limit() -> int:
    """Return how many file descriptors this process may open, `NO_LIMIT` on Windows."""
    try:
        import resource
    except ImportError:
        return NO_LIMIT
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return NO_LIMIT if soft == resource.RLIM_INFINITY else soft


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The limits of one host and key; None means no limit. Slots start at `concurrency`.

    A Retry-After delays a waiting call by at most `patience_s`.
    """

    concurrency: int | None = None
    spacing_s: float = 0.0
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    patience_s: float = math.inf

    def joined(self, other: RateLimits) -> RateLimits:
        """Return the stricter limits of both, but the larger concurrency: each run enforces its own."""
        return RateLimits(
            concurrency=max(filter(None, (self.concurrency, other.concurrency)), default=None),
            spacing_s=max(self.spacing_s, other.spacing_s),
            requests_per_minute=min(filter(None, (self.requests_per_minute, other.requests_per_minute)), default=None),
            tokens_per_minute=min(filter(None, (self.tokens_per_minute, other.tokens_per_minute)), default=None),
            patience_s=min(self.patience_s, other.patience_s),
        )


@dataclass(slots=True, eq=False)
class Slot:
    """One call under way: `with await limiter.acquire() as slot`.

    `RateLimited` raised in the block counts as a 429, a normal exit as an answer. Other errors do not change the number
    of slots, but a `TransportFailed` may carry a Retry-After.
    """

    limiter: RateLimiter
    started: float
    tokens: int  # an estimate until the call is over; 0 if the host rejected it with a 429
    burst: int
    connected: bool = False  # whether it holds a file descriptor

    def __enter__(self) -> Slot:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.limiter.release(self, error)

    def used(self, tokens: int | None) -> None:
        """Replace the estimate by the tokens of prompt and completion, unless the provider reported none."""
        if tokens is not None:
            self.tokens = tokens


class RateLimiter:
    """A rate limiter that starts calls in the order in which they asked. It belongs to one event loop.

    Slots halve at a 429 and grow by one with every round of answers. Further 429s of calls that were under way at the
    first one are ignored: one burst reduces the slots once.
    """

    def __init__(
        self,
        limits: RateLimits = RateLimits(),
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.limits = limits
        self.slots = limits.concurrency
        """The calls that may be under way now, or None for any number."""
        self.in_flight = 0
        self._edge: int | None = None  # slots at the last 429
        self._answers = 0  # since the slots last changed
        self._burst = 0
        self._minute: deque[Slot] = deque()
        self._clock, self._sleep = clock, sleep
        self._next = self._pushed = clock()  # no call starts before these: for the spacing, for a Retry-After
        self._line = asyncio.Lock()
        self._changed = asyncio.Event()
        self._first: int | None = None  # tokens of the next call in the queue

    def tighten(self, limits: RateLimits) -> None:
        """Add the limits of another run that calls the same host."""
        joined = self.limits.joined(limits)
        if self.slots is None or self.slots == self.limits.concurrency:
            self.slots = joined.concurrency  # no 429 has changed the slots
        self.limits = joined
        self._changed.set()

    async def acquire(self, tokens: int = 0) -> Slot:
        """Wait for a slot and a file descriptor for a call of about `tokens` tokens.

        A canceled wait takes no slot.
        """
        arrived = self._clock()
        async with self._line:
            self._first = tokens
            try:
                while seconds := self.wait_s(tokens, arrived):
                    await self._pause(seconds)
                slot = self.start(tokens)
            finally:
                self._first = None
        try:
            await places().acquire()
        except BaseException as error:
            self.release(slot, error)
            raise
        slot.connected = True
        return slot

    def release(self, slot: Slot, error: BaseException | None = None) -> None:
        """Free the slot of a call that ended with an answer, or with this error."""
        if slot.connected:
            places().release()
        if error is None:
            self._answered(slot)
        elif isinstance(error, RateLimited):
            self._limited(slot)
            slot.tokens = 0
        if isinstance(error, (RateLimited, TransportFailed)) and error.retry_after is not None:
            self.push_back(error.retry_after)
        self.in_flight -= 1
        assert self.in_flight >= 0, f"a slot was released twice: {slot}"
        self._changed.set()

    def wait_s(self, tokens: int, arrived: float | None = None) -> float:
        """Return the seconds until a call of about `tokens` tokens may start.

        0 means now, infinity that another call must end first.
        """
        if self.slots is not None and self.in_flight >= self.slots:
            return math.inf
        return self._paced_s(tokens, arrived)

    def _paced_s(self, tokens: int, arrived: float | None = None) -> float:
        now = self._clock()
        pushed = self._pushed if arrived is None else min(self._pushed, arrived + self.limits.patience_s)
        return max(0.0, self._next - now, pushed - now, self._until_request(now), self._until_tokens(now, tokens))

    def start(self, tokens: int) -> Slot:
        """Start a call and return its slot, when `wait_s` is 0."""
        assert self.slots is None or self.in_flight < self.slots, "a call started that had to wait"
        self.in_flight += 1
        return self._counted(tokens)

    async def again(self) -> None:
        """Wait until the call of a slot may send another request, and count that request with no tokens of its own."""
        async with self._line:
            while seconds := self._paced_s(0):
                await self._pause(seconds)
            self._counted(0)

    def _counted(self, tokens: int) -> Slot:
        now = self._clock()
        self._next = now + self.limits.spacing_s
        slot = Slot(self, now, tokens, self._burst)
        if self.limits.requests_per_minute is not None or self.limits.tokens_per_minute is not None:
            self._minute.append(slot)
        return slot

    def push_back(self, seconds: float) -> None:
        """Delay all calls by `seconds`, at most `LONGEST_PUSH_S`, as the host asked.

        A delay longer than the patience is ignored here, since it may hold for one call alone.
        """
        if seconds <= self.limits.patience_s:
            self._pushed = max(self._pushed, self._clock() + min(seconds, LONGEST_PUSH_S))

    def short_of(self, tokens: int) -> str | None:
        """Return the scenario's name of the limit per minute that a call of `tokens` tokens waits for, or None."""
        now = self._clock()
        requests, of_tokens = self._until_request(now), self._until_tokens(now, tokens)
        if not max(requests, of_tokens):
            return None
        return "requests_per_minute" if requests >= of_tokens else "tokens_per_minute"

    def note(self) -> str | None:
        """Return what delays calls, in words for people: `8 of 16 slots`, or None if nothing does."""
        most = self.limits.concurrency
        notes = []
        if self.slots is not None and most is not None and self.slots < most:
            notes.append(f"{self.slots} of {counted(most, 'slot')}")
        if (first := self._first) is not None:  # a call waits
            if short := self.short_of(first):
                notes.append(f"waiting for {short}")
            elif (held := max(self._next, self._pushed) - self._clock()) >= 1:
                notes.append(f"asked to wait {held:.0f} s")
        return ", ".join(notes) or None

    async def _pause(self, seconds: float) -> None:
        """Sleep until the time is over, a call ends or the limits change."""
        self._changed.clear()
        both: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._changed.wait())]
        if seconds < math.inf:
            both.append(asyncio.ensure_future(self._sleep(seconds)))
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in both:
                one.cancel()

    def _answered(self, slot: Slot) -> None:
        """Additive increase: add a slot after one full round of answers, up to the concurrency."""
        most = self.limits.concurrency
        if self.slots is None or most is None or self.slots >= most or slot.burst != self._burst:
            return
        self._answers += 1
        near = self._edge is not None and self.slots + 1 >= self._edge
        if self._answers >= self.slots * (_CAUTION if near else 1):
            self.slots, self._answers = self.slots + 1, 0
            if self._edge is not None and self.slots > self._edge:
                self._edge = None  # the host accepts more calls than at the last 429

    def _limited(self, slot: Slot) -> None:
        """Multiplicative decrease: halve the slots, once for all calls that started before the first 429."""
        if self.slots is None or slot.burst != self._burst:
            return
        self._burst += 1
        self._edge, self.slots, self._answers = self.slots, max(1, self.slots // 2), 0

    def _until_request(self, now: float) -> float:
        most, minute = self.limits.requests_per_minute, self._last_minute(now)
        return 0.0 if most is None or len(minute) < most else minute[len(minute) - most].started + MINUTE_S - now

    def _until_tokens(self, now: float, tokens: int) -> float:
        """Return the seconds until enough tokens leave the window.

        A call larger than the limit waits for an empty window.
        """
        most, minute = self.limits.tokens_per_minute, self._last_minute(now)
        if most is None:
            return 0.0
        excess = sum(slot.tokens for slot in minute) + min(tokens, most) - most
        for slot in minute if excess > 0 else ():
            excess -= slot.tokens
            if excess <= 0:
                return slot.started + MINUTE_S - now
        return 0.0

    def _last_minute(self, now: float) -> deque[Slot]:
        while self._minute and self._minute[0].started + MINUTE_S <= now:
            self._minute.popleft()
        return self._minute
