"""A small terminal emulator: the lines that result from text and escape sequences."""

from __future__ import annotations

import re

from rich.cells import cell_len

__all__ = ["Screen", "plain"]

# The sequences that a display may send: colors, cursor off, on and up, and erase.
_TOKEN = re.compile(r"\x1b\[(?P<number>[0-9;?]*)(?P<what>[mAKhl])|(?P<move>[\r\n])|(?P<text>[^\x00-\x1f\x7f-\x9f]+)")


class Screen:
    """The lines of the screen, with those that have scrolled. Any other sequence raises `AssertionError`."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines = [""]
        self.row = self.column = 0

    def feed(self, stream: str) -> Screen:
        """Print more output and return the screen."""
        place = 0
        while place < len(stream):
            token = _TOKEN.match(stream, place)
            assert token is not None, f"no display sends {stream[place : place + 20]!r}"
            place = token.end()
            if token["text"] is not None:
                self._write(token["text"])
            elif token["move"] == "\r":
                self.column = 0
            elif token["move"] == "\n":
                self.row += 1
                self.column = 0
                self.lines += [""] * (self.row + 1 - len(self.lines))
            elif token["what"] == "A":
                self.row = max(0, self.row - int(token["number"] or 1))
            elif token["what"] == "K":
                self.lines[self.row] = ""
            elif token["what"] in "hl":
                assert token["number"] == "?25", "only the cursor is hidden and shown"
        return self

    def _write(self, text: str) -> None:
        line = self.lines[self.row]
        self.lines[self.row] = line[: self.column].ljust(self.column) + text + line[self.column + len(text) :]
        self.column += len(text)
        assert cell_len(self.lines[self.row]) <= self.width, f"wider than {self.width}: {self.lines[self.row]!r}"

    def text(self) -> str:
        """Return all lines, from the top."""
        return "\n".join(line.rstrip() for line in self.lines).rstrip()


def plain(stream: str) -> str:
    """Return all text that was ever shown, without sequences."""
    return "".join(token["text"] or token["move"] or "" for token in _TOKEN.finditer(stream))
