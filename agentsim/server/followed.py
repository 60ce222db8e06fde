"""Followed: keeps a run's follower and its channels up to date while its pages are open.

Replay and rendering run in threads. Events are sent at once; the parts that are rendered from all events (result,
charts, boards) follow as often as a share of this process's time allows.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agentsim.errors import AgentsimError
from agentsim.records.run_files import RunFiles
from agentsim.runs.follower import Follower
from agentsim.server.stream import Channel, PageAudience

EVERY_S = 0.02
"""Seconds between two checks of a journal's size."""
_ALIVE_S = 0.5  # seconds between two checks that its process is alive
_DRAWN_S, _SHARE = 0.1, 4.0  # least seconds between renderings, and the multiple of the last one's time
_KEPT_S = 20.0  # seconds that a run is followed after its last page was closed


class Followed:
    """A run that is followed for all of its pages. Used in one event loop."""

    def __init__(self, files: RunFiles) -> None:
        self.follower = Follower(files)
        self.trouble: AgentsimError | None = None
        self._channels: dict[PageAudience, Channel] = {}
        self._lock = asyncio.Lock()
        self._open = 0
        self._stale, self._drawn_at = False, 0.0
        self._task: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        """Return whether no further event will come and all parts are rendered, or following failed."""
        return self.trouble is not None or (self.follower.over and self._task is None)

    async def page(self, audience: PageAudience, address: str) -> str:
        """Return the whole page as of now, whose stream has this address.

        Raises `AgentsimError` if it cannot be rendered.
        """
        async with self._lock:
            channel = self._channels.get(audience)
            if self._task is None or channel is None or not channel.page:
                channel = channel or Channel(self.follower, audience)
                channel.page = await asyncio.to_thread(self._drawn, channel, address)
                self._channels[audience] = channel
                self._notify()
        self._go_on()
        return channel.page

    def _drawn(self, channel: Channel, address: str) -> str:
        self._tell()  # for all channels, since the follower reports each event once
        channel.tell()
        drawing = channel.drawn(self.follower.history(), channel.position, whole=True, address=address)
        channel.put(drawing)
        return drawing.page

    @asynccontextmanager
    async def channel(self, audience: PageAudience) -> AsyncIterator[Channel]:
        """Yield the channel of an audience, kept up to date within the block."""
        async with self._lock:
            if (channel := self._channels.get(audience)) is None:
                channel = Channel(self.follower, audience)
                await asyncio.to_thread(self._drawn, channel, "")
                self._channels[audience] = channel
                self._notify()
        self._open += 1
        self._go_on()
        try:
            yield channel
        finally:
            self._open -= 1

    def _go_on(self) -> None:
        if self._task is None and not self.follower.over:
            self._task = asyncio.create_task(self._follow())

    async def close(self) -> None:
        """Stop following and end the streams."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _follow(self) -> None:
        clock = asyncio.get_running_loop().time
        alive_at = 0.0
        idle_since = clock()
        drawing: asyncio.Task[None] | None = None
        try:
            while self._open or clock() - idle_since < _KEPT_S:
                now = clock()
                idle_since = now if self._open else idle_since
                if self.follower.grown or now >= alive_at:
                    alive_at = now + _ALIVE_S
                    async with self._lock:
                        if await asyncio.to_thread(self._tell):
                            self._notify()
                if drawing is not None and drawing.done():
                    drawing.result()
                    drawing = None
                if self._stale and drawing is None and now >= self._drawn_at:
                    self._stale, drawing = False, asyncio.create_task(self._draw())
                if self.follower.over and not self._stale and drawing is None:
                    return
                await asyncio.sleep(EVERY_S)
        except AgentsimError as error:
            self.trouble = error
        finally:
            if drawing is not None:
                drawing.cancel()
            self._task = None
            self._notify()

    def _tell(self) -> bool:
        if not self.follower.look():
            return False
        self._stale = True
        for channel in self._channels.values():
            channel.page = ""
            channel.tell()
        return True

    async def _draw(self) -> None:
        """Render the parts of every channel from the history of now, while events continue."""
        await asyncio.sleep(EVERY_S)  # the events that made it stale go out first
        clock = asyncio.get_running_loop().time
        began, channels = clock(), list(self._channels.values())
        async with self._lock:
            history = await asyncio.to_thread(self.follower.history)
            begun = [(channel, channel.position) for channel in channels]
        for channel, upon in begun:
            drawing = await asyncio.to_thread(channel.drawn, history, upon)
            async with self._lock:
                channel.put(drawing)
                channel.notify()
        self._drawn_at = clock() + max(_DRAWN_S, _SHARE * (clock() - began))

    def _notify(self) -> None:
        for channel in self._channels.values():
            channel.notify()
