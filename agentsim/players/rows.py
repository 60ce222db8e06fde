"""rows: text laid out in the cells of a terminal, where a wide letter takes two. What is said stands elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

__all__ = ["MARK", "cut", "rows"]

MARK = "│ "
"""Begins every row that foreign words run on to, so that none can pass for a line of its own."""


def rows(text: str, width: int, hang: str = "") -> list[str]:
    """The text in rows of at most `width` cells, broken between words; every row but the first begins with `hang`."""
    room = max(2, width - cell_len(hang))
    lines = [row for line in text.split("\n") for row in _wrapped(line.expandtabs(), room)]
    return [lines[0], *(hang + line for line in lines[1:])]


def cut(text: str, width: int) -> str:
    """The text in at most `width` cells, an ellipsis at its end where something is missing."""
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
        else:  # longer than any row: an address, or a language that writes no spaces
            *whole, rest = _pieces(part, room, used)
            done += [row + whole[0], *whole[1:]]
            row, used = rest, cell_len(rest)
    done.append(row)
    kept = [piece.rstrip() for piece in done]
    return [piece for number, piece in enumerate(kept) if piece or number == 0]


def _pieces(text: str, room: int, used: int = 0) -> Iterator[str]:
    """The text in pieces of at most `room` cells, the first with `used` of them taken; it may be empty."""
    piece = ""
    for character in text:
        if used + cell_len(piece + character) > room:  # of the whole: a selector widens the letter before it
            yield piece
            piece, used = "", 0
        piece += character
    yield piece
