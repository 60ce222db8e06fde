"""Braces: where those of a text close, strings aside, and how deep they stand in each other.

What stands between them is `reading`'s business.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["MAX_DEPTH", "MAX_TEXT", "closing", "closings", "too_deep"]

MAX_TEXT = 256 * 1024  # characters looked at; more is nobody's answer
MAX_DEPTH = 200  # of objects and lists in each other: a decision is written as JSON again, which stops at 255

_STRING_OR_BRACE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}]', re.DOTALL)


def closing(body: str, start: int, stop: int = MAX_TEXT) -> int | None:
    """Where the brace at `start` closes, braces in strings aside; None where it does not before `stop`."""
    depth = 0
    for token in _STRING_OR_BRACE.finditer(body, start, stop):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0 and token[0] == "}":
            return token.end()
    return None


def closings(body: str, start: int) -> dict[int, tuple[int | None, int]]:
    """What `closing` says of the brace at `start` and of every later one that is in no string, seen from there.

    With each stands how many deep braces are in each other from it on. One pass, however they nest.
    """
    found: dict[int, tuple[int | None, int]] = {}
    waiting: list[tuple[int, int]] = []  # a brace and the depth of what it holds so far
    for token in _STRING_OR_BRACE.finditer(body, start, MAX_TEXT):
        if token[0] == "{":
            waiting.append((token.start(), 0))
        elif token[0] == "}" and waiting:
            brace, inner = waiting.pop()
            found[brace] = token.end(), inner + 1
            if waiting:
                around, deepest = waiting[-1]
                waiting[-1] = around, max(deepest, inner + 1)
    return found | {brace: (None, 0) for brace, _ in waiting}


def too_deep(value: Any) -> bool:
    """Whether objects and lists stand in each other more than `MAX_DEPTH` deep."""
    level = [value]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for one in level:
            inner += one.values() if isinstance(one, dict) else one
        level = [one for one in inner if isinstance(one, (dict, list))]
    return bool(level)
