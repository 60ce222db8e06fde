"""Attempts: how often and after what wait one decision's call is tried again, and how long one call may take.

A response asks for a wait in several ways (`retry_after`): points in time are compared with the response's own `Date`,
and no clock is read. What went wrong is decided in `faults`; asking again after a bad reply and falling back belong to
`runner.decide`.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from zlib import crc32

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from agentsim.errors import ModelError, RateLimited, TransportFailed
from agentsim.models.base import Completion

_DIGITS = r"\d{1,300}(?:\.\d{1,300})?(?:e\d{1,3})?"
_NUMBER = re.compile(_DIGITS, re.ASCII)
_DURATION = re.compile(
    rf"(?=\d)(?:({_DIGITS})d)?(?:({_DIGITS})h)?(?:({_DIGITS})m(?!s))?(?:({_DIGITS})s)?(?:({_DIGITS})ms)?", re.ASCII
)
_UNITS_S = (86_400.0, 3_600.0, 60.0, 1.0, 0.001)
_EPOCH_S, _EPOCH_MS = 1e9, 1e12  # a larger number is a point in time: no provider asks to wait for thirty years
# When a bucket is full again says little of when there is room for one call: it is asked again after a minute.
_LONGEST_RESET_S = 60.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the response asks to wait, or None where it does not say so plainly.

    `retry-after-ms` counts before `Retry-After` (seconds, a duration or a date), and either before the time at which a
    rate limit is reset, of which those that are used up count, the last of them first, and none for more than a minute
    but a limit that is used up until a point in time.
    """
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    now = _moment(lower.get("date", ""))
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if _NUMBER.fullmatch(lower.get(name, "")):
            return _plausible(float(lower[name]) * unit)
    if "retry-after" in lower:
        seconds = duration(lower["retry-after"])
        return _since(now, _moment(lower["retry-after"])) if seconds is None else seconds
    resets = list(_resets(lower, now))
    return max([seconds for used_up, seconds in resets if used_up] or [seconds for _, seconds in resets], default=None)


def duration(text: str) -> float | None:
    """The seconds of `36.5s`, `6m0s`, `20ms` or `1e9d`; None of anything else."""
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    return _plausible(sum(float(part or 0) * unit for part, unit in zip(found.groups(), _UNITS_S, strict=True)))


def _plausible(seconds: float) -> float | None:
    return seconds if 0 <= seconds < math.inf else None


def _moment(text: str) -> float | None:
    """Seconds since 1970, of a date with its time zone."""
    try:
        moment: datetime = parsedate_to_datetime(text)
        return None if moment.tzinfo is None else moment.timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _since(now: float | None, moment: float | None) -> float | None:
    return None if now is None or moment is None else _plausible(moment - now)


def _resets(lower: Mapping[str, str], now: float | None) -> Iterator[tuple[bool, float]]:
    """Of each limit that has a time of reset, whether it is used up, and the seconds until then."""
    for limit in ("-requests", "-tokens", ""):
        text = lower.get(f"x-ratelimit-reset{limit}", "")
        used_up = lower.get(f"x-ratelimit-remaining{limit}") == "0"
        number = float(text) if _NUMBER.fullmatch(text) else None
        longest = _LONGEST_RESET_S
        if number is not None and number >= _EPOCH_S:
            seconds = _since(now, number / 1000 if number >= _EPOCH_MS else number)
            longest = math.inf if used_up else longest
        else:
            seconds = duration(text) if number is None else number
        if seconds is not None:
            yield used_up, min(seconds, longest)


_LONGEST_BACK_OFF_S = 60.0
_LEAST_PATIENCE_S = 0.01  # that any wait takes


