"""Rate limiter: the queue before one host with one key, shared by all games of an event loop.

Slots adapt to 429s (additive increase, multiplicative decrease), two sliding windows of a minute count requests and
tokens, and calls start at least a spacing apart. How long a failed call waits for its own next attempt is `attempts`.
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
"""The longest time for which a Retry-After of one call holds back the others: they find out for themselves then."""

_CAUTION = 8  # slots grow so many times slower where they met a 429 before


class Places(asyncio.Semaphore):
    """A place for each call that may be under way; where they are `tight`, connections are not kept between calls."""

    tight = False


PLACES: WeakKeyDictionary[asyncio.AbstractEventLoop, Places] = WeakKeyDictionary()
"""Those of each event loop: as many as this machine has room for (`runner.process.make_room`)."""
NO_LIMIT = 2**31
"""More than there can be."""
_ENOUGH = Places(NO_LIMIT)


def places() -> Places:
    """Those of the running event loop; where no room was made, enough of them."""
    return PLACES.get(asyncio.get_running_loop(), _ENOUGH)


def soft_limit() -> int:
    """How many descriptors this process may have; Windows has no such limit."""
    try:
        import resource
    except ImportError:
        return NO_LIMIT
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return NO_LIMIT if soft == resource.RLIM_INFINITY else soft


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The limits of one host and key; None is no limit. Slots start at `concurrency`.

    A Retry-After holds a waiting call back for no longer than `patience_s`.
    """

    concurrency: int | None = None
    spacing_s: float = 0.0
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    patience_s: float = math.inf

    def joined(self, other: RateLimits) -> RateLimits:
        """The stricter of both, except for the concurrency: each run keeps to its own."""
        return RateLimits(
            concurrency=max(filter(None, (self.concurrency, other.concurrency)), default=None),
            spacing_s=max(self.spacing_s, other.spacing_s),
            requests_per_minute=min(filter(None, (self.requests_per_minute, other.requests_per_minute)), default=None),
            tokens_per_minute=min(filter(None, (self.tokens_per_minute, other.tokens_per_minute)), default=None),
            patience_s=min(self.patience_s, other.patience_s),
        )


@dataclass(slots=True, eq=False)
class Slot:
    """One call under way, to be used as `with await limiter.acquire() as slot`.

    A `RateLimited` that leaves the block is a 429, a block that ends well an answer; other errors say nothing of how
    busy the host is, but may carry a Retry-After.
    """

    limiter: RateLimiter
    started: float
    tokens: int  # an estimate until the call is over, and 0 if it was turned away
    burst: int
    connected: bool = False  # whether it holds a file descriptor

    def __enter__(self) -> Slot:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.limiter.release(self, error)

    def used(self, tokens: int | None) -> None:
        """The tokens of prompt and answer take the place of the estimate, where the provider counts them."""
        if tokens is not None:
            self.tokens = tokens


class RateLimiter:
    """Lets calls start in the order in which they asked; belongs to one event loop.

    Slots halve at a 429 and grow by one with every round of answers. Further 429s of calls that were under way
    together with the first change nothing: a burst of them says once that there were too many.
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
        """Calls that may be under way now; None: any number."""
        self.in_flight = 0
        self._edge: int | None = None  # slots at the last 429
        self._answers = 0  # good ones since the slots last changed
        self._burst = 0
        self._minute: deque[Slot] = deque()
        self._clock, self._sleep = clock, sleep
        self._next = self._pushed = clock()  # no call starts before: for the spacing, for a Retry-After
        self._line = asyncio.Lock()
        self._changed = asyncio.Event()
        self._first: int | None = None  # tokens of the call that is next

    def tighten(self, limits: RateLimits) -> None:
        """Another run calls there too; its limits hold as well."""
        joined = self.limits.joined(limits)
        if self.slots is None or self.slots == self.limits.concurrency:
            self.slots = joined.concurrency  # nothing has been learned that would be forgotten by this
        self.limits = joined
        self._changed.set()

    async def acquire(self, tokens: int = 0) -> Slot:
        """Wait for a slot and a file descriptor for a call of about so many tokens.

        A cancelled wait leaves no gap.
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
        """The call is over, with an answer or with this error."""
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
        """Seconds until a call of about so many tokens may start: 0 for now, infinite for "when one has ended"."""
        if self.slots is not None and self.in_flight >= self.slots:
            return math.inf
        return self._paced_s(tokens, arrived)

    def _paced_s(self, tokens: int, arrived: float | None = None) -> float:
        now = self._clock()
        pushed = self._pushed if arrived is None else min(self._pushed, arrived + self.limits.patience_s)
        return max(0.0, self._next - now, pushed - now, self._until_request(now), self._until_tokens(now, tokens))

    def start(self, tokens: int) -> Slot:
        """A call starts; `wait_s` has said 0."""
        assert self.slots is None or self.in_flight < self.slots, "a call started that had to wait"
        self.in_flight += 1
        return self._counted(tokens)

    async def again(self) -> None:
        """Wait until the call of a slot may send another request, of no tokens of its own, and count that."""
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
        """Let no call start for so long, at most `LONGEST_PUSH_S`: the host has asked for it.

        More than the patience is no wait, and may hold for one call alone: the next call finds out.
        """
        if seconds <= self.limits.patience_s:
            self._pushed = max(self._pushed, self._clock() + min(seconds, LONGEST_PUSH_S))

    def short_of(self, tokens: int) -> str | None:
        """The limit per minute that such a call waits for, by its name in the scenario; None where there is none."""
        now = self._clock()
        requests, of_tokens = self._until_request(now), self._until_tokens(now, tokens)
        if not max(requests, of_tokens):
            return None
        return "requests_per_minute" if requests >= of_tokens else "tokens_per_minute"

    def note(self) -> str | None:
        """What holds calls back, in words for a person: `8 of 16 slots`; None where nothing does."""
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
        """So long, or until something changes: a call ends, or the limits do."""
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
        """After as many answers as there are slots there is one more, up to the concurrency."""
        most = self.limits.concurrency
        if self.slots is None or most is None or self.slots >= most or slot.burst != self._burst:
            return
        self._answers += 1
        near = self._edge is not None and self.slots + 1 >= self._edge
        if self._answers >= self.slots * (_CAUTION if near else 1):
            self.slots, self._answers = self.slots + 1, 0
            if self._edge is not None and self.slots > self._edge:
                self._edge = None  # it takes more than it did

    def _limited(self, slot: Slot) -> None:
        """Half of the slots, once for all calls that started before the first 429 was known."""
        if self.slots is None or slot.burst != self._burst:
            return
        self._burst += 1
        self._edge, self.slots, self._answers = self.slots, max(1, self.slots // 2), 0

    def _until_request(self, now: float) -> float:
        most, minute = self.limits.requests_per_minute, self._last_minute(now)
        return 0.0 if most is None or len(minute) < most else minute[len(minute) - most].started + MINUTE_S - now

    def _until_tokens(self, now: float, tokens: int) -> float:
        """Seconds until enough tokens are older than a minute; a call larger than the limit gets a whole minute."""
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
