"""Redaction: how no text ever shows a key, however it is spelt.

A key is also looked for in what a text stands for once it is decoded: the escapes of JSON, HTML and URLs, commands to
a terminal, and characters that are not seen or look like others. What is decoded is ASCII, as keys are.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from html import unescape
from itertools import accumulate
from typing import TypeAlias

from agentsim.engine.prompt import ANSI

_PIECE = 8  # characters: a server that masks a key still shows its ends, so pieces count as the key
_LONG_PIECE = 16  # characters: what a model says may share a word with a key like `no-key-required`
REDACTED = "[redacted]"
_Span: TypeAlias = tuple[int, int]
_Step: TypeAlias = tuple[re.Pattern[str], re.Pattern[str], Callable[[str], str]]
"""What to look for first, what to replace, and by what."""


def redact_reply(text: str, secrets: Sequence[str]) -> str:
    """As `redact`, for a model's own words: no key of fewer than 8 characters, and longer pieces only.

    Local servers get keys like `EMPTY`, which would punch holes into a game's decisions.
    """
    return redact(text, [secret for secret in secrets if len(secret) >= _PIECE], _LONG_PIECE) if secrets else text


def redact(text: str, secrets: Iterable[str], piece: int = _PIECE) -> str:
    """The text with every secret, and every piece of 8 characters or more of one, replaced; so are its encodings.

    Encoded is also what a reader of the text would decode: escapes of JSON, however often escaped again, of HTML and of
    URLs, and what no reader sees between two characters. Linear in the text's length.
    """
    needles = _needles(frozenset(filter(None, secrets)), piece)
    out: list[str] = []
    position = 0
    for start, end in _spans(text, needles):
        out += [text[position:start], REDACTED]
        position = end
    return "".join((*out, text[position:]))


_Needles: TypeAlias = Mapping[int, tuple[Set[str], Set[str]]]
"""What is looked for, by its length; and the windows of half that length in it, one of which stands at every stride."""


@lru_cache(16)  # with every reply the same few
def _needles(secrets: frozenset[str], piece: int) -> _Needles:
    needles: dict[int, tuple[set[str], set[str]]] = {}
    for form in (form for secret in secrets for form in _forms(secret)):
        size = min(len(form), piece)
        whole, halves = needles.setdefault(size, (set(), set()))
        whole |= _windows(form, size)
        halves |= _windows(form, (size + 1) // 2)
    return needles


def _forms(secret: str) -> Iterator[str]:
    yield secret
    for before in range(3):  # the three ways in which base64 can cut what stands before the key
        encoded = base64.b64encode(b"\0" * before + secret.encode()).decode().rstrip("=")
        form = encoded[4 if before else 0 : -2]
        if len(form) >= _PIECE:  # encodings of a short secret are too short to be told from words
            yield form
    for written in (secret, json.dumps(secret)[1:-1]):  # what is left of backslashes and quotes of the key's own
        for layers in _readings(written):
            yield from (layer.plain for layer in layers if len(layer.plain) >= _PIECE)


def _windows(form: str, size: int) -> set[str]:
    return {form[at : at + size] for at in range(len(form) - size + 1)}


def _spans(text: str, needles: _Needles) -> list[_Span]:
    """Where needles stand in a text or in what it stands for: apart from one another, from left to right."""
    everywhere = [*_found(text, needles)]
    for layers in _readings(text) if needles else ():
        found: list[_Span] = []
        for layer in reversed(layers):  # what is found below is looked up above
            found = [layer.above(span) for span in _joined([*found, *_found(layer.plain, needles)])]
        everywhere += found
    return _joined(everywhere)


def _found(text: str, needles: _Needles) -> Iterator[_Span]:
    for size, (whole, halves) in needles.items():
        half = (size + 1) // 2
        for at in range(0, len(text) - half + 1, size - half + 1):
            if text[at : at + half] in halves:
                begins = range(max(0, at + half - size), at + 1)
                yield from ((begin, begin + size) for begin in begins if text[begin : begin + size] in whole)


def _joined(spans: list[_Span]) -> list[_Span]:
    joined: list[_Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


class _Layer:
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

    def above(self, span: _Span) -> _Span:
        """A span of the plain text as one of the text, in which escapes are whole."""
        below, above = self._starts
        first, last = (bisect_right(below, at, hi=len(below) - 1) - 1 for at in (span[0], span[1] - 1))
        start = above[first] if first % 2 else above[first] + span[0] - below[first]
        end = above[last + 1] if last % 2 else above[last] + span[1] - below[last]
        return start, end


def _readings(text: str) -> Iterator[list[_Layer]]:
    """What is behind a text, one step after the other: with commands to a terminal obeyed, and as they are spelt."""
    first = list(_layers(text, (_UNESCAPED,)))
    plain = first[0].plain if first else text
    for silent in (_OBEYED, _UNSEEN)[: 1 + ("\x1b" in plain)]:
        yield [*first, *_layers(plain, (silent, *_AGAIN))]


def _layers(text: str, steps: Iterable[_Step]) -> Iterator[_Layer]:
    for sign, pattern, meaning in steps:
        if sign.search(text):  # most texts have none, and are looked at once
            layer = _Layer(text, pattern, meaning)
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


_UNESCAPED: _Step = (_SIGN_OF_AN_ESCAPE, _ESCAPE, _meaning)
_OBEYED: _Step = (_CONTROL, _COMMAND, lambda _command: "")
_UNSEEN: _Step = (_CONTROL, _CONTROL, lambda _control: "")
_AGAIN = (_UNESCAPED, _UNSEEN, _UNESCAPED, _UNSEEN)  # for escapes of one kind within those of another
