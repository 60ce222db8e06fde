"""Waiting for what happens elsewhere, at the other end of a socket or in a timer of the loop, and has no event."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["until"]


async def until(so: Callable[[], bool]) -> None:
    """Return when it is so; `TimeoutError` after five seconds."""
    async with asyncio.timeout(5):
        while not so():  # noqa: ASYNC110 - see above
            await asyncio.sleep(0)
