"""Shared functions for building a body: schemas as hosts accept them, and merging of extra fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Any

from agentsim.models.base import Call
from agentsim.models.profiles import Profile
from agentsim.models.wire.answer import Function


def merge(body: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Merge nested tables into a body, so that a routing preference does not undo `require_parameters`.

    A table whose `type` differs (a response format, a choice of tools) replaces the old one.
    """
    for key, value in more.items():
        if isinstance(value, Mapping):
            inner = body.get(key)
            inner = inner if isinstance(inner, Mapping) else {}
            another = {"type"} <= value.keys() & inner.keys() and value["type"] != inner["type"]
            merged = {} if another else dict(inner)
            merge(merged, value)
            body[key] = merged
        else:
            body[key] = value


def function_of(profile: Profile, call: Call) -> Function | None:
    """Return the function that the reply may call, which is forced in the `tool` mode, or None without a schema."""
    return None if call.schema is None else Function(wire_name(call), profile.structured == "tool", call.schema)


def wire_name(call: Call) -> str:
    """Return the name of the schema, or of the function that replaces it."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", call.schema_name)[:64] or "decision"


_LATEST: list[tuple[Mapping[str, Any], Set[str], dict[str, Any], bool]] = []


def sent_schema(schema: Mapping[str, Any], strip: Set[str]) -> tuple[dict[str, Any], bool]:
    """Return a schema as it is sent, and whether it is closed.

    The latest result is cached: a society asks a hundred agents with one schema, and preparing it took a third of the
    CPU.
    """
    if not _LATEST or _LATEST[0][0] is not schema or _LATEST[0][1] != strip:
        sent = portable(schema, strip)
        _LATEST[:] = [(schema, strip, sent, _closed(sent))]
    return _LATEST[0][2:]


def portable(schema: Mapping[str, Any], strip: Set[str]) -> dict[str, Any]:
    """Return the schema without these keywords (property names are not keywords), and with `const` as `enum`."""
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key in strip:
            continue
        if key in {"properties", "$defs"} and isinstance(value, dict):
            out[key] = {name: portable(part, strip) for name, part in value.items()}
        elif key == "const":
            out["enum"] = [value]
        elif key in {"enum", "required"}:
            out[key] = value
        elif isinstance(value, dict):
            out[key] = portable(value, strip)
        elif isinstance(value, list):
            out[key] = [portable(part, strip) if isinstance(part, dict) else part for part in value]
        else:
            out[key] = value
    return out


def _closed(schema: Any) -> bool:
    """Return whether every object requires all its properties and allows no others."""
    if isinstance(schema, list):
        return all(_closed(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties):
            return False
        return all(_closed(part) for part in properties.values())
    return all(_closed(value) for key, value in schema.items() if key not in {"enum", "required"})
