"""What a prompt says to a model, as a person reads it: lines of history, records, lists, questions.

The fields of an answer are `fields`; drawing belongs to `terminal`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentsim.engine.prompt import NARRATOR

__all__ = ["news", "outlined", "paragraphs", "question", "without_records"]

_JSON_SHAPE = re.compile(r"\bAnswer(?:: \{| with one JSON object\b)")
_MOST_TRIED = 50  # braces of a line that begin no object: more are words
_NAME = re.compile(r"[\w@#.-]+")
_DECODER = json.JSONDecoder()
_TAG = re.compile(r"\[[A-Z_ ]+\]")
_NAMED_RECORD = re.compile(r"(?P<name>\w+): (?P<record>\{.*\})")
_LIST_BEGINS = re.compile(r"^(?P<name>\w+): \[\n", re.MULTILINE)
_LIST_ENDS = re.compile(r"\n\]$", re.MULTILINE)
_ONE_NAME = re.compile(r"\{\"\w+\": (\"(?:[^\"\\]|\\.)*\")\}")
_STEP = "  "


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
    """A value within an object: in brackets where it has parts of its own, in quotation marks where it is free text."""
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


def without_records(text: str) -> str:
    """Words with `{"Item": "Kettle"}` and its like as `"Kettle"`, and a list of records as one line for each."""
    text = _ONE_NAME.sub(r"\1", text)
    parts, position = [], 0
    while (begins := _LIST_BEGINS.search(text, position)) and (ends := _LIST_ENDS.search(text, begins.end())):
        parts += [text[position : begins.start()], _listed(begins["name"], text[begins.end() - 2 : ends.end()])]
        position = ends.end()
    return "".join((*parts, text[position:]))


def _listed(name: str, items: str) -> str:
    try:
        return "\n".join(_rows({name: json.loads(items)}, ""))
    except (ValueError, RecursionError):
        return f"{name}: {items}"


def outlined(line: str) -> list[str]:
    """The lines of `name: {...}` where records are in the record; none of any other line.

    Free text stays in quotation marks on its line, so that it cannot pass for another line or field.
    """
    match = _NAMED_RECORD.fullmatch(line)
    if match is None:
        return []
    try:
        record = json.loads(match["record"])
    except (ValueError, RecursionError):
        return []
    if not any(map(_has_parts, record.values())):
        return []
    return [f"{_name(match['name'])}:", *_rows(record, _STEP)]


def _has_parts(value: Any) -> bool:
    return isinstance(value, (dict, list)) and bool(value)


def _rows(record: Mapping[str, Any], indent: str) -> Iterator[str]:
    """The fields without parts in one line, then each of the others."""
    plain = sorted(
        (name for name, value in record.items() if not _has_parts(value)),
        key=lambda name: isinstance(record[name], (dict, list)),
    )
    if plain:
        yield f"{indent}{', '.join(f'{_name(name)} {_value(record[name])}' for name in plain)}"
    for name, value in record.items():
        if isinstance(value, dict) and value:
            flat = not any(map(_has_parts, value.values()))
            rows = list(_rows(value, "" if flat else indent + _STEP))
            yield from [f"{indent}{_name(name)}: {rows[0]}"] if flat else [f"{indent}{_name(name)}:", *rows]
        elif isinstance(value, list) and value:
            yield f"{indent}{_name(name)}:"
            for item in value:
                first, *others = _rows(item, indent + _STEP * 2) if isinstance(item, dict) else [_value(item)]
                yield f"{indent}{_STEP}- {first.strip()}"
                yield from others


def _name(name: str) -> str:
    """`TeamName` and `team_name` in plain words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").casefold()


def _value(value: Any) -> str:
    if value is None or value in ([], {}):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return json.dumps(value, ensure_ascii=False)
