"""Pacing: when calls are sent. Rate limits of a host, retries with backoff, and the deadline of one call.

A `RateLimiter` is the queue for one host and key, shared by all games of an event loop. Its slots adapt to 429s
(additive increase, multiplicative decrease), sliding windows of a minute limit requests and tokens, and calls start at
least a spacing apart. `call_with_retries` makes the attempts of one decision's call, with one `RetryVerdict` on each
that failed. `faults` classifies errors and reads how long a host asks to wait; `runs.decide` asks again after a bad
reply and falls back.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from weakref import WeakKeyDictionary
from zlib import crc32

from agentsim.engine.wording import counted
from agentsim.errors import ModelError, RateLimited, TransportFailed
from agentsim.models.base import Completion

MINUTE_S = 60.0
LONGEST_PUSH_S = 60.0
"""The longest time in seconds for which a Retry-After of one call delays the others."""

_CAUTION = 8  # slots grow this many times slower near the number at which the host sent a 429


class ConnectionSlots(asyncio.Semaphore):
    """The semaphore of the calls that may be under way. If it is `tight`, connections are closed after each call."""

    tight = False


CONNECTION_SLOTS: WeakKeyDictionary[asyncio.AbstractEventLoop, ConnectionSlots] = WeakKeyDictionary()
"""The semaphore of each event loop, sized by the descriptors of this machine (`runs.process.reserve_descriptors`)."""
NO_LIMIT = 2**31
"""A number larger than any real limit."""
_ENOUGH = ConnectionSlots(NO_LIMIT)


def connection_slots() -> ConnectionSlots:
    """Return the semaphore of the running event loop, an unlimited one if none was set."""
    return CONNECTION_SLOTS.get(asyncio.get_running_loop(), _ENOUGH)


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
        self._edge: int | None = None  # slots at the last 429, near which they grow with caution
        self._answers = 0  # since the slots last changed
        self._burst = 0  # number of times that the slots were halved
        self._minute: deque[Slot] = deque()
        self._clock, self._sleep = clock, sleep
        self._next = self._pushed = clock()  # no call starts before these: for the spacing, for a Retry-After
        self._line = asyncio.Lock()  # held by the next call to start; the others queue for it
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
            await connection_slots().acquire()
        except BaseException as error:
            self.release(slot, error)
            raise
        slot.connected = True
        return slot

    def release(self, slot: Slot, error: BaseException | None = None) -> None:
        """Free the slot of a call that ended with an answer, or with this error."""
        if slot.connected:
            connection_slots().release()
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

    async def acquire_again(self) -> None:
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


_LONGEST_BACK_OFF_S = 60.0
_LEAST_PATIENCE_S = 0.01  # the least that a wait takes of the patience


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The limits on retries of one decision.

    `retries` limits retries after transport faults. `max_attempts` limits all attempts that were not rate limited,
    re-asks included, and with `count_rate_limits` the rate-limited ones, too. `retry_wait_s` as a number doubles with
    each retry, up to 60 s; as a tuple it lists the waits, and the last one repeats. `rate_limit_wait_s` as a number is
    constant; as a tuple it is indexed by the failures so far. Up to `rate_limit_jitter_s` are added to it. With `waits`
    False (replay) waits count against the limits but take no time.
    """

    retries: int = 1
    max_attempts: int = 3
    retry_wait_s: float | tuple[float, ...] = 0.5
    rate_limit_wait_s: float | tuple[float, ...] = 10.0
    rate_limit_jitter_s: float = 0.0
    rate_limit_patience_s: float = 300.0
    count_rate_limits: bool = False
    waits: bool = True


@dataclass(slots=True)
class RetryCount:
    """The attempts that one decision has used so far.

    `waited_s` is the patience used up by rate limits. `rate_limited` counts such calls, which `made` leaves out.
    `decision` names the decision and seeds its jitter, so that a replayed decision waits equally long.
    """

    made: int = 0
    retries: int = 0
    waited_s: float = 0.0
    rate_limited: int = 0
    decision: str = field(default="", compare=False)


def retry_wait(policy: RetryPolicy, retries: int) -> float:
    """Return the seconds to wait before the next retry, after `retries` earlier ones."""
    waits = policy.retry_wait_s
    if isinstance(waits, tuple):
        return _listed(waits, retries)
    return float(min(waits * 2.0 ** min(retries, 60), max(waits, _LONGEST_BACK_OFF_S)))


def _listed(waits: tuple[float, ...], index: int) -> float:
    return waits[min(index, len(waits) - 1)] if waits else 0.0


