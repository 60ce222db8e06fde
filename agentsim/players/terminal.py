"""Terminal: lines from a person and lines to them, without blocking the event loop.

What is asked, and what an answer means, stands in `human`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TextIO

from agentsim.errors import Interrupted

__all__ = ["Terminal"]


class Terminal:
    """Reads from one stream and writes to another; several players at one terminal take turns."""

    def __init__(self, source: TextIO | None = None, sink: TextIO | None = None) -> None:
        self._source, self._sink = source or sys.stdin, sink or sys.stderr
        self.turn = asyncio.Lock()

    def say(self, text: str) -> None:
        """Write a paragraph."""
        self._sink.write(f"{text}\n")
        self._sink.flush()

    async def ask(self, question: str) -> str:
        """Write a question and read one line; `Interrupted` at the end of input."""
        self._sink.write(f"{question} ")
        self._sink.flush()
        line = await self._line()
        if not line:
            raise Interrupted("the input ended while a person was asked")
        return line.strip()

    async def _line(self) -> str:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            loop.add_reader(self._source.fileno(), ready.set)
        except (OSError, ValueError):  # a regular file or a test's buffer: always ready
            return self._source.readline()
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._source.fileno())
        return self._source.readline()
