"""Outgoing: a request of aiohttp whose body leaves in the moment in which it is sent, with every Python.

Until Python 3.12, which can begin a task at once, aiohttp's own writes the body in a task that waits behind everything
that is ready to run: of a hundred calls that are made together none would leave before the last is put together. What a
request says is `transport`'s; this is a module of its own because aiohttp takes 0.15 s to import.
"""

from __future__ import annotations

import types
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
        writing = super().write_bytes(writer, conn, content_length)
        try:
            awaited = writing.send(None)
        except StopIteration:
            return _nothing_more()
        return _rest(writing, awaited)


async def _nothing_more() -> None:
    """What is left of a coroutine that is at its end."""


async def _rest(begun: Coroutine[Any, Any, None], awaited: Any) -> None:
    """What is left of one that waits for something."""
    await _resumed(begun, awaited)


@types.coroutine
def _resumed(begun: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    """As `yield from`, for which it is too late: that would not yield what the coroutine waits for already."""
    try:
        while True:
            try:
                answer = yield awaited
            except BaseException as error:  # a cancellation is for the coroutine
                awaited = begun.throw(error)
            else:
                awaited = begun.send(answer)
    except StopIteration:
        return
