"""The replies of a fake model, as pure functions of the body of a request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["envelope", "first_by_schema", "varied_by_schema"]


def first_by_schema(body: Mapping[str, Any]) -> str:
    """Return a JSON object that fits the schema of the request: first enum values, lowest numbers, short texts."""
    return _by_schema(body, vary=False)


def varied_by_schema(body: Mapping[str, Any]) -> str:
    """Return a JSON object that fits the schema, with values that are a function of the whole body."""
    return _by_schema(body, vary=True)


def envelope(content: str | None, *, model: str = "fake", **choice: Any) -> dict[str, Any]:
    """Return a chat completion with this text; `choice` is merged into its choice."""
    return {
        "id": "fake-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}, **choice}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def _by_schema(body: Mapping[str, Any], *, vary: bool) -> str:
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    if schema is None:
        return f"text {digest[:6]}"
    return json.dumps(_value(schema, int(digest, 16) if vary else 0, digest))


def _value(schema: Mapping[str, Any], draw: int, digest: str) -> Any:
    if "enum" in schema:
        return schema["enum"][draw % len(schema["enum"])]
    if "anyOf" in schema:
        branches = schema["anyOf"]
        records = all(branch.get("type") == "object" for branch in branches)  # a union, and no optional value
        if records:
            return _value(branches[draw % len(branches)], draw // len(branches), digest)
        return _value(branches[0], draw, digest)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0]
    low = schema.get("minimum", 0)
    match kind:
        case "object":
            parts = schema.get("properties", {}).items()
            # Each field uses other digits; otherwise two fields would always change together.
            return {
                name: _value(part, draw // 7**index, digest[index:] + digest[:index])
                for index, (name, part) in enumerate(parts)
            }
        case "array":
            return [_value(schema.get("items", {}), draw, digest) for _ in range(schema.get("minItems", 0))]
        case "integer":
            return low + draw % (schema.get("maximum", low + 1_000) - low + 1)
        case "number":
            return low + draw % 1_000
        case "boolean":
            return draw % 2 == 1
        case "null":
            return None
        case _:
            return f"text {digest[:6]}"[: schema.get("maxLength", 11)]
