"""Retry-After: how long a response asks to wait, in all the ways in which providers say it.

Pure, and nobody's clock matters: points in time are compared with the response's own `Date`. What a wait is worth to a
decision is `attempts`; a wait that stands in an error's body is `faults`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

__all__ = ["retry_after"]

_NUMBER = re.compile(r"\d{1,300}(\.\d{1,300})?", re.ASCII)
_DURATION = re.compile(
    r"(?=[\d.])(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?",
    re.ASCII,
)
_UNITS_S = (86_400.0, 3_600.0, 60.0, 1.0, 0.001)
_EPOCH_S, _EPOCH_MS = 1e9, 1e12  # a larger number is a point in time: no provider asks to wait for thirty years
# When a bucket is full again says little of when there is room for one call: it is asked again after a minute.
_LONGEST_RESET_S = 60.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the response asks to wait, or None where it does not say so plainly.

    `retry-after-ms` counts before `Retry-After` (seconds or a date), and either before the time at which a rate limit
    is reset, of which those that are used up count, the last of them first, and none for more than a minute.
    """
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    date = _date(lower.get("date", ""))
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if _NUMBER.fullmatch(lower.get(name, "")):
            wait = float(lower[name]) * unit
            return wait if math.isfinite(wait) else None
    if "retry-after" in lower:
        return _until(_date(lower["retry-after"]), date)
    resets = {
        limit: seconds
        for limit in ("-requests", "-tokens", "")
        if (seconds := _reset(lower.get(f"x-ratelimit-reset{limit}", ""), date)) is not None
    }
    used_up = [seconds for limit, seconds in resets.items() if lower.get(f"x-ratelimit-remaining{limit}") == "0"]
    longest = max(used_up or resets.values(), default=None)
    return None if longest is None else min(longest, _LONGEST_RESET_S)


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None


def _until(moment: datetime | None, now: datetime | None) -> float | None:
    try:
        seconds = (moment - now).total_seconds() if moment is not None and now is not None else -1.0
    except (TypeError, OverflowError):  # of the two only one has a time zone
        return None
    return seconds if seconds >= 0 else None


def _reset(text: str, now: datetime | None) -> float | None:
    """`6m0s`, `20ms`, a number of seconds, or a point in time in seconds or milliseconds since 1970."""
    if _NUMBER.fullmatch(text):
        number = float(text)
        if number < _EPOCH_S:
            return number
        if now is None or now.tzinfo is None or not math.isfinite(number):
            return None
        seconds = (number / 1000 if number >= _EPOCH_MS else number) - now.timestamp()
        return seconds if seconds >= 0 else None
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    return math.fsum(float(part or 0) * unit for part, unit in zip(found.groups(), _UNITS_S, strict=True))
