"""readable: what a prompt says to a model, as a person reads it.

Records within records are `outline`'s, the fields of an answer `fields`'; drawing belongs to `terminal`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentsim.engine.prompt import NARRATOR

__all__ = ["news", "paragraphs", "question"]

_JSON_SHAPE = re.compile(r"\bAnswer(?:: \{| with one JSON object\b)")
_MOST_TRIED = 50  # braces of a line that begin no object: more are words
_NAME = re.compile(r"[\w@#.-]+")
_DECODER = json.JSONDecoder()
_TAG = re.compile(r"\[[A-Z_ ]+\]")


def news(line: str) -> str:
    """A line of history: `Round 1 · A (pitch): words`; of other lines, what is no JSON object stays as it is."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return _with_objects(line)
    if not isinstance(fields, dict):
        return line
    parts = []
    numbers = ((name, fields.pop(name)) for name in ("round", "turn") if name in fields)
    parts += [f"{name.capitalize()} {number}" if number else "Set-up" for name, number in numbers]
    sender, to = fields.pop("from", None), fields.pop("to", None)
    kind = fields.pop("kind", None) or fields.pop("event", None)
    text = fields.pop("text", None)
    if sender == NARRATOR and text is not None:
        kind = sender = None
    about = ", ".join(str(part).replace("_", " ") for part in (kind, to and f"to {to}") if part)
    head = " ".join(str(part) for part in (sender, about and f"({about})") if part) if sender else about
    alone = len(fields) == 1 and not head
    words = [
        f"{name.replace('_', ' ')}{':' * (alone and isinstance(value, str))} "
        f"{value if isinstance(value, str) else _inner(value)}"
        for name, value in fields.items()
    ]
    words += [] if text is None else [_plain(text)]
    parts.append(f"{head}: {'; '.join(words)}" if head and words else head or "; ".join(words))
    return " · ".join(parts)


def _with_objects(line: str) -> str:
    """A line with objects among its words, `INVENTORY: {"wheat": 5}`, in plain words: `INVENTORY: wheat 5`."""
    parts, position, tried = [], 0, 0
    while tried < _MOST_TRIED and (start := line.find("{", position)) >= 0:
        try:
            fields, end = _DECODER.raw_decode(line, start)
        except (ValueError, RecursionError):
            end, tried = start + 1, tried + 1
            parts.append(line[position:end])
        else:
            parts += [line[position:start], _labelled(line, start, fields)]
        position = end
    return "".join((*parts, line[position:]))


def _labelled(line: str, start: int, fields: Mapping[str, Any]) -> str:
    """An object in plain words, without the name of its one field where that stands right before it."""
    name, *more = fields or ("",)
    label = line[max(0, start - 2 * len(name) - 20) : start].casefold().rstrip(": ")
    if fields and not more and label.endswith(name.replace("_", " ").casefold()):
        return _inner(fields[name])
    return _plain(fields)


def _plain(value: Any) -> str:
    """A value in plain words: `price 27, quantity 1` for an object, items between semicolons."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(map(_inner, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {_inner(part)}" for name, part in value.items()) or "none"
    return json.dumps(value)


def _inner(value: Any) -> str:
    """A value within an object: in brackets where it has parts of its own, in marks where it is somebody's words."""
    if isinstance(value, str):
        return value if _NAME.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    return f"({_plain(value)})" if isinstance(value, (list, dict)) and value else _plain(value)


def question(text: str) -> str:
    """A question without the JSON shape of its answer, which a person is not asked for."""
    shape = _JSON_SHAPE.search(text)
    return text if shape is None else text[: shape.start()].rstrip()


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """The lines with one empty one, at most, between them; a model's heading, such as `[DECISION]`, is as an empty one.

    None is at the beginning.
    """
    before = ""
    for line in lines:
        shown = "" if _TAG.fullmatch(line) else line
        if shown or before:
            yield shown
        before = shown
