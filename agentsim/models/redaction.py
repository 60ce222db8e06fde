r"""Redaction: removes keys from what a provider sends, before it is kept or shown.

A key is found verbatim, in base64, and with characters escaped as in JSON (`\u0073`, `\/`) or as in a URL (`%73`), and
so are pieces of it. Nested escapes and other encodings are not searched.
"""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import TypeAlias

REDACTED = "[redacted]"

_PIECE = 8  # characters: a server that masks a key still shows its ends, so pieces are redacted, too
_LONG_PIECE = 16  # characters: a model's words may overlap with a key like `no-key-required`
_ESCAPES = (r'\\u[0-9A-Fa-f]{4}|\\["\\/]', "%[0-9A-Fa-f]{2}")  # escapes of one character, in JSON and in a URL

_Span: TypeAlias = tuple[int, int]
_Windows: TypeAlias = Mapping[int, tuple[Set[str], Set[str]]]


def redact_reply(text: str, secrets: Sequence[str]) -> str:
    """Redact a model's own words: keys of at least 8 characters, and pieces of at least 16.

    Local servers get keys like `EMPTY`, and redacting those would damage a game's decisions.
    """
    return redact(text, [secret for secret in secrets if len(secret) >= _PIECE], _LONG_PIECE)


def redact(text: str, secrets: Iterable[str], piece: int = _PIECE) -> str:
    """Replace the secrets, and pieces of them of at least `piece` characters, in time linear in the text's length."""
    windows = _windows(frozenset(filter(None, secrets)), piece)
    if not windows:
        return text
    spans = [*_spans(text, windows)]
    for escape in _ESCAPES:
        decoded = re.sub(escape, _decoded, text)
        if decoded != text and (found := [*_spans(decoded, windows)]):
            # start of each decoded character
            places = [match.start() for match in re.finditer(f"{escape}|.", text, re.DOTALL)]
            places.append(len(text))
            spans += [(places[start], places[end]) for start, end in found]
    out: list[str] = []
    position = 0
    for start, end in _joined(spans):
        out += text[position:start], REDACTED
        position = end
    return "".join((*out, text[position:]))


def _decoded(escape: re.Match[str]) -> str:
    written = escape[0]
    return written[1:] if len(written) == 2 else chr(int(written.lstrip("\\u%"), 16))


def _forms(secret: str) -> Iterator[str]:
    yield secret
    raw = secret.encode()
    for start in range(3):  # base64 encodes three bytes as four characters, and a key may begin at any of the three
        whole = raw[start : start + (len(raw) - start) // 3 * 3]
        if len(whole) >= 6:  # eight characters; fewer could be a word
            yield b64encode(whole).decode()
            yield urlsafe_b64encode(whole).decode()


@lru_cache(16)  # the secrets are the same for every reply
def _windows(secrets: frozenset[str], piece: int) -> _Windows:
    """Cut the forms of secrets into windows, by size, and into blocks of half a window for a first lookup."""
    windows: dict[int, tuple[set[str], set[str]]] = {}
    for form in (form for secret in secrets for form in _forms(secret)):
        size = min(len(form), piece)
        whole, blocks = windows.setdefault(size, (set(), set()))
        for found, length in ((whole, size), (blocks, (size + 1) // 2)):
            found |= {form[at : at + length] for at in range(len(form) - length + 1)}
    return windows


def _spans(text: str, windows: _Windows) -> Iterator[_Span]:
    """Yield the places of windows in a text. Blocks are looked up first, at steps so small that no window is missed."""
    for size, (whole, blocks) in windows.items():
        block = (size + 1) // 2
        for at in range(0, len(text), size - block + 1):
            if text[at : at + block] in blocks:
                starts = range(max(0, at + block - size), at + 1)
                yield from ((start, start + size) for start in starts if text[start : start + size] in whole)


def _joined(spans: list[_Span]) -> list[_Span]:
    """Sort spans and merge those that touch."""
    joined: list[_Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
