"""Keys: where a provider's key comes from, and how no text ever shows one.

Reading `.env` files does not belong here (the command line merges them into the mapping), nor do the rules which
address may see a key (`profiles.resolve`, `permits`).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import TypeAlias

from agentsim.errors import ScenarioError
from agentsim.models.escapes import Span, readings
from agentsim.models.permits import check
from agentsim.models.profiles import Profile

__all__ = ["REDACTED", "key_for", "redact", "redact_reply", "variable_for"]

_PIECE = 8  # characters: a server that masks a key still shows its ends, so pieces count as the key
_LONG_PIECE = 16  # characters: what a model says may share a word with a key like `no-key-required`
REDACTED = "[redacted]"


def key_for(profile: Profile, env: Mapping[str, str]) -> str | None:
    """The key to send, or None where the profile names no variable.

    Raises `ScenarioError`, which names the variable and never its value; for one that may not be sent there, too.
    """
    name = variable_for(profile, env)
    if name is None:
        return None
    check(profile, name, env)
    value = env.get(name, "").strip()
    if not value:
        names = " or ".join(profile.key_envs)
        raise ScenarioError(f"{profile.provider} needs a key: set {names} in the environment or in ./.env")
    # A line break or an accent would end up, with the key, in an error of the HTTP layer.
    if not re.fullmatch(r"[\x21-\x7e]+", value):
        raise ScenarioError(f"the key in {name} has characters that no key has (a space, a line break, an accent)")
    return value


def variable_for(profile: Profile, env: Mapping[str, str]) -> str | None:
    """The variable whose key is sent: the first that is set, or the first; None where none is named."""
    return next((name for name in profile.key_envs if env.get(name, "").strip()), next(iter(profile.key_envs), None))


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
"""What is looked for, by its length; and all that a window of half that length may hold."""


@lru_cache(16)  # with every reply the same few
def _needles(secrets: frozenset[str], piece: int) -> _Needles:
    needles: dict[int, tuple[set[str], set[str]]] = {}
    for form in (form for secret in secrets for form in _forms(secret)):
        size = min(len(form), piece)
        whole, halves = needles.setdefault(size, (set(), set()))
        whole |= _windows(form, size)
        halves |= _windows(form, _half(size))
    return needles


def _forms(secret: str) -> Iterator[str]:
    yield secret
    for before in range(3):  # the three ways in which base64 can cut what stands before the key
        encoded = base64.b64encode(b"\0" * before + secret.encode()).decode().rstrip("=")
        form = encoded[4 if before else 0 : -2]
        if len(form) >= _PIECE:  # encodings of a short secret are too short to be told from words
            yield form
    for written in (secret, json.dumps(secret)[1:-1]):  # what is left of backslashes and quotes of the key's own
        for layers in readings(written):
            yield from (layer.plain for layer in layers if len(layer.plain) >= _PIECE)


def _windows(form: str, size: int) -> set[str]:
    return {form[at : at + size] for at in range(len(form) - size + 1)}


def _half(size: int) -> int:
    return (size + 1) // 2


def _spans(text: str, needles: _Needles) -> list[Span]:
    """Where needles stand in a text or in what it stands for: apart from one another, from left to right."""
    everywhere = [*_found(text, needles)]
    for layers in readings(text) if needles else ():
        found: list[Span] = []
        for layer in reversed(layers):  # what is found below is looked up above
            found = [layer.above(span) for span in _joined([*found, *_found(layer.plain, needles)])]
        everywhere += found
    return _joined(everywhere)


def _found(text: str, needles: _Needles) -> Iterator[Span]:
    for size, (whole, halves) in needles.items():
        half = _half(size)
        start = end = 0
        # one of these windows lies in any needle, wherever that begins
        for at in range(0, len(text) - half + 1, size - half + 1):
            if text[at : at + half] not in halves:
                continue
            if end >= at and text[at : at + size] in whole:  # it goes on
                end = at + size
                continue
            for begins in range(max(0, at + half - size), at + 1):
                if text[begins : begins + size] in whole:
                    if begins > end:
                        yield start, end
                        start = begins
                    end = begins + size
        yield start, end


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        elif start < end:
            joined.append((start, end))
    return joined
