"""Rendering: a model's prompt for a person: lines of history, records, lists, questions.

`page_form` has the fields of a form; `terminal` and `server` draw.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentsim.engine.wording import NARRATOR, Line, Quoted, joined
from agentsim.patterns import Pattern

_JSON_SHAPE = Pattern(r"\bAnswer(?:: \{| with one JSON object\b)")
_NAME = Pattern(r"[\w@#.-]+")
_LABEL = Pattern(r"\b(\w+): $")
_TAG = Pattern(r"\[[A-Z_ ]+\]")
_STEP = "  "


def news(line: str) -> str:
    """Return a line of history as `Round 1 · A (pitch): words`, and any other line in plain words.

    In a line of `Table.lines`, `round` is a title, `event` a heading, and `words` or `fact` the text. Words at the end
    of a line lose their quotation marks, because their continued rows are marked.
    """
    *before, last = parts_of(line)
    fields = last.value if isinstance(last, Quoted) else None
    if isinstance(fields, str):
        return plainly(joined(*before)) + fields
    if before or fields is None:
        return plainly(line)
    parts = []
    numbers = ((name, fields.pop(name)) for name in ("round", "turn") if name in fields)
    parts += [
        number if isinstance(number, str) else f"{name.capitalize()} {number}" if number else "Set-up"
        for name, number in numbers
    ]
    heading = fields.get("event")
    if isinstance(heading, str) and fields.keys() <= {"event", "words", "fact"}:
        said = fields.get("words") or fields.get("fact")
        return " · ".join([*parts, f"{heading}: {said}" if said else heading])
    sender, to = fields.pop("from", None), fields.pop("to", None)
    kind = fields.pop("kind", None) or fields.pop("event", None)
    text = fields.pop("text", None)
    if sender == NARRATOR and text is not None:
        kind = sender = None
    about = ", ".join(str(part).replace("_", " ") for part in (kind, to and f"to {to}") if part)
    head = " ".join(str(part) for part in (sender, about and f"({about})") if part) if sender else about
    only_field = len(fields) == 1 and not head
    words = [
        f"{name.replace('_', ' ')}{':' * (only_field and isinstance(value, str))} "
        f"{value if isinstance(value, str) else _inner(value)}"
        for name, value in fields.items()
    ]
    words += [] if text is None else [_plain(text)]
    parts.append(f"{head}: {'; '.join(words)}" if head and words else head or "; ".join(words))
    return " · ".join(parts)


def plainly(line: str) -> str:
    """Return a line with the records among its words in plain words: `INVENTORY: {"wheat": 5}` as `INVENTORY: wheat 5`.

    A text, or a record of one text, `{"Item": "Kettle"}`, is that text in quotation marks; a list of records has a row
    for each.
    """
    said = ""
    for part in parts_of(line):
        said = _with_value(said, part.value) if isinstance(part, Quoted) else said + part
    return said


def parts_of(line: str) -> tuple[str, ...]:
    """Return the words and the quoted parts of a line."""
    return (line.parts if isinstance(line, Line) else ()) or (line,)


def rows_of(line: str) -> Iterator[Line]:
    """Yield the line broken at the newlines among its words; quoted parts stay whole."""
    row: list[str] = []
    for part in parts_of(line):
        first, *others = (part,) if isinstance(part, Quoted) else part.split("\n")
        row.append(first)
        for other in others:
            yield joined(*filter(None, row))
            row = [other]
    yield joined(*filter(None, row))


def as_read(line: str) -> Iterator[tuple[str, bool]]:
    """Yield the rows of a line as a person reads them, each with whether it has untrusted words."""
    for part in rows_of(line):
        foreign = "{" in part or any(isinstance(each, Quoted) for each in parts_of(part))
        yield from ((row, foreign) for row in outlined(part) or [news(part)])


def _with_value(said: str, value: Any) -> str:
    """Return the words so far with a value behind them.

    The name of the value's only field is left out if the words end with it.
    """
    if isinstance(value, str):
        return said + json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        name = _LABEL.search(said)
        return said + _plain(value) if name is None else said[: name.start()] + "\n".join(_rows({name[1]: value}, ""))
    if len(value) == 1:
        ((name, only),) = value.items()
        if isinstance(only, str):
            return said + json.dumps(only, ensure_ascii=False)
        if said.casefold().rstrip(": ").endswith(name.replace("_", " ").casefold()):
            return said + _inner(only)
    return said + _plain(value)


def _plain(value: Any) -> str:
    """Return a value in plain words: `price 27, quantity 1` for an object, semicolons between items."""
    if isinstance(value, list):
        return "; ".join(map(_inner, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {_inner(part)}" for name, part in value.items()) or "none"
    return value if isinstance(value, str) else json.dumps(value)


def _inner(value: Any) -> str:
    """Return a value within an object: in brackets if it has parts, in quotation marks if it is free text."""
    if isinstance(value, str):
        return value if _NAME.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    return f"({_plain(value)})" if isinstance(value, (list, dict)) and value else _plain(value)


def split_question(text: str) -> tuple[str, str]:
    """Return the two parts of a question: the words, and the JSON shape of its answer or ""."""
    parts = parts_of(text)
    for index, part in enumerate(parts):
        if not isinstance(part, Quoted) and (shape := _JSON_SHAPE.search(part)):
            start = shape.start()
            return joined(*parts[:index], part[:start].rstrip()), joined(part[start:], *parts[index + 1 :])
    return text, ""


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines with at most one empty line between them, and none at the beginning.

    Headings for models, such as `[DECISION]`, count as empty lines.
    """
    before = ""
    for line in lines:
        shown = "" if _TAG.fullmatch(line) else line
        if shown or before:
            yield shown
        before = shown


def outlined(line: str) -> list[str]:
    """Return the rows of `name: {...}` if the record has records or lists in it, else an empty list.

    Free text stays in quotation marks on its row, so that it cannot pass for another line or field.
    """
    words, *others = parts_of(line)
    name = _LABEL.fullmatch(words)
    if name is None or len(others) != 1 or not isinstance(others[0], Quoted):
        return []
    record = others[0].value
    if isinstance(record, str):
        return []
    return [f"{_name(name[1])}:", *_rows(record, _STEP)] if any(map(_has_parts, record.values())) else []


def _has_parts(value: Any) -> bool:
    return isinstance(value, (dict, list)) and bool(value)


def _rows(record: Mapping[str, Any], indent: str) -> Iterator[str]:
    """Yield the fields without parts in one row, then each of the others."""
    plain = sorted(
        (name for name, value in record.items() if not _has_parts(value)),
        key=lambda name: isinstance(record[name], (dict, list)),
    )
    if plain:
        yield f"{indent}{', '.join(f'{_name(name)} {_value(record[name])}' for name in plain)}"
    for name, value in record.items():
        if isinstance(value, dict) and any(map(_has_parts, value.values())):
            yield f"{indent}{_name(name)}:"
            yield from _rows(value, indent + _STEP)
        elif isinstance(value, dict) and value:
            yield f"{indent}{_name(name)}: {next(_rows(value, ''))}"
        elif isinstance(value, list) and value:
            yield f"{indent}{_name(name)}:"
            for item in value:
                first, *others = _rows(item, indent + _STEP * 2) if isinstance(item, dict) else [_value(item)]
                yield f"{indent}{_STEP}- {first.strip()}"
                yield from others


def _name(name: str) -> str:
    """Return `TeamName` or `team_name` in plain words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").casefold()


def _value(value: Any) -> str:
    if value is None or value in ([], {}):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return json.dumps(value, ensure_ascii=False)
