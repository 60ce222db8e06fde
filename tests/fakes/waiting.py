"""Waiting for a condition of another socket or timer that has no event."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["until"]


async def until(so: Callable[[], bool]) -> None:
    """Wait until the condition is true. Raises `TimeoutError` after five seconds."""
    async with asyncio.timeout(5):
        while not so():  # noqa: ASYNC110 - see above
            await asyncio.sleep(0)
