"""Repair: the last stage of reading a reply: one object whose punctuation is broken, and nothing else.

It comes after the request's own reader found nothing (`unreadable`; what is ambiguous or illegal has been read), and
that reader judges the result in its place, prose and negations around it included. Whether it is wanted is a setting;
how JSON is found is the engine's `reading`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from agentsim.engine.braces import closing
from agentsim.engine.reading import Reading, find_objects, without_thinking
from agentsim.engine.request import Request
from agentsim.errors import DecisionError, UnreadableReply
from agentsim.models.base import Completion

__all__ = ["STAGE", "read_reply", "repaired"]

STAGE = "repaired"
"""The `parse.stage` of a decision that was read from a repaired object."""

_LONGEST = 16 * 1024  # characters of an object worth repairing; the library's time grows faster than its text
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_NO_LETTER = re.compile(r"[\W_]+")
# the value of a bare word: NaN and Infinity are numbers that JSON has no word for
_WORD = re.compile(r"(?!(?:NaN|Infinity)\Z)[^\W\d][\w ]*", re.IGNORECASE)
_MARKS = "\"'“”"
_ESCAPED = {"\n": r"\n", "\t": r"\t", '"': r"\"", "'": r"\'", "/": r"\/", "\\": r"\\"}


def read_reply(request: Request[Any], completion: Completion, *, repair: bool) -> Reading[Any]:
    """The decision of a reply, which is legal; raises `DecisionError`.

    A repaired one that is not legal, or not even readable, leaves the reply as unreadable as it was.
    """
    try:
        reading: Reading[Any] = request.parse(completion.text)
    except UnreadableReply as unreadable:
        mended = repaired(completion, request.schema()) if repair else None
        if mended is None:
            raise
        return _judged(request, mended, unreadable)
    if not reading.checked:
        request.check(reading.decision)
    return reading


def _judged(request: Request[Any], mended: str, unreadable: UnreadableReply) -> Reading[Any]:
    try:
        reading: Reading[Any] = request.parse(mended)
        request.check(reading.decision)
    except DecisionError:
        raise unreadable from None
    return replace(reading, stage=STAGE, repaired=True)


def repaired(completion: Completion, schema: Mapping[str, Any]) -> str | None:
    """The reply with its one broken object mended, or None where that cannot be done without guessing.

    Never for a reply that was cut off, for one with an object that is whole, with none or with several; nor where
    the result has other keys than the schema's, or says anything that the reply does not spell out.
    """
    if completion.finish_reason == "length":
        return None
    body = without_thinking(completion.text)
    span = _only_span(body)
    if span is None:
        return None
    start, end = span
    source = body[start:end]
    value = _mended(source)
    if not value or not _is_of(schema, value) or not _says_the_same(source, value):
        return None
    return f"{body[:start]}{json.dumps(value, ensure_ascii=False)}{body[end:]}"


def _only_span(body: str) -> tuple[int, int] | None:
    """Where the one object of a reply stands; None where there is none, another, a whole one, or one without an end."""
    try:
        if find_objects(body)[1]:
            return None
    except DecisionError:
        return None
    start = body.find("{")
    if start < 0 or (end := closing(body, start)) is None or end - start > _LONGEST:
        return None
    return None if "{" in body[end:] or "}" in body[end:] else (start, end)


def _mended(source: str) -> dict[str, Any] | None:
    from json_repair import repair_json

    try:
        value = repair_json(source, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, TypeError):  # it promises none; what it was given is foreign
        return None
    return value if isinstance(value, dict) else None


def _is_of(schema: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    """Whether an object has the schema's keys and no others, and holds nothing that is nested."""
    known = schema.get("properties", {})
    if not set(value) <= set(known) or not set(schema.get("required", ())) <= set(value):
        return False
    return not any(isinstance(part, (dict, list)) for part in _parts(value))


def _says_the_same(source: str, value: Mapping[str, Any]) -> bool:
    """Whether only punctuation was changed: the same letters and digits in the same order, every key once and where one
    can begin, and every value as it is spelt between its own marks: no word of a text becomes a value of its own.
    """
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return False
    if _letters(source) != _letters(written):
        return False
    for key in value:
        name = re.escape(key)
        begins = re.findall(rf"[{{,\n{_MARKS}]\s*[{_MARKS}]?{name}[{_MARKS}]?\s*:", source)
        if len(begins) != 1 or len(re.findall(rf"(?<!\w){name}\W{{0,3}}:", source, re.IGNORECASE)) != 1:
            return False
    return all(_is_spelt(part, source) for part in _parts(value))


def _parts(value: Mapping[str, Any]) -> Iterator[Any]:
    """The values of an object, and those of its lists in their place."""
    for each in value.values():
        yield from each if isinstance(each, list) else [each]


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", re.sub(r"\bNone\b", "null", _ESCAPE.sub("", text))).casefold()


def _is_spelt(part: Any, source: str) -> bool:
    """Whether a value stands in the source, begun and ended by what begins and ends a value there."""
    if part is None or isinstance(part, bool):
        word = "null|None" if part is None else json.dumps(part)
        return re.search(rf"[:\[,]\s*(?:{word})\s*[,}}\]\n]", source, re.IGNORECASE) is not None
    if not isinstance(part, str):
        return re.search(rf"[:\[,]\s*{re.escape(json.dumps(part))}\s*[,}}\]\n]", source) is not None
    words = "".join(map(_spelling, part))
    quoted = rf"[:\[,]\s*[{_MARKS}]{words}[{_MARKS}]\s*(?:[,}}\]]|(?<=\s)[{_MARKS}])"
    bare = rf"[:\[,]\s*{words}\s*[,}}\]\n]" if _WORD.fullmatch(part) else "(?!)"
    return re.search(f"{quoted}|{bare}", source) is not None


def _spelling(character: str) -> str:
    """A pattern of the ways in which a string can hold a character, escaped or not."""
    if escape := _ESCAPED.get(character):
        return f"(?:{re.escape(character)}|{re.escape(escape)})"
    return re.escape(character)
