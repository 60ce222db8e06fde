"""outline: what a model reads as JSON among words, as a person reads it: records with records in them, lists, names.

The lines of history are `readable`'s, and what a person types `fields`'.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["outlined", "without_records"]

_NAMED_RECORD = re.compile(r"(?P<name>\w+): (?P<record>\{.*\})")
_LIST_BEGINS = re.compile(r"^(?P<name>\w+): \[\n", re.MULTILINE)
_LIST_ENDS = re.compile(r"\n\]$", re.MULTILINE)
_ONE_NAME = re.compile(r"\{\"\w+\": (\"(?:[^\"\\]|\\.)*\")\}")
_STEP = "  "


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

    What somebody wrote stays in marks and on its line, so that it can pass for no line or field of its own.
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
