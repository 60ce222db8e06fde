"""Outgoing: a request of aiohttp whose body leaves in the moment in which it is sent, with every Python.

Until Python 3.12, which can begin a task at once, aiohttp's own writes the body in a task that waits behind everything
that is ready to run: of a hundred calls that are made together none would leave before the last is put together. What a
request says is `transport`'s; this is a module of its own because aiohttp takes 0.15 s to import.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Generator
from typing import TYPE_CHECKING, Any

from aiohttp import ClientRequest

if TYPE_CHECKING:
    from aiohttp.abc import AbstractStreamWriter
    from aiohttp.connector import Connection

__all__ = ["Outgoing", "tasks_as_ever", "without_tasks_for_what_is_over"]


class Outgoing(ClientRequest):
    """What does not fit into the socket's buffer follows in aiohttp's task, as ever."""

    def write_bytes(
        self, writer: AbstractStreamWriter, conn: Connection, content_length: int | None = None
    ) -> Coroutine[Any, Any, None]:
        """As the inherited one, but it has begun when it is returned; what goes wrong by then is raised."""
        return _Begun(super().write_bytes(writer, conn, content_length))


def without_tasks_for_what_is_over(loop: asyncio.AbstractEventLoop) -> None:
    """Have the loop make no task of a body that is written: aiohttp asks for one before it looks whether it is done.

    Unless somebody else makes the loop's tasks; from Python 3.12 on aiohttp begins them at once itself.
    """
    if sys.version_info < (3, 12) and loop.get_task_factory() is None:
        loop.set_task_factory(_task_or_result)


def tasks_as_ever(loop: asyncio.AbstractEventLoop) -> None:
    """Leave the loop as it was found; whoever else still sends there has tasks made."""
    if loop.get_task_factory() is _task_or_result:
        loop.set_task_factory(None)


def _task_or_result(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any] | Generator[Any, None, Any], **options: Any
) -> asyncio.Future[Any]:
    if isinstance(coroutine, _Begun) and coroutine.over:
        written: asyncio.Future[None] = loop.create_future()
        written.set_result(None)
        return written
    return asyncio.Task(coroutine, loop=loop, **options)


class _Begun(Coroutine[Any, Any, None]):
    """A coroutine that runs to its first wait, or its end, when this is made; who awaits this goes on from there."""

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
