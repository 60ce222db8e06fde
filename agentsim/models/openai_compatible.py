"""OpenAICompatible: one model behind any server that speaks OpenAI's chat completions, and the bodies it is sent.

Deadlines and structured modes do not belong here (`remote`), nor do providers' peculiarities (`profiles`), nor what an
answer or an error means (`response_parsing`, `faults`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Any

from agentsim.models.base import Call, Sampling
from agentsim.models.profiles import Profile
from agentsim.models.remote import RemoteModel, Request


class OpenAICompatible(RemoteModel):
    """A `Model` over one endpoint's `/chat/completions`."""

    def _prepared(self, profile: Profile, call: Call, sampling: Sampling) -> Request:
        self._transport()  # its imports are not within a deadline
        body = request_body(profile, self._model, call, sampling)
        return Request("/chat/completions", body, called_function(profile, call))


def request_body(profile: Profile, model: str, call: Call, sampling: Sampling) -> dict[str, Any]:
    """The body of one request; what is said last counts: ours, the provider's `extra_body`, the player's extra.

    The extra may name anything that the SDK's `create()` takes, `extra_body` among it.
    """
    messages = [{"role": role, "content": text} for role, text in call.messages]
    body: dict[str, Any] = {"model": model, "messages": messages}
    if sampling.temperature is not None:
        body["temperature"] = sampling.temperature
    if call.schema is not None:
        body |= _structured(profile, call.schema, _wire_name(call))
        if profile.structured in {"json_schema", "tool"}:
            _merge(body, profile.structured_body)
    _merge(body, profile.extra_body)
    _merge(body, {key: value for key, value in sampling.extra.items() if key != "extra_body"})
    _merge(body, sampling.extra.get("extra_body", {}))
    if sampling.max_tokens is not None:
        body[profile.max_tokens_field] = sampling.max_tokens
    return body


def _merge(body: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Nested tables are merged, so that a routing preference does not undo `require_parameters`.

    One of another `type` is another thing (a response format, a choice of tools) and takes the place of the whole.
    """
    for key, value in more.items():
        if isinstance(value, Mapping):
            inner = body.get(key)
            inner = inner if isinstance(inner, Mapping) else {}
            another = {"type"} <= value.keys() & inner.keys() and value["type"] != inner["type"]
            merged = {} if another else dict(inner)
            _merge(merged, value)
            body[key] = merged
        else:
            body[key] = value


def called_function(profile: Profile, call: Call) -> str | None:
    """The function whose arguments the reply must be; None where it is to be something else."""
    return _wire_name(call) if call.schema is not None and profile.structured == "tool" else None


def _wire_name(call: Call) -> str:
    """What the schema, or the function that takes its place, is called."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", call.schema_name)[:64] or "decision"


def _structured(profile: Profile, schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The part of a body that holds the reply to a schema; `auto` has been settled before."""
    assert profile.structured != "auto", "a body is in one mode"
    match profile.structured:
        case "json_schema":
            sent, closed = _sent(schema, profile.strip_schema_keywords)
            # `strict` makes OpenAI enforce the schema, and refuse one that leaves anything open.
            named = {"name": name, "schema": sent, "strict": closed}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "tool":
            sent, closed = _sent(schema, profile.strip_schema_keywords)
            function: dict[str, Any] = {"name": name, "description": "Gives your answer.", "parameters": sent}
            if closed:  # said only where it is so: not every server knows the word
                function["strict"] = True
            choice = {"type": "function", "function": {"name": name}}
            return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "prompt":  # the question says in words what is wanted, whatever the mode
            return {}


_LATEST: list[tuple[Mapping[str, Any], Set[str], dict[str, Any], bool]] = []


def _sent(schema: Mapping[str, Any], strip: Set[str]) -> tuple[dict[str, Any], bool]:
    """A schema as it is sent, and whether it is closed.

    The latest one is kept: a society asks a hundred agents by one schema, and making it ready took a third of the CPU.
    """
    if not _LATEST or _LATEST[0][0] is not schema or _LATEST[0][1] != strip:
        sent = portable(schema, strip)
        _LATEST[:] = [(schema, strip, sent, _closed(sent))]
    return _LATEST[0][2:]


def portable(schema: Mapping[str, Any], strip: Set[str]) -> dict[str, Any]:
    """The schema without these keywords (names of properties are not keywords), and `const` as `enum`."""
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
    """Whether every object in it names all its properties as required and allows no others."""
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
