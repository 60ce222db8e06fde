"""Reading: which action a reply is. Every reply is one: words alone are a post, and what cannot be read is rejected.

The rules are those of the society's own definition, except that braces may nest and stand in strings, and that the last
valid object counts. What is legal in a society (lengths, ranges) is asked of `legal`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import ValidationError

from agentsim.engine.braces import MAX_DEPTH, closings
from agentsim.engine.prompt import cleaned
from agentsim.engine.reading import Reading, object_at, without_thinking
from agentsim.errors import DecisionError, first_objection
from agentsim.games.society.actions import ACTIONS, Acted, ForumPost, Rejected

__all__ = ["LONGEST_GIVEN", "read_action"]

LONGEST_GIVEN = 2_000  # characters of a rejected object that are kept
_MOST_SCANNED = 1_000_000  # characters, over and over: what is no JSON on any level is not looked at without end
_UNPARSED = "Failed to parse action"

Legal = Callable[[Acted], None]
"""Raises `IllegalDecision` where a limit of the society is broken."""


def read_action(text: str, legal: Legal, *, post_chars: int, strict: bool) -> Reading[Acted]:
    """The action of a reply; never an error. `post_chars` are those of a reply without an object that become a post."""
    body = without_thinking(text)
    regions = list(_regions(body))
    if not regions:
        words = cleaned(body).strip()[:post_chars].strip()
        if strict or not words:
            return _rejected(_UNPARSED, None)
        return Reading(Acted(action=ForumPost(content=words)), "words", candidates=0)
    objects = [value for _, value in regions if value is not None]
    valid: list[Acted] = []
    problem: tuple[str, dict[str, Any]] | None = None
    for value in objects:
        for candidate in _candidates(value):
            outcome = _action(candidate, legal)
            if isinstance(outcome, Acted):
                valid.append(outcome)
                break
            if candidate is value or "action" in candidate:
                problem = outcome, candidate
    if valid:
        whole = len(regions) == 1 and body.strip() == body[regions[0][0]]
        return Reading(valid[-1], "json" if whole else "embedded", candidates=len(valid), checked=True)
    return _rejected(*(problem or (_UNPARSED, None)))


def _rejected(reason: str, value: dict[str, Any] | None) -> Reading[Acted]:
    given = "" if value is None else json.dumps(value, ensure_ascii=False)[:LONGEST_GIVEN]
    return Reading(Acted(action=Rejected(reason=reason, given=given)), "rejected", candidates=0)


def _regions(body: str) -> Iterator[tuple[slice, dict[str, Any] | None]]:
    """What stands between a brace and the one that closes it, from left to right; inside of one that is no JSON too.

    With each stands the object that it is.
    """
    start, left = body.find("{"), _MOST_SCANNED
    if start == 0 and body.endswith("}") and (whole := _decoded(body, 0, len(body))) is not None:  # as nearly always
        yield slice(0, len(body)), whole
        return
    closes: dict[int, tuple[int | None, int]] = {}
    while start >= 0 and left > 0:
        if start not in closes:  # the first, or one that stood in a string as seen from there
            closes |= closings(body, start)
            left -= len(body) - start
        end, depth = closes[start]
        if end is None:
            start = body.find("{", start + 1)
            continue
        value = None
        if depth <= MAX_DEPTH:  # no other can be read
            value = _decoded(body, start, end)
            left -= 0 if value is not None else end - start
        yield slice(start, end), value
        start = body.find("{", end if value is not None else start + 1)


def _decoded(body: str, start: int, end: int) -> dict[str, Any] | None:
    """The region as one JSON object, or None; an object that names a key twice, with two values, is none."""
    try:
        return object_at(body, start, end)
    except DecisionError:
        return None


def _candidates(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The object, and those wrapped in it, from outside in."""
    waiting = [value]
    while waiting:
        one = waiting.pop(0)
        yield one
        waiting += [part for part in one.values() if isinstance(part, dict)]


def _action(value: dict[str, Any], legal: Legal) -> Acted | str:
    """The action that an object is, or why it is none."""
    name = value.get("action")
    kind = ACTIONS.get(name) if isinstance(name, str) else None
    if kind is None:
        return f"Unknown action: {str(name)[:60]}"
    try:
        acted = Acted(action=kind.model_validate(value))  # type: ignore[arg-type] # one of the ten, by its name
    except ValidationError as error:
        where, why = first_objection(error)
        return f"Invalid action data: {where}: {why}"
    try:
        legal(acted)
    except DecisionError as error:
        return f"Invalid action data: {str(error).removeprefix('action.')}"
    return acted
