"""The JSON objects of a text: whole, with broken punctuation, broken beyond that, or cut off.

A character is looked at a bounded number of times, whatever the text. What an object means is up to `shaping`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, TypeAlias

from agentsim.engine.decision import Real
from agentsim.engine.prompt import cleaned
from agentsim.engine.reading.relaxed import MAX_DEPTH, Broken, CutOff, Work, relaxed
from agentsim.engine.reading.text import bounded
from agentsim.errors import AmbiguousReply, DecisionError

_MOST_OBJECTS = 300
_MOST_DIGITS = 30  # of a whole number: longer ones are slow to convert; amounts have fewer (`MAX_DIGITS`)
_PIECE = 4096  # characters that are decoded at first

State: TypeAlias = Literal["strict", "repaired", "broken", "cut"]


@dataclass(frozen=True, slots=True)
class Object:
    """A place where an object begins, how whole it is, and its value if it has one.

    If the text was `cut` off, `value` holds the complete members, unless another member was begun.
    """

    start: int
    end: int
    state: State
    value: dict[str, Any] | None = None
    fenced: bool = False
    call: bool = False
    """True for a tool call that is spelt out in the text."""


# the braces of prose and templates begin no object
_OPENING = re.compile(r"[{｛](?=\s*+(?:[\"'“”‘’＂}｝]|//|/\*|[\w-]{1,60}+\s{0,20}+[:：](?!//)))")
_BRACE = re.compile(r"[{}｛｝]")
_FENCE_BEFORE = re.compile(r"(?:```|~~~)[ \t]*[\w+-]{0,20}\s*\Z")
_FENCE_AFTER = re.compile(r"\s*+(?:```|~~~)")


def scan(body: str) -> list[Object]:
    """Return the outermost objects of a text from left to right.

    Raises `AmbiguousReply` if a key stands twice with different values, there are too many objects, or they hold too
    much; `UnreadableReply` if too much of them would have to be mended.
    """
    return list(bounded(_objects(body), _MOST_OBJECTS))


def strict_spans(text: str) -> list[tuple[int, int]]:
    """Return the places of the objects that are valid JSON."""
    try:
        return [(each.start, each.end) for each in scan(text) if each.state == "strict"]
    except DecisionError:
        return []


def decoded(text: str) -> Any:
    """Return the JSON value that a text is. Raises `ValueError` if it is none."""
    return Decoder(Work()).json.decode(text)


class Decoder:
    """A JSON decoder for replies: strings are cleaned once more, values are counted, a key stands once."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.json = json.JSONDecoder(
            object_pairs_hook=self.pairs, parse_int=_integer, parse_float=self._real, parse_constant=_constant
        )

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Return the object of its members. Raises `AmbiguousReply` if a key stands twice with different values."""
        self._work.take(1 + len(pairs))
        out: dict[str, Any] = {}
        for spelt, given in pairs:
            key, value = cleaned(spelt), self._cleaned(given)
            if key in out and _as_json(out[key]) != _as_json(value):
                raise AmbiguousReply(f"The key {key[:40]!r} stands twice with different values.")
            out[key] = value
        return out

    def nested(self, members: list[tuple[str, Any]]) -> dict[str, Any]:
        """Return the object of mended members, and of the members in them."""
        return self.pairs([(key, self._nested(value)) for key, value in members])

    def _nested(self, value: Any) -> Any:
        if isinstance(value, tuple):  # the members of an object
            return self.nested(list(value))
        return [self._nested(item) for item in value] if isinstance(value, list) else value

    def _cleaned(self, value: Any) -> Any:
        """Clean the strings of a value: an escape such as `\\u001b` became its character only now."""
        if isinstance(value, str):
            return cleaned(value)
        if isinstance(value, list):
            self._work.take(len(value))
            return [self._cleaned(item) for item in value]
        return value

    def _real(self, digits: str) -> Real:
        self._work.take()
        value = Real(digits)
        if not isfinite(value):
            raise ValueError(f"{digits[:40]} is too large")
        return value


def _as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("a number of that length is no decision")
    return int(digits)


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _objects(body: str) -> Iterator[Object]:
    position, work = 0, Work()
    decoder = Decoder(work)
    while opening := _OPENING.search(body, position):
        found = _object(body, opening.start(), work, decoder)
        yield found
        position = found.end


def _object(body: str, start: int, work: Work, decoder: Decoder) -> Object:
    try:
        value, end = _strict(body, start, decoder.json)
        if not _too_deep(value, body, start, end):
            return Object(start, end, "strict", value, _is_fenced(body, start, end))
    except (ValueError, RecursionError):
        pass
    try:
        members, end = relaxed(body, start, work)
        return Object(start, end, "repaired", decoder.nested(members), _is_fenced(body, start, end))
    except CutOff as error:
        return Object(start, len(body), "cut", None if error.members is None else decoder.nested(error.members))
    except Broken as error:
        return _beyond_repair(body, start, error.at)


def _strict(body: str, start: int, decoder: json.JSONDecoder) -> tuple[Any, int]:
    """Decode the object at a place. A short piece is tried first: an error counts the lines of all that was given."""
    piece = body[start : start + _PIECE]
    try:
        value, end = decoder.raw_decode(piece)
    except json.JSONDecodeError as error:
        if start + _PIECE >= len(body) or (error.pos < _PIECE // 2 and "Unterminated" not in error.msg):
            raise
        value, end = decoder.raw_decode(body[start:])
    return value, start + end


def _beyond_repair(body: str, start: int, at: int) -> Object:
    """Return an object that cannot be read, up to the brace that closes it as far as braces tell."""
    depth = body.count("{", start, at) - body.count("}", start, at)
    if depth <= 0:
        return Object(start, max(at, start + 1), "broken")
    for brace in _BRACE.finditer(body, at):
        depth += 1 if brace[0] in "{｛" else -1
        if not depth:
            return Object(start, brace.end(), "broken")
    return Object(start, len(body), "broken")


def _is_fenced(body: str, start: int, end: int) -> bool:
    before = _FENCE_BEFORE.search(body[max(0, start - 60) : start])
    return before is not None and _FENCE_AFTER.match(body, end) is not None


def _too_deep(value: Any, body: str, start: int, end: int) -> bool:
    """Check whether objects and lists nest deeper than JSON can be written again."""
    # few replies open so many brackets; those that do are looked at level by level
    if body.count("{", start, end) + body.count("[", start, end) <= MAX_DEPTH:
        return False
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return any(isinstance(each, (dict, list)) for each in level)
