"""Terminal: replies from a person and lines to them, without blocking the event loop, wrapped to the terminal's width.

All output is cleaned here, so that no text can command a terminal. `human` asks the questions.
"""

from __future__ import annotations

import asyncio
import os
import re
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TextIO

from rich.cells import cell_len

from agentsim.engine.wording import cleaned, counted
from agentsim.errors import Interrupted
from agentsim.lazy import dataclass

HELP = "?"
"""The first line that asks for help; it is a reply by itself."""
GUTTER = "│ "
"""The beginning of every continued row of untrusted text, so that none can pass for a line of its own."""
_PROMPT = "> "
_WIDEST = 100  # columns that are still easy to read
_CUT = 4_096  # bytes of a line, including its end, at which a terminal drops the rest
_LONGEST = 2**20  # bytes of a reply from a pipe or a file


class Terminal:
    """A reader of one stream and writer of another."""

    def __init__(self, source: TextIO | None = None, sink: TextIO | None = None) -> None:
        self._source: TextIO | None = source or sys.stdin  # None if the process was started without
        self._sink: TextIO | None = sink or sys.stderr
        self._rest = b""  # bytes read after the end of the line
        self._asking = False
        self.shown: object = None  # the player whose state is on the screen
        self.turn = asyncio.Lock()  # a player and staff may be asked at the same moment

    @property
    def width(self) -> int:
        """The number of columns to write in."""
        try:
            columns = os.get_terminal_size(self._sink.fileno()).columns if self._sink else 0
        except (OSError, ValueError):
            columns = 0
        return min(columns or 80, _WIDEST)

    @property
    def interactive(self) -> bool:
        """Whether the source is a terminal."""
        try:
            return self._source is not None and self._source.isatty()
        except ValueError:  # closed
            return False

    def say(self, text: str, hang: str = "") -> None:
        """Write a paragraph, wrapped; every row after its first begins with `hang`."""
        self._write("\n".join(rows(cleaned(text), self.width, hang)) + "\n")

    def notice(self, text: str) -> None:
        """Write a paragraph while a person may be typing, and repeat the prompt if one waits for a line."""
        with suppress(Interrupted):  # the next question raises it again
            self.say(f"\n{text}")
            if self._asking:
                self._write(_PROMPT)

    async def reply(self) -> str:
        """Read lines up to an empty one; `HELP` as the first is a reply by itself.

        Lines typed before the prompt are discarded. Raises `Interrupted` if the output cannot be written, and at the
        end of input, which discards a reply without its empty line.
        """
        if early := self._early():
            self.say(f"Typed before the question, and not taken: {counted(early, 'line')}.")
        lines: list[str] = []
        size = 0
        prompt = _PROMPT  # only before the first line, so that pasted lines stay together
        while (line := await self._line_after(prompt)).strip() or not lines:
            if len(line.encode("utf-8", "replace")) >= _CUT and self.interactive:
                self.say(f"A terminal passes on no more than {_CUT - 1:,} bytes of a line: break it into several.")
                prompt = _PROMPT
            elif text := cleaned(line).strip():
                prompt = ""
                lines.append(text)
                size += len(line)
                if lines == [HELP]:
                    break
                if size > _LONGEST:
                    raise _too_long()
        return "\n".join(lines)

    async def _line_after(self, prompt: str) -> str:
        """Write a prompt and read one line, with its end. Raises `Interrupted` at the end of input."""
        self._write(prompt)
        self._asking = True
        try:
            line = await self._line()
        except asyncio.CancelledError:
            with suppress(Interrupted):
                self._write("\n")  # later output must not continue the prompt's line
            raise
        finally:
            self._asking = False
        if not line:
            raise _ended()
        return line

    def _write(self, text: str) -> None:
        if self._sink is not None:
            try:
                self._sink.write(text)
                self._sink.flush()
            except (OSError, ValueError):
                raise Interrupted("a person cannot be shown what they are asked") from None

    def _early(self) -> int:
        """Discard lines typed or pasted before the question was shown, and return their number."""
        early = 0
        if self.interactive:
            assert self._source is not None, "it is a terminal"
            handle = self._source.fileno()
            while select.select([handle], [], [], 0)[0]:
                if not (chunk := _read(handle)):
                    raise _ended()
                early += chunk.count(b"\n")
        return early

    async def _line(self) -> str:
        """Read one line with its end, or "" at the end of input."""
        if self._source is None:
            return ""
        try:
            handle = self._source.fileno()
        except (OSError, ValueError):  # a buffer, which is always ready
            return self._source.readline()
        # The stream's own `readline` reads ahead from a pipe, so that `select` misses lines that are buffered, and it
        # blocks on half a line.
        while b"\n" not in self._rest and (chunk := await _chunk(handle)):
            self._rest += chunk
            if len(self._rest) > _LONGEST:
                raise _too_long()
        line, end, self._rest = self._rest.partition(b"\n")
        try:
            return (line + end).decode("utf-8")  # UTF-8 if it is valid, whatever the locale says
        except UnicodeDecodeError:
            return (line + end).decode(self._source.encoding or "utf-8", "replace")


