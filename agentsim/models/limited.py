"""limited: an `Intake` before every answer of an httpx2 client; it loads httpx2, so import it where one is made."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from agentsim.models.intake import Intake

__all__ = ["limited"]


async def limited(response: httpx2.Response) -> None:
    """A response hook, which runs before the body is read; raises `Unacceptable`."""
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream), "the answer of an asynchronous client"
    intake = Intake(response.status_code, response.headers)
    response.headers.pop("content-encoding", None)  # httpx2 unpacks by it, and nothing that is packed is kept
    response.stream = _Limited(stream, intake)


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, intake: Intake) -> None:
        self._stream, self._intake = stream, intake

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield self._intake.taken(chunk)
            if self._intake.full:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()
