"""schema: the JSON Schema of a decision within its options, and a schema with one of its fields changed.

What a provider or a person is shown of it belongs to `models` and `players`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, TypeAlias

from agentsim.engine.options import Choice, Options, Range, Text
from agentsim.engine.reading import Decision

__all__ = ["Schema", "changed", "closed_object", "schema_of"]

Schema: TypeAlias = Mapping[str, Any]


def schema_of(answer: type[Decision], options: Options) -> dict[str, Any]:
    """The JSON Schema of `answer` within these options, as `Request.schema` promises it."""
    schema: Schema = closed_object(dict(_properties(answer)))
    for path, legal in options.items():
        schema = changed(schema, path, partial(_within, legal))
    return dict(schema)


def changed(schema: Schema, path: str, change: Callable[[Schema], Schema]) -> Schema:
    """A copy of the schema in which the field at the path, wherever a kind of record has it, is changed."""
    if not path:
        return change(schema)
    if "anyOf" in schema:
        return {**schema, "anyOf": [changed(branch, path, change) for branch in schema["anyOf"]]}
    name, _, rest = path.partition(".")
    parts = schema.get("properties", {})
    return {**schema, "properties": {**parts, name: changed(parts[name], rest, change)}} if name in parts else schema


def _within(legal: Choice | Range | Text, node: Schema) -> Schema:
    match legal:
        case Choice(values):
            # what stands for a kind of record is one of these values already
            return node if _is_tag(node) else {"type": _type_of(values), "enum": list(values)}
        case Range():
            upto = {} if legal.high is None else {"maximum": legal.high}
            return {"type": "integer", "minimum": max(legal.low, node.get("minimum", legal.low)), **upto}
        case Text(limit):
            return {"type": "string", "maxLength": limit}


@cache
def _properties(answer: type[Decision]) -> Mapping[str, Any]:
    """The schema of each field, shared by all requests."""
    base = answer.model_json_schema()
    return {name: _portable(part, base.get("$defs", {})) for name, part in base["properties"].items()}


def _is_tag(node: Schema) -> bool:
    return len(node.get("enum", ())) == 1


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object that has these keys, every one, and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _type_of(values: tuple[str | int | None, ...]) -> str | list[str]:
    """The JSON type of a choice; a list where its values have several, such as a name or null."""
    names = {str: "string", int: "integer", type(None): "null"}
    kinds = set(map(type, values))
    found = [name for kind, name in names.items() if kind in kinds]
    return found[0] if len(found) == 1 else found


def _portable(part: Any, definitions: Mapping[str, Any]) -> Any:
    """The schema without `$ref`, `oneOf`, `const`, titles and defaults, which some providers refuse."""
    if isinstance(part, list):
        return [_portable(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _portable(definitions[part["$ref"].rsplit("/", 1)[1]], definitions)
    if part.get("type") == "object" and "properties" in part:  # a part of a decision: as whole and as closed as it
        return closed_object({name: _portable(inner, definitions) for name, inner in part["properties"].items()})
    if "oneOf" in part:  # of several kinds of record, told apart by a field with one value
        return {"anyOf": [_portable(branch, definitions) for branch in part["oneOf"]]}
    if "const" in part:
        return {"type": part["type"], "enum": [part["const"]]}
    return {
        key: _portable(value, definitions)
        for key, value in part.items()
        if key not in {"title", "default", "description"}
    }
