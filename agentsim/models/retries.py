"""Retries: attempts of one decision's call with backoff, and the deadline of one call.

A response can ask for a wait in several ways (`retry_after`). Points in time are compared with the response's own
`Date` header, so no clock is read. `faults` classifies errors; `runs.decide` asks again after a bad reply and falls
back.
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
_EPOCH_S, _EPOCH_MS = 1e9, 1e12  # larger numbers are timestamps: no provider asks to wait for thirty years
# The time until a bucket is full again is longer than the time until it has room for one call: ask after a minute.
_LONGEST_RESET_S = 60.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a response asks to wait, or None if it states no usable time.

    `retry-after-ms` has priority over `Retry-After` (seconds, a duration or a date), and both over `x-ratelimit-reset`
    headers. Of those, the longest reset of an exhausted limit counts, else the longest of any limit. A reset is capped
    at 60 s, unless the limit is exhausted until a point in time.
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
    """Return the seconds of `36.5s`, `6m0s`, `20ms` or `1e9d`, or None for any other text."""
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    return _plausible(sum(float(part or 0) * unit for part, unit in zip(found.groups(), _UNITS_S, strict=True)))


def _plausible(seconds: float) -> float | None:
    return seconds if 0 <= seconds < math.inf else None


def _moment(text: str) -> float | None:
    """Return the seconds since 1970 of a date with a time zone, or None."""
    try:
        moment: datetime = parsedate_to_datetime(text)
        return None if moment.tzinfo is None else moment.timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _since(now: float | None, moment: float | None) -> float | None:
    return None if now is None or moment is None else _plausible(moment - now)


def _resets(lower: Mapping[str, str], now: float | None) -> Iterator[tuple[bool, float]]:
    """Yield (is the limit exhausted, seconds until its reset) for each rate limit with a time of reset."""
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

    `waited_s` is the patience used up by rate limits. `limited` counts rate-limited calls, which `made` leaves out.
    `decision` names the decision and seeds its jitter, so that a replayed decision waits equally long.
    """

    made: int = 0
    retries: int = 0
    waited_s: float = 0.0
    limited: int = 0
    decision: str = field(default="", compare=False)


def retry_wait(policy: RetryPolicy, retries: int) -> float:
    """Return the seconds to wait before the next retry, after `retries` earlier ones."""
    waits = policy.retry_wait_s
    if isinstance(waits, tuple):
        return _listed(waits, retries)
    return float(min(waits * 2.0 ** min(retries, 60), max(waits, _LONGEST_BACK_OFF_S)))


def _listed(waits: tuple[float, ...], place: int) -> float:
    return waits[min(place, len(waits) - 1)] if waits else 0.0


def rate_limit_wait(policy: RetryPolicy, used: RetryCount) -> float:
    """Return the seconds to wait after a rate limit that states no time of its own."""
    waits, failed = policy.rate_limit_wait_s, max(0, used.retries + used.limited - 1)
    wait = _listed(waits, failed) if isinstance(waits, tuple) else waits
    return wait + policy.rate_limit_jitter_s * crc32(f"{used.decision} {failed}".encode()) / 2**32


def retry_delay(error: BaseException | None, policy: RetryPolicy, used: RetryCount) -> float | None:
    """Return the seconds to wait before trying again after this error, or None if the error is final."""
    if isinstance(error, RateLimited):
        if _counted_out(policy, used):
            return None
        wait = rate_limit_wait(policy, used) if error.retry_after is None else error.retry_after
        return wait if used.waited_s + _patience_taken(wait, policy) <= policy.rate_limit_patience_s else None
    made = used.made + used.limited * policy.count_rate_limits
    if isinstance(error, TransportFailed) and used.retries < policy.retries and made < policy.max_attempts:
        return (
            None
            if exceeds_patience(error, policy, used)
            else max(retry_wait(policy, used.retries), error.retry_after or 0.0)
        )
    return None


def _counted_out(policy: RetryPolicy, used: RetryCount) -> bool:
    return policy.count_rate_limits and used.made + used.limited >= policy.max_attempts


def exceeds_patience(error: ModelError, policy: RetryPolicy, used: RetryCount) -> bool:
    """Return whether no attempt follows because the host asks for more time than the decision has left."""
    if isinstance(error, RateLimited):
        if _counted_out(policy, used):
            return False
        # a patience of 0 is the player's setting, not the host's
        asked = error.retry_after is not None or used.waited_s > 0
        return asked and retry_delay(error, policy, used) is None
    return isinstance(error, TransportFailed) and (error.retry_after or 0.0) > policy.rate_limit_patience_s


def _patience_taken(wait: float, policy: RetryPolicy) -> float:
    # A host that answers "come back in 0 s" forever would otherwise never use up the patience.
    return max(wait, min(1.0, max(policy.rate_limit_patience_s / 100, _LEAST_PATIENCE_S)))


async def call_with_retries(
    attempt: Callable[[], Awaitable[Completion]],
    policy: RetryPolicy,
    used: RetryCount,
    failed: Callable[[ModelError], None],
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> Completion:
    """Return the completion of the first attempt that succeeds. Raises the last `ModelError` if no attempt may follow.

    `used` is the decision's own count, carried from one call of this function to the next. `failed` is called with the
    error of every failed attempt, the final one included.
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
        first = [error]  # nearly every call succeeds at once: set up retries only after a failure

    async def attempted() -> Completion:
        if first:
            raise first.pop()
        return await counted()

    def wait(state: RetryCallState) -> float:
        seconds = retry_delay(state.outcome.exception() if state.outcome else None, policy, used)
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
        retry=retry_if_exception(lambda error: retry_delay(error, policy, used) is not None),
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
