"""Terminal: lines from a person and lines to them, without blocking the event loop.

What is asked, and what an answer means, stands in `human`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TextIO

from agentsim.errors import Interrupted
from agentsim.players.rows import rows

__all__ = ["Terminal"]

_WIDEST = 100  # columns that are still good to read


class Terminal:
    """Reads from one stream and writes to another; several players at one terminal take turns."""

    def __init__(self, source: TextIO | None = None, sink: TextIO | None = None) -> None:
        self._source: TextIO | None = source or sys.stdin  # None where the process was started without
        self._sink: TextIO | None = sink or sys.stderr
        self._rest = b""  # read, but behind the line that was asked for
        self._open: list[str] = []  # the rows of the question that waits for a line
        self.shown: object = None  # who was on the screen last
        self.turn = asyncio.Lock()

    @property
    def width(self) -> int:
        """Columns to write in."""
        try:
            columns = os.get_terminal_size(self._sink.fileno()).columns if self._sink else 0
        except (OSError, ValueError):
            columns = 0
        return min(columns or 80, _WIDEST)

    @property
    def interactive(self) -> bool:
        """Whether somebody may be sitting there."""
        try:
            return self._source is not None and self._source.isatty()
        except ValueError:  # closed
            return False

    def say(self, text: str, hang: str = "") -> None:
        """Write a paragraph, wrapped; every row after its first begins with `hang`."""
        self._write("\n".join(rows(text, self.width, hang)) + "\n")

    def notice(self, text: str) -> None:
        """Write a paragraph while somebody may be typing; the question that waits for a line is put again below it."""
        self._write("\n")
        self.say(text)
        self._write("\n".join(self._open))

    async def ask(self, question: str) -> str:
        """Write a question and read one line; `Interrupted` at the end of input."""
        self._open = rows(question, self.width)
        self._open[-1] += " "
        self._write("\n".join(self._open))
        try:
            line = await self._line()
        except asyncio.CancelledError:
            self._write("\n")  # what is said next, such as how to go on, is no part of the question
            raise
        self._open = []
        if not line:
            raise Interrupted("the input ended while a person was asked")
        return line.strip()

    def _write(self, text: str) -> None:
        if self._sink is not None:
            self._sink.write(text)
            self._sink.flush()

    async def _line(self) -> str:
        """One line with its end, however the bytes come; empty when there are no more."""
        if self._source is None:
            return ""
        try:
            handle = self._source.fileno()
        except (OSError, ValueError):  # a buffer, which is always ready
            return self._source.readline()
        # Not the stream's own `readline`: it takes more than a line from a pipe, and nothing would tell that
        # the next one is there already; and it holds everybody up where half a line has come.
        while b"\n" not in self._rest and (chunk := await _chunk(handle)):
            self._rest += chunk
        line, end, self._rest = self._rest.partition(b"\n")
        return (line + end).decode(self._source.encoding or "utf-8", "replace")


async def _chunk(handle: int) -> bytes:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(handle, ready.set)
    except (OSError, ValueError):  # a regular file, which is always ready
        return os.read(handle, 4096)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(handle)
    return os.read(handle, 4096)
