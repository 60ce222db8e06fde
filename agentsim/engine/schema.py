"""schema: the JSON Schema of a decision within its options, and a schema with one of its fields changed.

What a provider or a person is shown of it belongs to `models` and `players`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, TypeAlias

from agentsim.engine.options import Choice, Options, Range, Text
from agentsim.engine.reading.decision import Decision

__all__ = ["Schema", "changed", "closed_object", "form_of", "schema_of"]

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


def form_of(schema: Schema, nothing: Mapping[str, Any], path: str = "") -> str:
    """An object of this schema with what may stand in each place, in words; `nothing` is that of the request."""
    name = path.rpartition(".")[2]
    if "anyOf" in schema:
        return " or ".join(form_of(branch, nothing, path) for branch in schema["anyOf"])
    if "properties" in schema:
        inner = schema["properties"].items()
        parts = (f"{json.dumps(key)}: {form_of(part, nothing, f'{path}.{key}'.lstrip('.'))}" for key, part in inner)
        return f"{{{', '.join(parts)}}}"
    if "enum" in schema:
        return _one_of(schema["enum"])
    kinds = schema.get("type")
    if isinstance(kinds, list):  # what may be null too
        named = [each for each in kinds if each != "null"]
        return form_of({**schema, "type": named[0]}, nothing, path) if len(named) == 1 else '"<words or a number>"'
    if kinds == "array":
        return f"[{form_of(schema.get('items', {}), nothing, path)}, ...]"
    if kinds == "integer":
        low, high = schema.get("minimum", 0), schema.get("maximum")
        if path in nothing:
            return f"<a whole number{'' if high is None else f' up to {high}'}, {nothing[path]} to pass>"
        return f"<a whole number, {low} or more>" if high is None else f"<a whole number from {low} to {high}>"
    words = {"boolean": "<true or false>", "object": "{...}", "number": "<a number>"}
    return words.get(str(kinds), '"<why>"' if name in {"explanation", "reasoning"} else '"<words>"')


def _one_of(values: Sequence[Any]) -> str:
    """`"<C, B or D>"`; a value that stands alone as it is."""
    if len(values) == 1:
        return json.dumps(values[0], ensure_ascii=False)
    named = ["null" if value is None else str(value) for value in values]
    listed = f"{', '.join(named[:-1])} or {named[-1]}"
    return f'"<{listed}>"' if any(isinstance(value, str) for value in values) else f"<{listed}>"
