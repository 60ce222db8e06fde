"""Reading: how a reply's text becomes a decision, and how sure that was.

The stages go from strict to lenient and stop at the first that finds JSON objects: the whole text, fenced
blocks, objects embedded in prose. A game may add its own lenient stage in its request's `parse`. What a
decision may be in a given state is not decided here (`Request.check`), nor how a number may be spelt (`number`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from agentsim.engine.braces import MAX_DEPTH, MAX_TEXT, closing, too_deep
from agentsim.engine.number import Real
from agentsim.engine.prompt import cleaned
from agentsim.errors import AmbiguousReply, UnreadableReply, first_objection

__all__ = ["Decision", "Found", "Pick", "Reading", "find_objects", "object_at", "read", "without_thinking"]

_MOST_DIGITS = 30  # of any whole number in a reply: longer ones are slow to convert; amounts have fewer (`number`)


class Decision(BaseModel):
    """Base of what players decide: frozen, JSON both ways; keys it does not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


D = TypeVar("D", bound=Decision)
Pick: TypeAlias = Literal["last", "first", "leading"]
"""Which JSON object of a reply counts; `leading` means that nothing but white space may stand before it."""


@dataclass(frozen=True, slots=True)
class Reading(Generic[D]):
    """A decision, the stage that found it, and how many objects could have been it.

    `checked` says that the request has been asked whether it is legal, as a reader does who chooses among several.
    """

    decision: D
    stage: str
    candidates: int = 1
    repaired: bool = False
    checked: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON object and where it stands in the text."""

    value: dict[str, Any]
    start: int
    end: int


_THINKING = re.compile(
    r"[<◁](/?)(?:think|thinking|thoughts?|reasoning|scratchpad|analysis|reflection)[>▷]", re.IGNORECASE
)
_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n?(.*?)```", re.DOTALL)
_OPENING = re.compile(r'\{\s*["}]')  # where an object can begin: the braces of prose and templates begin none


def without_thinking(text: str) -> str:
    """The reply without spelled-out thinking, in which nothing counts as a decision.

    Thinking that was cut off hides what follows it; where only its end is in the reply (some templates write
    the beginning themselves), everything before that end goes. In a reply that begins as an object does, an end
    alone is taken for somebody's words, and so is a beginning alone inside that object. In a string of a whole object,
    wherever that stands, a tag alone is a word; a thought from beginning to end goes from there too.
    """
    text = text[:MAX_TEXT]
    if "<" not in text and "◁" not in text:
        return text
    tags = list(_THINKING.finditer(text))
    if not tags:
        return text
    begun = text.lstrip().startswith("{")
    first = closing(text, len(text) - len(text.lstrip())) if begun else 0  # where that object ends, if it does
    kept: list[str] = []
    position, thinking = 0, False
    named = _named_in_strings(text, tags)
    for tag in tags:
        if tag.start() in named and not thinking:
            continue
        if not tag[1] and not thinking:
            kept.append(text[position : tag.start()])
            position, thinking = tag.start(), True
        elif tag[1] and thinking:
            position, thinking = tag.end(), False
        elif tag[1] and not begun:
            kept.clear()
            position = tag.end()
    inside = first is None or position < first
    return "".join(kept) if thinking and not inside else "".join((*kept, text[position:]))


def _named_in_strings(text: str, tags: Sequence[re.Match[str]]) -> set[int]:
    """Where tags stand that are words in a string of a whole object: every end, and beginnings that no end follows."""
    named: set[int] = set()
    waiting = list(reversed(tags))
    start = text.find("{")
    while start >= 0 and waiting and (end := closing(text, start)) is not None:
        inside = []
        while waiting and waiting[-1].start() < end:
            tag = waiting.pop()
            inside += [tag] if tag.start() > start else []
        last = max((tag.start() for tag in inside if tag[1]), default=-1)
        if inside and _is_whole(text[start:end]):
            named.update(tag.start() for tag in inside if tag[1] or tag.start() > last)
        start = text.find("{", end)
    return named


def _is_whole(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def read(
    text: str, answer: type[D], pick: Pick, respelt: Callable[[dict[str, Any]], dict[str, Any]] | None = None
) -> Reading[D]:
    """The decision in a reply: the last (or first) object that names a field of `answer`, and no other.

    Objects that name none, in any case, are examples, echoes or asides; the one that counts is not passed over for an
    earlier one when it does not fit. `respelt` gives an object as `answer` spells it, `{}` where it is no answer.

    Raises `UnreadableReply` where that object does not fit `answer`, `AmbiguousReply` where one object names a
    key twice with different values.
    """
    body = without_thinking(text)
    if not body.strip():
        raise UnreadableReply("The reply is empty.")
    stage, found = find_objects(body)
    if pick == "leading" and found and body[: found[0].start].strip():
        raise UnreadableReply("The reply must begin with the JSON object.")
    if not found:
        raise UnreadableReply("There is no complete JSON object in the reply.")
    if pick == "leading":
        found = found[:1]
    if respelt is not None:
        found = [Found(respelt(entry.value), entry.start, entry.end) for entry in found]
    names = _names(answer)
    in_any_case = {name.casefold(): name for name in names}
    # where every field is optional, an object that names none says as much as any, if there is no better one
    counting = [entry for entry in found if any(key.casefold() in in_any_case for key in entry.value)] or found
    chosen = counting[-1] if pick == "last" else counting[0]
    beyond = (chosen.end, len(body)) if pick == "last" else (0, chosen.start)
    if _broken(body, beyond, found, names):
        raise UnreadableReply(f"The {'last' if pick == 'last' else 'first'} JSON object of the reply is broken.")
    for key, value in chosen.value.items():
        name = in_any_case.get(key.casefold(), key)
        at_odds = chosen.value[name] != value if name in chosen.value else names.isdisjoint(chosen.value)
        if name != key and at_odds:
            raise UnreadableReply(f"In the JSON object, the key {key[:40]!r} must be spelt {name!r}.")
    try:
        return Reading(answer.model_validate(chosen.value), stage, candidates=len(counting))
    except ValidationError as error:
        where, why = first_objection(error)
        raise UnreadableReply(f"In the JSON object, {where or 'the object'}: {why}.") from None


def _names(answer: type[Decision]) -> set[str]:
    """The keys that speak of a field."""
    aliases = (field.validation_alias for field in answer.model_fields.values())
    return {*answer.model_fields, *(alias for alias in aliases if isinstance(alias, str))}


def _broken(body: str, within: tuple[int, int], found: Sequence[Found], names: set[str]) -> bool:
    """Whether something that is no JSON (cut off, badly quoted, NaN) looks there like an object with such a key."""
    key = "|".join(map(re.escape, names))
    member = re.compile(rf"[{{,]\s*[\"'“](?:{key})[\"'”]\s*:|\{{\s*(?:{key})\s*:", re.IGNORECASE)
    position, stop = within
    gaps = []
    for entry in found:
        if position <= entry.start and entry.end <= stop:
            gaps.append(body[position : entry.start])
            position = entry.end
    gaps.append(body[position:stop])
    return any(member.search(gap, *braces) for gap in gaps for braces in _braces(gap))


def _braces(text: str) -> Iterator[tuple[int, int]]:
    """Where outermost braces open and close; one that never closes reaches to the end."""
    start = text.find("{")
    while start >= 0:
        end = closing(text, start) or len(text)
        yield start, end
        start = text.find("{", end)


def find_objects(body: str) -> tuple[str, list[Found]]:
    """The JSON objects of a text with the name of the stage that found them; the list may be empty."""
    if (whole := _one_object(body)) is not None:
        return "json", [whole]
    fenced = []
    for block in _FENCE.finditer(body):
        inner = block[1]
        offset = block.start(1) + len(inner) - len(inner.lstrip())
        candidate = _decode(body, offset, block.end(1))
        if candidate is not None and not body[candidate.end : block.end(1)].strip():
            fenced.append(candidate)
    embedded = list(_embedded(body))
    if fenced and len(fenced) == len(embedded):
        return "fenced", fenced
    return "embedded", embedded


def _one_object(body: str) -> Found | None:
    """The JSON object that a text is, white space aside; None where it is anything else."""
    found = _decode(body, len(body) - len(body.lstrip()))
    return None if found is None or body[found.end :].strip() else found


def _embedded(body: str) -> Iterator[Found]:
    position = 0
    while opening := _OPENING.search(body, position):
        end = closing(body, opening.start())
        if end is None:
            return
        candidate = _decode(body, opening.start())
        if candidate is not None:
            yield candidate
        position = end  # an object inside a broken one is a part of a decision, and never the decision


def _decode(body: str, start: int, stop: int = MAX_TEXT) -> Found | None:
    """The object that begins exactly at `start` and ends before `stop`, or None."""
    if not body.startswith("{", start) or (end := closing(body, start, stop)) is None:
        return None
    value = object_at(body, start, end)
    return None if value is None else Found(value, start, end)


def object_at(body: str, start: int, end: int) -> dict[str, Any] | None:
    """The JSON object from a brace to the one that closes it; None where that is no JSON, or nested too deeply.

    Raises `AmbiguousReply` where a key stands twice with different values.
    """
    try:
        value: dict[str, Any] = _DECODER.decode(body[start:end])
    except (ValueError, RecursionError):
        return None
    # almost nobody opens so many brackets, and who does is looked at level by level
    many = body.count("{", start, end) + body.count("[", start, end) > MAX_DEPTH
    return None if many and too_deep(value) else value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for spelt, given in pairs:
        key, value = cleaned(spelt), _cleaned(given)
        if key in out and json.dumps(out[key], sort_keys=True) != json.dumps(value, sort_keys=True):
            raise AmbiguousReply(f"The key {key[:40]!r} stands twice with different values.")
        out[key] = value
    return out


def _cleaned(value: Any) -> Any:
    """The value with its strings cleaned again: an escape such as `\\u001b` gets past the door unseen."""
    if isinstance(value, str):
        return cleaned(value)
    return [_cleaned(item) for item in value] if isinstance(value, list) else value


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("a number of that length is no decision")
    return int(digits)


def _real(digits: str) -> Real:
    value = Real(digits)
    if not isfinite(value):
        raise ValueError(f"{digits[:40]} is too large")
    return value


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_int=_integer, parse_float=_real, parse_constant=_constant)
