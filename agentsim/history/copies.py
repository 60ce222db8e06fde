"""Copies: a text as what is new in it and what stands in an earlier text, as LZ77 does it, in JSON that can be read.

`"Hello, all."` may be written as `["Hello", [7, 5, 6]]`: its last six characters (code points) are those from the
fifth on, counted from 0, of text 7.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from typing import TypeAlias
from zlib import crc32

Piece: TypeAlias = str | list[int]
Written: TypeAlias = str | list[Piece]
RATIO = 64
"""What a file stands for is at most so many times as large as the file, or it is refused."""
_KEY = 16  # characters by which an earlier text is found
_LEAST = 32  # characters that are worth a copy, which takes some twenty
_SLOTS = 1 << 18
_START = 24  # bits of a slot that hold the start within a text
_ANCHOR = re.compile(r'^|: ?"?|\n|[.?!] ')


class Allowance:
    """Holds what is written to at least a `RATIO`th of what it stands for, so that a reader can refuse a bomb."""

    def __init__(self) -> None:
        self._full = self._written = 0

    def takes(self, full: int, short: int) -> bool:
        """Whether so many characters, or places, may be written as so many; else they are written in full."""
        fits = self._full + full <= RATIO * (self._written + short)
        self._full += full
        self._written += short if fits else full
        return fits


class Copies:
    """Finds in each text what stands in the texts before it.

    The places of its sentences and quotations are looked up in a table of fixed size, in which later ones
    replace earlier ones: what is found depends on the texts alone.
    """

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._texts: list[str] = []
        self._slots = array("q", [-1]) * _SLOTS

    def add(self, text: str) -> Written:
        """The next text, as it is written."""
        slots = _slots(text)
        written = self._written(text, slots)
        place = len(self._texts) << _START
        self._texts.append(text)
        for start, slot in reversed(slots):  # of a sentence that is said twice, the first is found
            if start < 1 << _START:
                self._slots[slot] = place | start
        return written

    def of(self, text: str) -> Written:
        """A text as it is written that is not among them."""
        return self._written(text, _slots(text))

    def _written(self, text: str, slots: Iterable[tuple[int, int]]) -> Written:
        if len(text) < _LEAST:
            return text
        pieces: list[Piece] = []
        told = 0
        for anchor, slot in slots:
            if anchor < told or self._slots[slot] < 0 or (found := self._found(text, anchor, told, slot)) is None:
                continue
            start, copy = found
            if told < start:
                pieces.append(text[told:start])
            pieces.append(copy)
            told = start + copy[2]
        if not pieces:
            self._allowance.takes(len(text), len(text))
            return text
        if told < len(text):
            pieces.append(text[told:])
        short = sum(len(piece) if isinstance(piece, str) else 8 for piece in pieces)
        return pieces if self._allowance.takes(len(text), short) else text

    def _found(self, text: str, anchor: int, told: int, slot: int) -> tuple[int, list[int]] | None:
        """Where a copy begins that covers this place, and the copy; None where none is long enough."""
        place, at = self._slots[slot] >> _START, self._slots[slot] & ((1 << _START) - 1)
        earlier = self._texts[place]
        if earlier[at : at + _KEY] != text[anchor : anchor + _KEY]:
            return None  # another text of that slot
        length = alike(earlier, text, at, anchor)
        back = 0
        most = min(at, anchor - told)
        while back < most and earlier[at - back - 1] == text[anchor - back - 1]:
            back += 1
        return None if length + back < _LEAST else (anchor - back, [place, at - back, length + back])


def _slots(text: str) -> list[tuple[int, int]]:
    """Where its sentences and quotations begin, and the slot of each."""
    last = len(text) - _KEY
    starts = [end for found in _ANCHOR.finditer(text) if (end := found.end()) <= last]
    if text.isascii():
        raw = text.encode()
        return [(start, crc32(raw[start : start + _KEY]) % _SLOTS) for start in starts]
    keys = (text[start : start + _KEY].encode("utf-8", "surrogatepass") for start in starts)
    return [(start, crc32(key) % _SLOTS) for start, key in zip(starts, keys, strict=True)]


def alike(one: str, other: str, at: int = 0, start: int = 0) -> int:
    """How many characters of two texts, from these places on, are the same."""
    same, most = 0, min(len(one) - at, len(other) - start)
    while same < most:
        upto = most
        while one[at + same : at + upto] != other[start + same : start + upto]:
            if upto == same + 1:
                return same
            upto = (same + upto) // 2
        same = upto
    return same


def whole(written: object, texts: Sequence[str], most: int) -> str:
    """The text that was written so, behind these; `ValueError` where it is none, or of more than `most` characters."""
    if isinstance(written, str):
        return written
    if not isinstance(written, list):
        raise ValueError("a text is no text")
    pieces = []
    for piece in written:
        pieces.append(piece if isinstance(piece, str) else _copied(piece, texts))
        if (most := most - len(pieces[-1])) < 0:
            raise ValueError("it stands for more than a file of its size may")
    return "".join(pieces)


def _copied(piece: object, texts: Sequence[str]) -> str:
    if not isinstance(piece, list) or [type(each) for each in piece] != [int, int, int]:
        raise ValueError("a copy is not three numbers")
    place, start, length = piece
    if not 0 <= place < len(texts) or start < 0 or length < 0 or start + length > len(texts[place]):
        raise ValueError("a copy is of a text that is not there")
    return texts[place][start : start + length]
