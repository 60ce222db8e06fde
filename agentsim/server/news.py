"""News: tells all who wait, such as the streams of open pages, that there is something new."""

from __future__ import annotations

import asyncio


class News:
    """What has news for others. Take `news` before you look: then none is missed."""

    def __init__(self) -> None:
        self._news = asyncio.Event()

    @property
    def news(self) -> asyncio.Event:
        """Is set by the next announcement."""
        return self._news

    def announce(self) -> None:
        """Wake all who wait."""
        told, self._news = self._news, asyncio.Event()
        told.set()


async def within(news: asyncio.Event, timeout_s: float) -> bool:
    """Wait for news; False where there are none after so many seconds."""
    try:
        async with asyncio.timeout(timeout_s):
            return await news.wait()
    except TimeoutError:
        return False
