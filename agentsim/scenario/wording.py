"""wording: how keys, foreign values and JSON Schemas read in an error line. What is wrong is said elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from agentsim.engine.prompt import cleaned

__all__ = ["Key", "described", "dotted", "one_line", "shown"]

Key: TypeAlias = tuple[str | int, ...]
"""Where something stands in a scenario's document; list indices count from 0."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def one_line(text: str, limit: int = 200) -> str:
    """Foreign text on one line, cleaned and cut."""
    text = " ".join(cleaned(text[: limit * 4]).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def dotted(parts: Iterable[str | int]) -> str:
    """A key as TOML writes it, with list indices as parts: `players.0.temperature`."""
    names = (one_line(str(part), 80) for part in parts)
    return ".".join(name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False) for name in names)


def shown(value: Any) -> str:
    """A found value, short: text in quotes, tables and lists by kind."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return json.dumps(one_line(value, 60), ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    return one_line(str(value), 60)


def described(schema: Mapping[str, Any]) -> str:
    """What a value of this JSON Schema (with `$ref`s resolved) is, in words: "a number from 0 to 2"."""
    if branches := schema.get("anyOf") or schema.get("oneOf"):
        words = [described(branch) for branch in branches if branch.get("type") != "null"]
        return " or ".join(dict.fromkeys(words))
    if "const" in schema:
        return shown(schema["const"])
    if "enum" in schema:
        return "one of " + ", ".join(shown(value) for value in schema["enum"])
    match schema.get("type"):
        case "number":
            return "a number" + _range(schema)
        case "integer":
            return "a whole number" + _range(schema)
        case "boolean":
            return "true or false"
        case "array":
            least = f" of at least {schema['minItems']}" if schema.get("minItems") else ""
            most = f" of at most {schema['maxItems']}" if "maxItems" in schema else ""
            items = schema.get("items")
            return f"a list{least or most}" + (f", each {described(items)}" if items else "")
        case "string":
            return _text(schema)
        case "object":
            return "a table"
    return "something else"


def _text(schema: Mapping[str, Any]) -> str:
    if "pattern" not in schema:
        return "text"
    if named := re.fullmatch(r"\^\[A-Za-z0-9\]\[A-Za-z0-9(\S+)\]\{0,(\d+)\}\$", schema["pattern"]):
        marks = " ".join(named[1])
        return f"1 to {int(named[2]) + 1} of the characters A-Z a-z 0-9 {marks}, the first a letter or a digit"
    return str(schema.get("description", f"text that matches {schema['pattern']}"))


def _range(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}" if max(abs(low), abs(high)) < 10**6 else f" from {low} to {high}"
    lower = f" of at least {low}" if low is not None else ""
    if "exclusiveMinimum" in schema:
        lower = f" above {schema['exclusiveMinimum']}"
    upper = high if high is not None else schema.get("exclusiveMaximum")
    if upper is None:
        return lower
    upper = f"{'at most' if high is not None else 'below'} {upper}"
    return f"{lower} and {upper}" if lower else f" of {upper}" if high is not None else f" {upper}"
