"""Escapes: what a text stands for once it is decoded, and where in it each part of that is written.

Meant are the escapes of JSON, HTML and URLs, commands to a terminal, and characters that are not seen or look like
others. The result is ASCII and is never shown: it serves to find keys, which are ASCII.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from html import unescape
from itertools import accumulate
from typing import TypeAlias

from agentsim.engine.prompt import ANSI

__all__ = ["Layer", "Span", "readings"]

Span: TypeAlias = tuple[int, int]
_Step: TypeAlias = tuple[re.Pattern[str], re.Pattern[str], Callable[[str], str]]
"""What to look for first, what to replace, and by what."""


class Layer:
    """A text with what a pattern finds in it replaced by what it means."""

    def __init__(self, text: str, pattern: re.Pattern[str], meaning: Callable[[str], str]) -> None:
        self._above = pattern.split(text)  # every other part is an escape
        self._below = self._above.copy()
        self._below[1::2] = map(meaning, self._above[1::2])
        self.plain = "".join(self._below)

    @cached_property
    def _starts(self) -> tuple[list[int], list[int]]:
        """Where each part begins, below and above; and their ends."""
        below, above = (list(accumulate(map(len, parts), initial=0)) for parts in (self._below, self._above))
        return below, above

    def above(self, span: Span) -> Span:
        """A span of the plain text as one of the text, in which escapes are whole."""
        below, above = self._starts
        first, last = (bisect_right(below, at, hi=len(below) - 1) - 1 for at in (span[0], span[1] - 1))
        start = above[first] if first % 2 else above[first] + span[0] - below[first]
        end = above[last + 1] if last % 2 else above[last] + span[1] - below[last]
        return start, end


def readings(text: str) -> Iterator[list[Layer]]:
    """What is behind a text, one step after the other: with commands to a terminal obeyed, and as they are spelt."""
    first = list(_layers(text, (_UNESCAPED,)))
    plain = first[0].plain if first else text
    for silent in (_OBEYED, _UNSEEN)[: 1 + ("\x1b" in plain)]:
        yield [*first, *_layers(plain, (silent, *_AGAIN))]


def _layers(text: str, steps: Iterable[_Step]) -> Iterator[Layer]:
    for sign, pattern, meaning in steps:
        if sign.search(text):  # most texts have none, and are looked at once
            layer = Layer(text, pattern, meaning)
            yield layer
            text = layer.plain


# Of the escapes of JSON a run of backslashes is one, however often JSON was put into JSON.
_ESCAPE = re.compile(
    r"((?<!\\)\\u001[bB]\\\\"  # what ends a terminal's command: ESC and a backslash
    r"|\\++(?:u(?:[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]{1,6}\})|x[0-9A-Fa-f]{2}|[bfnrtv\"]|)"
    r"|%(?:25)*[0-9A-Fa-f]{2}"
    r"|&(?:amp;|#38;|#[xX]26;)*(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]\w{1,30}+(?=;));?"
    r"|[^\n\0\x07\x1b\x20-\x7e]+)"
)
_SIGN_OF_AN_ESCAPE = re.compile(r"[^\n\0\x07\x1b\x20-\x24\x27-\x5b\x5d-\x7e]")  # \\, %, &, and what is not seen
_CONTROL = re.compile(r"([\0\x07\x1b]+)")
_COMMAND = re.compile(rf"({ANSI.pattern}|[\0\x07\x1b])")


def _meaning(escape: str) -> str:
    """What an escape stands for, of which only that counts which a key can consist of."""
    match escape[0]:
        case "\\":
            body = escape.lstrip("\\")
            if len(body) > 1:
                return "\x07" if body.endswith("\\") else _seen_of(int(body.strip("ux{}"), 16))
            return "\n" if body and body in "nrtv" else "\0" if body else ""
        case "%":
            return _seen_of(int(escape[-2:], 16))
        case "&":
            return _seen(unescape(re.sub(r"^&(?:(?:amp;|#38;|#[xX]26;)(?=.))*", "&", escape)))
    return _seen(escape)


def _seen_of(code: int) -> str:
    return _seen(chr(code)) if code <= sys.maxunicode else "\0"


def _seen(text: str) -> str:
    """The text in ASCII where it looks like that; what is not seen leaves a mark: behind ESC, that is no command."""
    ascii_only = unicodedata.normalize("NFKC", text).encode("ascii", "ignore")
    return ascii_only.translate(None, _UNUSED).decode() or "\0"


_UNUSED = bytes({*range(0x20), 0x7F} - set(b"\n\x07\x1b"))


class _Meanings(dict[str, str]):
    """Of short escapes that came lately, which are often the same."""

    def __missing__(self, escape: str) -> str:
        meaning = _meaning(escape)
        if len(escape) <= 16:
            if len(self) >= 4096:
                self.clear()
            self[escape] = meaning
        return meaning


_MEANINGS = _Meanings()
_UNESCAPED: _Step = (_SIGN_OF_AN_ESCAPE, _ESCAPE, _MEANINGS.__getitem__)
_OBEYED: _Step = (_CONTROL, _COMMAND, lambda _command: "")
_UNSEEN: _Step = (_CONTROL, _CONTROL, lambda _control: "")
_AGAIN = (_UNESCAPED, _UNSEEN, _UNESCAPED, _UNSEEN)  # for escapes of one kind within those of another
