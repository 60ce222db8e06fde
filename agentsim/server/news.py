"""News: wakes all tasks that wait for a change, such as the streams of open pages."""

from __future__ import annotations

import asyncio


class News:
    """A source of announcements. Read `news` before the state that it announces, so that no change is missed."""

    def __init__(self) -> None:
        self._news = asyncio.Event()

    @property
    def news(self) -> asyncio.Event:
        """The event that the next announcement sets."""
        return self._news

    def announce(self) -> None:
        """Wake all tasks that wait."""
        told, self._news = self._news, asyncio.Event()
        told.set()


async def within(news: asyncio.Event, timeout_s: float) -> bool:
    """Wait for the event. Returns False if it is not set within the timeout in seconds."""
    try:
        async with asyncio.timeout(timeout_s):
            return await news.wait()
    except TimeoutError:
        return False
