"""A small JSON Schema checker for the keywords that `agentsim schema` uses; it fails on any other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["complaints"]

_SAYS_NOTHING = {"$schema", "$defs", "title", "description", "default"}
_KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def complaints(value: Any, schema: Any, root: Mapping[str, Any] | None = None, at: str = "") -> list[str]:
    """Return the places at which the value does not fit, as `key: what was expected`."""
    root = schema if root is None else root
    if schema is True:
        return []
    if schema is False:
        return [f"{at}: nothing fits here"]
    unknown = set(schema) - _SAYS_NOTHING - set(_KEYWORDS) - {"then"}
    assert not unknown, f"the checker does not know {sorted(unknown)}"
    found = [one for word in schema if word in _KEYWORDS for one in _KEYWORDS[word](value, schema, root, at)]
    return list(dict.fromkeys(found))  # one function checks both bounds


def _ref(value: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    yield from complaints(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)


def _type(value: Any, schema: Any, _root: Any, at: str) -> Iterator[str]:
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    fits = any(isinstance(value, _KINDS[kind]) for kind in kinds)
    if not fits or (isinstance(value, bool) and "boolean" not in kinds):
        yield f"{at}: {' or '.join(kinds)}"


def _one_of_these(value: Any, schema: Any, _root: Any, at: str) -> Iterator[str]:
    if not any(value == option and type(value) is type(option) for option in schema["enum"]):
        yield f"{at}: one of {schema['enum']}"


def _const(value: Any, schema: Any, _root: Any, at: str) -> Iterator[str]:
    if value != schema["const"]:
        yield f"{at}: {schema['const']}"


def _any(value: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    if all(complaints(value, branch, root, at) for branch in schema["anyOf"]):
        yield f"{at}: any of {len(schema['anyOf'])}"


def _all(value: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    for branch in schema["allOf"]:
        yield from complaints(value, branch, root, at)


def _if(value: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    if not complaints(value, schema["if"], root, at):
        yield from complaints(value, schema["then"], root, at)


def _properties(value: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    for key, part in schema["properties"].items():
        if isinstance(value, dict) and key in value:
            yield from complaints(value[key], part, root, f"{at}.{key}")


def _additional(value: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    for key in set(value) - set(schema.get("properties", {})) if isinstance(value, dict) else ():
        if schema["additionalProperties"] is False:
            yield f"{at}.{key}: unknown"
        else:
            yield from complaints(value[key], schema["additionalProperties"], root, f"{at}.{key}")


def _required(value: Any, schema: Any, _root: Any, at: str) -> Iterator[str]:
    for key in set(schema["required"]) - set(value) if isinstance(value, dict) else ():
        yield f"{at}.{key}: is missing"


def _items(value: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    for index, item in enumerate(value if isinstance(value, list) else ()):
        yield from complaints(item, schema["items"], root, f"{at}.{index}")


def _size(value: Any, schema: Any, _root: Any, at: str) -> Iterator[str]:
    if not isinstance(value, list | str):
        return
    low, high = ("minItems", "maxItems") if isinstance(value, list) else ("minLength", "maxLength")
    if not schema.get(low, 0) <= len(value) <= schema.get(high, 10**9):
        yield f"{at}: of another length"


def _unique(value: Any, schema: Any, _root: Any, at: str) -> Iterator[str]:
    if schema["uniqueItems"] and isinstance(value, list) and any(value.count(item) > 1 for item in value):
        yield f"{at}: something twice"


def _bounds(value: Any, schema: Any, _root: Any, at: str) -> Iterator[str]:
    if isinstance(value, int | float) and (
        value < schema.get("minimum", value)
        or value > schema.get("maximum", value)
        or value <= schema.get("exclusiveMinimum", value - 1)
        or value >= schema.get("exclusiveMaximum", value + 1)
    ):
        yield f"{at}: out of range"


def _pattern(value: Any, schema: Any, _root: Any, at: str) -> Iterator[str]:
    if isinstance(value, str) and re.search(schema["pattern"], value) is None:
        yield f"{at}: {schema['pattern']}"


_KEYWORDS = {
    "$ref": _ref,
    "type": _type,
    "enum": _one_of_these,
    "const": _const,
    "anyOf": _any,
    "allOf": _all,
    "uniqueItems": _unique,
    "if": _if,
    "properties": _properties,
    "additionalProperties": _additional,
    "required": _required,
    "items": _items,
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength"), _size),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _bounds),
    "pattern": _pattern,
}
