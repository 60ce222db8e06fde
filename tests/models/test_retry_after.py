"""Retry-After: every form of a provider's wait, and texts that must not be read as one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.models.faults import retry_after
from tests.amounts import each_row

DATE = "Sat, 21 Nov 2026 10:00:00 GMT"
EPOCH = 1_795_255_200  # the same time


@each_row(
    "headers, seconds",
    [
        ({"Retry-After": "3"}, 3.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"RETRY-AFTER": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after": "Sat, 21 Nov 2026 10:00:07 GMT", "date": DATE}, 7.0),
        ({"retry-after": "Sat, 21 Nov 2026 09:00:00 GMT", "date": DATE}, None),
        ({"retry-after": "Sat, 21 Nov 2026 10:00:07 GMT"}, None),
        ({"retry-after": "Sat, 21 Nov 2026 10:00:07 -0000", "date": DATE}, None),
        ({"retry-after": "Thu, 01 Jan 2099 00:00:00 GMT", "date": DATE}, 2_275_653_600.0),
        ({"retry-after": "99999999999"}, 99_999_999_999.0),
        ({"retry-after": "1e3"}, 1000.0),
        ({"retry-after": "30s"}, 30.0),
        ({"retry-after": "6m0s"}, 360.0),
        ({"retry-after": "1e9d"}, 86_400e9),
        ({"retry-after": "1e308h"}, None),
        ({"retry-after": "1e308s1e307h"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
        ({"x-ratelimit-reset-requests": "1s"}, 1.0),
        ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-reset-tokens": "1m2.5s"}, 60.0),
        ({"x-ratelimit-reset-requests": "6m0s"}, 60.0),
        ({"x-ratelimit-reset-requests": "2h3m"}, 60.0),
        ({"x-ratelimit-reset-requests": "1d"}, 60.0),
        ({"x-ratelimit-reset-requests": "7.66"}, 7.66),
        ({"x-ratelimit-reset-requests": "2s", "x-ratelimit-reset-tokens": "9s"}, 9.0),
        (
            {
                "x-ratelimit-reset-requests": "2s",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-tokens": "9s",
                "x-ratelimit-remaining-tokens": "100",
            },
            2.0,
        ),
        ({"X-RateLimit-Reset": str(EPOCH + 12), "date": DATE}, 12.0),
        ({"X-RateLimit-Reset": str((EPOCH + 12) * 1000), "date": DATE}, 12.0),
        ({"X-RateLimit-Reset": str(EPOCH - 12), "date": DATE}, None),
        ({"X-RateLimit-Reset": str(EPOCH + 12)}, None),
        ({"X-RateLimit-Reset": str(EPOCH + 7200), "date": DATE}, 60.0),
        ({"X-RateLimit-Reset": str(EPOCH + 7200), "x-ratelimit-remaining": "0", "date": DATE}, 7200.0),
        ({"X-RateLimit-Reset": "2h", "x-ratelimit-remaining": "0"}, 60.0),
        ({"x-ratelimit-reset-requests": "1e9d"}, 60.0),
        ({"x-ratelimit-reset-requests": "-1s"}, None),
        ({"x-ratelimit-reset-requests": "nan"}, None),
        ({"x-ratelimit-reset-requests": "s"}, None),
        ({"x-ratelimit-reset-requests": "soon"}, None),
        ({"x-ratelimit-reset-requests": ""}, None),
        ({"retry-after": "5", "x-ratelimit-reset-requests": "1s"}, 5.0),
        ({"retry-after": "garbage", "x-ratelimit-reset-requests": "1s"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize("name", ["retry-after-ms", "retry-after", "x-ratelimit-reset", "x-ratelimit-reset-tokens"])
@given(value=st.text() | st.from_regex(r"[-+\dnaifdhms.]{1,12}"), date=st.text() | st.just(DATE))
def test_retry_after_reads_anything(name: str, value: str, date: str) -> None:
    seconds = retry_after({name: value, "date": date})
    assert seconds is None or seconds >= 0