def _too_long() -> Interrupted:
    return Interrupted(f"more than {_LONGEST // 2**20} MiB came where a person was asked")


def _ended() -> Interrupted:
    return Interrupted("the input ended while a person was asked")


async def _chunk(handle: int) -> bytes:
    """Read the next bytes; empty at the end, and from an unreadable source such as a closed terminal."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(handle, ready.set)
    except (OSError, ValueError):  # a regular file, which is always ready
        await asyncio.sleep(0)  # lets other tasks and signals run
    else:
        try:
            await ready.wait()
        finally:
            loop.remove_reader(handle)
    return _read(handle)


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, _CUT)
    except OSError:
        return b""


def rows(text: str, width: int, hang: str = "") -> list[str]:
    """Return the text in rows of at most `width` cells, broken between words; `hang` begins every later row."""
    room = max(2, width - cell_len(hang))
    lines = [row for line in text.split("\n") for row in _wrapped(line.expandtabs(), room)]
    return [lines[0], *(hang + line for line in lines[1:])]


def cut(text: str, width: int) -> str:
    """Return the text in at most `width` cells; an ellipsis replaces a cut end."""
    return text if cell_len(text) <= width else f"{next(_pieces(text, max(1, width - 1)))}…"


def _wrapped(line: str, room: int) -> list[str]:
    done: list[str] = []
    row, used = "", 0
    for part in re.findall(r"\s+|\S+", line):
        size = cell_len(part)
        if used + size <= room:
            row, used = row + part, used + size
        elif part.isspace():
            done.append(row)
            row, used = "", 0
        elif size <= room:
            done.append(row)
            row, used = part, size
        else:  # longer than any row: an address, or a language without spaces
            *whole, rest = _pieces(part, room, used)
            done += [row + whole[0], *whole[1:]]
            row, used = rest, cell_len(rest)
    done.append(row)
    kept = [piece.rstrip() for piece in done]
    return [piece for number, piece in enumerate(kept) if piece or number == 0]


def _pieces(text: str, room: int, used: int = 0) -> Iterator[str]:
    """Yield pieces of at most `room` cells; the first, which may be empty, follows `used` cells."""
    piece = ""
    for character in text:
        if used + cell_len(piece + character) > room:  # measured together: a selector widens the letter before it
            yield piece
            piece, used = "", 0
        piece += character
    yield piece


@dataclass
class InterruptRequest:
    """The request of a person on call to be asked at the next question on call, made by Ctrl-C.

    `Request.on_call` marks these questions; `runs.process` handles the signal. Rings count only while a person is
    `attended`. `noticed` confirms a ring to the person.
    """

    attended: bool = False
    requested: bool = False
    noticed: Callable[[], None] = lambda: None

    def ring(self) -> bool:
        """Return whether this counts as a ring: only with a person, and only after the last ring was answered."""
        if not self.attended or self.requested:
            return False
        self.requested = True
        return True

    def answered(self) -> None:
        """Reset the ring once the person has been asked."""
        self.requested = False
