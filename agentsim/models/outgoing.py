"""Outgoing: a request of aiohttp whose body is written at once, with every Python.

Before Python 3.12, which can start a task eagerly, aiohttp writes the body in a task that runs after all others that
are ready: of a hundred calls made together none would leave before the last is put together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import TYPE_CHECKING, Any

from aiohttp import ClientRequest

if TYPE_CHECKING:
    from aiohttp.abc import AbstractStreamWriter
    from aiohttp.connector import Connection

__all__ = ["Outgoing"]


class Outgoing(ClientRequest):
    """What does not fit into the socket's buffer follows in aiohttp's task, as ever."""

    def write_bytes(
        self, writer: AbstractStreamWriter, conn: Connection, content_length: int | None = None
    ) -> Coroutine[Any, Any, None]:
        """As the inherited one, but it has begun when it is returned; what goes wrong by then is raised."""
        return _Begun(super().write_bytes(writer, conn, content_length))


class _Begun(Coroutine[Any, Any, None]):
    """A coroutine that runs to its first wait, or its end, when this is made, and goes on from there when awaited."""

    def __init__(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self._coroutine, self.over, self._first = coroutine, False, True
        try:
            self._awaited = coroutine.send(None)
        except StopIteration:
            self.over = True

    def send(self, value: Any) -> Any:
        if self.over:
            raise StopIteration
        if self._first:
            self._first = False
            return self._awaited
        return self._coroutine.send(value)

    def throw(self, error: Any, *older: Any) -> Any:
        if self.over:
            raise error
        return self._coroutine.throw(error, *older)

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, None]:
        return asyncio.ensure_future(self).__await__()