@dataclass(frozen=True, slots=True)
class AttemptPolicy:
    """How long one decision keeps trying.

    `retries` count transport faults only, `max_attempts` everything that was not rate limited, re-asks
    included, and with `count_rate_limits` rate limits too. `retry_wait_s` doubles from a number; a tuple is exact, its
    last entry repeating. `rate_limit_wait_s` stays as it is, or is such a tuple, by the failures so far; up to
    `rate_limit_jitter_s` are added to it. Where replies are replayed, `waits` is False: a wait counts as it did, and
    takes no time.
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
class Attempts:
    """What one decision has used so far; `waited_s` is what rate limits have taken of its patience.

    `limited` are the calls that were rate limited, which `made` does not count. `decision` names the decision: what
    chance adds to its waits comes of the name, so that a decision that is played again waits as it did.
    """

    made: int = 0
    retries: int = 0
    waited_s: float = 0.0
    limited: int = 0
    decision: str = field(default="", compare=False)


def retry_wait(policy: AttemptPolicy, retries: int) -> float:
    """Seconds before the retry that follows so many earlier ones."""
    waits = policy.retry_wait_s
    if isinstance(waits, tuple):
        return _listed(waits, retries)
    return float(min(waits * 2.0 ** min(retries, 60), max(waits, _LONGEST_BACK_OFF_S)))


def _listed(waits: tuple[float, ...], place: int) -> float:
    return waits[min(place, len(waits) - 1)] if waits else 0.0


def rate_limit_wait(policy: AttemptPolicy, used: Attempts) -> float:
    """Seconds before the call that follows a rate limit without a time of its own."""
    waits, failed = policy.rate_limit_wait_s, max(0, used.retries + used.limited - 1)
    wait = _listed(waits, failed) if isinstance(waits, tuple) else waits
    return wait + policy.rate_limit_jitter_s * crc32(f"{used.decision} {failed}".encode()) / 2**32


def pause(error: BaseException | None, policy: AttemptPolicy, used: Attempts) -> float | None:
    """Seconds to wait before trying again after this error, or None where it is final."""
    if isinstance(error, RateLimited):
        if _counted_out(policy, used):
            return None
        wait = rate_limit_wait(policy, used) if error.retry_after is None else error.retry_after
        return wait if used.waited_s + _patience_taken(wait, policy) <= policy.rate_limit_patience_s else None
    made = used.made + used.limited * policy.count_rate_limits
    if isinstance(error, TransportFailed) and used.retries < policy.retries and made < policy.max_attempts:
        return None if held(error, policy, used) else max(retry_wait(policy, used.retries), error.retry_after or 0.0)
    return None


def _counted_out(policy: AttemptPolicy, used: Attempts) -> bool:
    return policy.count_rate_limits and used.made + used.limited >= policy.max_attempts


def held(error: ModelError, policy: AttemptPolicy, used: Attempts) -> bool:
    """Whether there is no next attempt because the host wants more time than the decision has patience left."""
    if isinstance(error, RateLimited):
        if _counted_out(policy, used):
            return False
        asked = error.retry_after is not None or used.waited_s > 0  # no patience at all is not the host's affair
        return asked and pause(error, policy, used) is None
    return isinstance(error, TransportFailed) and (error.retry_after or 0.0) > policy.rate_limit_patience_s


def _patience_taken(wait: float, policy: AttemptPolicy) -> float:
    # A host that answers "come back in 0 s" for ever would never use up any patience; nor would a part of no patience.
    return max(wait, min(1.0, max(policy.rate_limit_patience_s / 100, _LEAST_PATIENCE_S)))


async def persevere(
    attempt: Callable[[], Awaitable[Completion]],
    policy: AttemptPolicy,
    used: Attempts,
    failed: Callable[[ModelError], None],
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> Completion:
    """The completion of the first attempt that succeeds; the last `ModelError` where none may follow.

    `used` is the decision's own count and is carried from one call of this to the next; `failed` hears of
    every failed attempt, the final one too.
    """

    async def counted() -> Completion:
        try:
            completion = await attempt()
        except ModelError as error:
            used.made += not isinstance(error, RateLimited)
            used.limited += isinstance(error, RateLimited)
            failed(error)
            raise
        used.made += 1
        return completion

    try:
        return await counted()
    except ModelError as error:
        first = [error]  # nearly every call succeeds at once: what a failure needs is set up after one

    async def attempted() -> Completion:
        if first:
            raise first.pop()
        return await counted()

    def wait(state: RetryCallState) -> float:
        seconds = pause(state.outcome.exception() if state.outcome else None, policy, used)
        assert seconds is not None, "asked only after an error that is not final"
        return seconds

    def book(state: RetryCallState) -> None:
        if state.outcome and isinstance(state.outcome.exception(), RateLimited):
            used.waited_s += _patience_taken(state.upcoming_sleep, policy)
        else:
            used.retries += 1

    async def rest(seconds: float) -> None:
        await sleep(seconds if policy.waits else 0)

    retrying = AsyncRetrying(
        retry=retry_if_exception(lambda error: pause(error, policy, used) is not None),
        wait=wait,
        before_sleep=book,
        sleep=rest,
        reraise=True,
    )
    return await retrying(attempted)


_TICK_S = 0.1
# A tick that comes later than this after the one before shows that the loop stood still. On a machine that is merely
# busy it comes sooner.
_STANDSTILL_S = 2 * _TICK_S
# Rounds of the loop, none of which waits, in which sockets are read to the end: at least 64 KiB in three of them.
_LAST_ROUNDS = 200


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