def rate_limit_wait(policy: RetryPolicy, used: RetryCount) -> float:
    """Return the seconds to wait after a rate limit that states no time of its own."""
    waits, failed = policy.rate_limit_wait_s, max(0, used.retries + used.rate_limited - 1)
    wait = _listed(waits, failed) if isinstance(waits, tuple) else waits
    return wait + policy.rate_limit_jitter_s * crc32(f"{used.decision} {failed}".encode()) / 2**32


@dataclass(frozen=True, slots=True)
class RetryVerdict:
    """The verdict on a failed call: the seconds to wait before the next attempt, or None if no attempt follows.

    `exceeds_patience` is True if the host asks for more time than the decision has left.
    """

    wait_s: float | None
    exceeds_patience: bool = False


def retry_verdict(error: ModelError, policy: RetryPolicy, used: RetryCount) -> RetryVerdict:
    """Return the verdict on a call that failed with this error; `used` counts that call already."""
    made = used.made + used.rate_limited * policy.count_rate_limits
    if isinstance(error, RateLimited):
        if policy.count_rate_limits and made >= policy.max_attempts:
            return RetryVerdict(None)
        wait = rate_limit_wait(policy, used) if error.retry_after is None else error.retry_after
        if used.waited_s + _patience_taken(wait, policy) <= policy.rate_limit_patience_s:
            return RetryVerdict(wait)
        # a patience of 0 is the player's setting, not the host's
        return RetryVerdict(None, exceeds_patience=error.retry_after is not None or used.waited_s > 0)
    if isinstance(error, TransportFailed):
        asked = error.retry_after or 0.0
        if asked > policy.rate_limit_patience_s:
            return RetryVerdict(None, exceeds_patience=True)
        if used.retries < policy.retries and made < policy.max_attempts:
            return RetryVerdict(max(retry_wait(policy, used.retries), asked))
    return RetryVerdict(None)


def _patience_taken(wait: float, policy: RetryPolicy) -> float:
    # A host that answers "come back in 0 s" forever would otherwise never use up the patience.
    return max(wait, min(1.0, max(policy.rate_limit_patience_s / 100, _LEAST_PATIENCE_S)))


async def call_with_retries(
    attempt: Callable[[], Awaitable[Completion]],
    policy: RetryPolicy,
    used: RetryCount,
    failed: Callable[[ModelError, RetryVerdict], None],
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> Completion:
    """Return the completion of the first attempt that succeeds. Raises the last `ModelError` if no attempt may follow.

    `used` is the decision's own count, carried from one call of this function to the next. `failed` is called with the
    error of every failed attempt and the verdict on it, the final one included.
    """
    verdict = RetryVerdict(None)  # on the latest failed attempt

    async def attempt_once() -> Completion:
        nonlocal verdict
        try:
            completion = await attempt()
        except ModelError as error:
            used.made += not isinstance(error, RateLimited)
            used.rate_limited += isinstance(error, RateLimited)
            verdict = retry_verdict(error, policy, used)
            failed(error, verdict)
            raise
        used.made += 1
        return completion

    try:
        return await attempt_once()
    except ModelError as error:
        first = [error]  # nearly every call succeeds at once: set up retries only after a failure
    from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

    async def attempted() -> Completion:
        if first:
            raise first.pop()
        return await attempt_once()

    def wait(_: RetryCallState) -> float:
        assert verdict.wait_s is not None, "asked only after an error that is not final"
        return verdict.wait_s

    def book(state: RetryCallState) -> None:
        if state.outcome and isinstance(state.outcome.exception(), RateLimited):
            used.waited_s += _patience_taken(state.upcoming_sleep, policy)
        else:
            used.retries += 1

    async def rest(seconds: float) -> None:
        await sleep(seconds if policy.waits else 0)

    retrying = AsyncRetrying(
        retry=retry_if_exception(lambda error: isinstance(error, ModelError) and verdict.wait_s is not None),
        wait=wait,
        before_sleep=book,
        sleep=rest,
        reraise=True,
    )
    return await retrying(attempted)


_TICK_S = 0.1
# A tick that comes later than this after the one before shows that the loop stood still. On a machine that is only
# busy, ticks come sooner.
_STANDSTILL_S = 2 * _TICK_S
# Rounds of the loop, without waiting, that read sockets to the end: three of them read at least 64 KiB.
_LAST_ROUNDS = 200


class Deadline:
    """A timeout like `asyncio.timeout` that keeps an answer which arrived in time: `async with Deadline(seconds)`.

    Time in which the event loop stood still does not count: a process that is stopped (Ctrl-Z, a paused container) or
    computes for seconds reads no answers. Before the block is canceled, the loop reads what the sockets hold.
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
