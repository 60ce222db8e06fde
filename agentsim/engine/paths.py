"""Paths: the places within an answer, as keys from the outside in, and what its schema says of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Names of fields, and places in lists: `("action", "offer", "properties", 0)`."""


def paths_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every single value within JSON values, with its path, in order."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from paths_in(part, (*path, key))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from paths_in(part, (*path, place))
    else:
        yield path, value


def value_at(value: Any, path: Path) -> Any:
    """What stands at a path; None where nothing does."""
    for key in path:
        if isinstance(value, Mapping):
            value = value.get(key)
        else:
            value = value[key] if isinstance(value, list) and isinstance(key, int) and key < len(value) else None
    return value


def with_value(value: Any, path: Path, new: Any) -> Any:
    """A copy of JSON values in which this stands at a path that they have."""
    if not path:
        return new
    key, *rest = path
    copy = dict(value) if isinstance(value, Mapping) else list(value)
    copy[key] = with_value(copy[key], tuple(rest), new)  # type: ignore[index] # the path is one of it
    return copy


def nodes_at(schema: Mapping[str, Any], path: Path) -> Iterator[Mapping[str, Any]]:
    """What a schema says of a path, once for each kind of record that has it."""
    if "anyOf" in schema:
        for kind in schema["anyOf"]:
            yield from nodes_at(kind, path)
    elif not path:
        yield schema
    elif isinstance(path[0], str) and path[0] in schema.get("properties", {}):
        yield from nodes_at(schema["properties"][path[0]], path[1:])
