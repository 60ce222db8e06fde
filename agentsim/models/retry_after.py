"""Retry-After: how long a response asks to wait, in all the ways in which providers say it.

Pure, and without a clock: points in time are compared with the response's own `Date`. What a wait is worth to a
decision is `attempts`; a wait that stands in an error's body is `faults`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

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
