"""Scanning: the JSON objects of a text, whole, with broken punctuation, broken beyond that, or cut off; in one pass.

A character is looked at a bounded number of times, whatever the text. What an object means is `shaping`'s business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agentsim.engine.reading.relaxed import MAX_DEPTH, Broken, CutOff, relaxed
from agentsim.engine.reading.text import Decoder, Work, bounded
from agentsim.errors import DecisionError

MAX_TEXT = 256 * 1024  # characters looked at; more is no answer
_MOST_OBJECTS = 300
_PIECE = 4096  # characters that are decoded at first

State: TypeAlias = Literal["strict", "repaired", "broken", "cut"]


@dataclass(frozen=True, slots=True)
class Object:
    """What begins as an object: where it stands, how whole it is, its value if it has one, and comments in it.

    Of one that was `cut` off `value` holds the members that are complete, if nothing else of it was begun.
    """

    start: int
    end: int
    state: State
    value: dict[str, Any] | None = None
    comments: str = ""
    fenced: bool = False


# where an object can begin: the braces of prose and templates begin none
_OPENING = re.compile(r"\{(?=\s*+(?:[\"'“”‘’}]|//|/\*|[\w-]{1,60}+\s{0,20}+:(?!//)))")
_BRACE = re.compile(r"[{}]")
_FENCE_BEFORE = re.compile(r"```[ \t]*[\w+-]{0,20}\s*\Z")
_FENCE_AFTER = re.compile(r"\s*+```")


def scan(body: str) -> list[Object]:
    """The objects of a text from left to right, none inside another.

    Raises `AmbiguousReply` where a key occurs twice with different values or there are too many objects, and
    `UnreadableReply` where too much of them would have to be mended, or they hold too much.
    """
    return list(bounded(_objects(body), _MOST_OBJECTS))


def strict_spans(text: str) -> list[tuple[int, int]]:
    """Where JSON objects stand that nothing has to be mended of."""
    try:
        return [(each.start, each.end) for each in scan(text) if each.state == "strict"]
    except DecisionError:
        return []


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
            return Object(start, end, "strict", value, fenced=_is_fenced(body, start, end))
    except (ValueError, RecursionError):
        pass
    try:
        members, end, comments = relaxed(body, start, work)
        return Object(start, end, "repaired", decoder.nested(members), comments, _is_fenced(body, start, end))
    except CutOff as error:
        value = None if error.members is None else decoder.nested(error.members)
        return Object(start, len(body), "cut", value, error.comments)
    except Broken as error:
        return _beyond_repair(body, start, error.at)


def _strict(body: str, start: int, decoder: json.JSONDecoder) -> tuple[Any, int]:
    """The JSON object at a place, and its end. Most end soon: an error counts the lines of all that was given."""
    piece = body[start : start + _PIECE]
    try:
        value, end = decoder.raw_decode(piece)
    except json.JSONDecodeError as error:
        if start + _PIECE >= len(body) or (error.pos < _PIECE // 2 and "Unterminated" not in error.msg):
            raise
        value, end = decoder.raw_decode(body[start:])
    return value, start + end


def _beyond_repair(body: str, start: int, at: int) -> Object:
    """The region of an object that cannot be read: to the brace that closes it, as far as braces tell."""
    depth = body.count("{", start, at) - body.count("}", start, at)
    if depth <= 0:
        return Object(start, max(at, start + 1), "broken")
    for brace in _BRACE.finditer(body, at):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return Object(start, brace.end(), "broken")
    return Object(start, len(body), "broken")


def _is_fenced(body: str, start: int, end: int) -> bool:
    before = _FENCE_BEFORE.search(body[max(0, start - 60) : start])
    return before is not None and _FENCE_AFTER.match(body, end) is not None


def _too_deep(value: Any, body: str, start: int, end: int) -> bool:
    """Whether objects and lists nest deeper than JSON can be written again."""
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
