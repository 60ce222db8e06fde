"""Reading: how a reply's text becomes a decision, and how sure that was.

The stages go from strict to lenient and stop at the first that finds JSON objects: the whole text, fenced
blocks, objects embedded in prose. A game may add its own lenient stage in its request's `parse`. What a
decision may be in a given state is not decided here (`Request.check`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from agentsim.errors import AmbiguousReply, UnreadableReply

__all__ = ["Decision", "Found", "Pick", "Reading", "find_objects", "read", "without_thinking"]

MAX_TEXT = 256 * 1024  # characters looked at; decoding in a loop is quadratic, so the text is bounded
MAX_CANDIDATES = 200  # opening braces tried
MAX_DIGITS = 30  # of one number: longer ones are nobody's bid and slow to convert


class Decision(BaseModel):
    """Base of what players decide: frozen, JSON both ways; keys it does not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


D = TypeVar("D", bound=Decision)
Pick: TypeAlias = Literal["last", "first", "leading"]
"""Which JSON object of a reply counts; `leading` means that nothing but white space may stand before it."""


@dataclass(frozen=True, slots=True)
class Reading(Generic[D]):
    """A decision, the stage that found it, and how many objects could have been it."""

    decision: D
    stage: str
    candidates: int = 1
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON object and where it stands in the text."""

    value: dict[str, Any]
    start: int
    end: int


_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n?(.*?)```", re.DOTALL)


def without_thinking(text: str) -> str:
    """The reply without spelled-out thinking, in which nothing counts as a decision."""
    return _THINKING.sub("", text[:MAX_TEXT])


def read(text: str, answer: type[D], pick: Pick) -> Reading[D]:
    """The decision in a reply.

    Raises `UnreadableReply` where no object fits `answer`, `AmbiguousReply` where one object names a key
    twice with different values.
    """
    body = without_thinking(text)
    if not body.strip():
        raise UnreadableReply("The reply is empty.")
    stage, found = find_objects(body)
    if pick == "leading" and found and body[: found[0].start].strip():
        raise UnreadableReply("The reply must begin with the JSON object.")
    if pick == "leading":
        found = found[:1]
    fitting: list[D] = []
    problem = "There is no complete JSON object in the reply."
    for candidate in found:
        try:
            fitting.append(answer.model_validate(candidate.value))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            problem = f"In the JSON object, {'.'.join(map(str, first['loc'])) or 'the object'}: {first['msg']}."
    if not fitting:
        raise UnreadableReply(problem)
    chosen = fitting[-1] if pick == "last" else fitting[0]
    return Reading(chosen, stage, candidates=len(fitting))


def find_objects(body: str) -> tuple[str, list[Found]]:
    """The JSON objects of a text with the name of the stage that found them; the list may be empty."""
    start = len(body) - len(body.lstrip())
    whole = _decode(body, start)
    if whole is not None and not body[whole.end :].strip():
        return "json", [whole]
    fenced = []
    for block in _FENCE.finditer(body):
        inner = block[1]
        offset = block.start(1) + len(inner) - len(inner.lstrip())
        candidate = _decode(body, offset)
        if candidate is not None and not body[candidate.end : block.end(1)].strip():
            fenced.append(candidate)
    embedded = list(_embedded(body))
    if fenced and len(fenced) == len(embedded):
        return "fenced", fenced
    return "embedded", embedded


def _embedded(body: str) -> Iterator[Found]:
    position, tried = 0, 0
    while (brace := body.find("{", position)) >= 0 and tried < MAX_CANDIDATES:
        tried += 1
        candidate = _decode(body, brace)
        if candidate is None:
            position = brace + 1
        else:
            yield candidate
            position = candidate.end


def _decode(body: str, start: int) -> Found | None:
    """The object that begins exactly at `start`, or None."""
    if not body.startswith("{", start):
        return None
    try:
        value, end = _DECODER.raw_decode(body, start)
    except (ValueError, RecursionError):
        return None
    return Found(value, start, end)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out and out[key] != value:
            raise AmbiguousReply(f"The key {key[:40]!r} stands twice with different values.")
        out[key] = value
    return out


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError("a number of that length is no decision")
    return int(digits)


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_int=_integer, parse_constant=_constant)
