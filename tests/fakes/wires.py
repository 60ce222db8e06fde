"""The wires of the fake server: the requests of Responses and messages as chat, and its chat answers as theirs.

By the public references: https://platform.openai.com/docs/api-reference/responses,
https://docs.anthropic.com/en/api/messages. Bedrock and Vertex send messages to paths with the model's name in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

__all__ = ["Wire", "as_chat", "from_chat", "wire_of"]

Wire: TypeAlias = Literal["chat", "responses", "messages"]

_STOP = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use"}


def wire_of(path: str) -> Wire:
    """Return the wire of a request by its path."""
    place = path.partition("?")[0]
    if place.endswith("/responses"):
        return "responses"
    return "messages" if place.endswith(("/messages", "/invoke", ":rawPredict")) else "chat"


def as_chat(wire: Wire, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a request as chat completions would have it."""
    if wire == "chat":
        return dict(body)
    if wire == "responses":
        system, said = body.get("instructions"), body["input"]
        schema = (body.get("text", {}).get("format") or {}).get("schema")
        schemas = [tool["parameters"] for tool in body.get("tools", ())]
        most = body.get("max_output_tokens")
    else:
        system, said = "\n".join(part["text"] for part in body.get("system", ())), body["messages"]
        schema = body.get("output_config", {}).get("format", {}).get("schema")
        schemas = [tool["input_schema"] for tool in body.get("tools", ())]
        most = body["max_tokens"]
    made: dict[str, Any] = {"model": body.get("model", "m")}
    made["messages"] = [*([{"role": "system", "content": system}] if system else []), *said]
    if "temperature" in body:
        made["temperature"] = body["temperature"]
    if schema := schema or next(iter(schemas), None):
        made["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
    if most is not None:
        made["max_tokens"] = most
    return made


def from_chat(wire: Wire, envelope: dict[str, Any]) -> dict[str, Any]:
    """Return a chat answer as this wire words it; one without a choice as it is."""
    choices = envelope.get("choices")
    if wire == "chat" or not choices:
        return envelope
    return (_responses if wire == "responses" else _messages)(envelope, choices[0])


def _responses(envelope: dict[str, Any], choice: dict[str, Any]) -> dict[str, Any]:
    message, used, reason = choice["message"], envelope["usage"], choice["finish_reason"]
    parts: list[dict[str, Any]] = []
    if message.get("content") is not None:
        parts.append({"type": "output_text", "text": message["content"], "annotations": []})
    if message.get("refusal"):
        parts.append({"type": "refusal", "refusal": message["refusal"]})
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(reason)
    output: list[dict[str, Any]] = []
    if message.get("reasoning"):
        summary = [{"type": "summary_text", "text": message["reasoning"]}]
        output.append({"type": "reasoning", "id": "rs_1", "summary": summary})
    output.append({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts})
    return {
        "id": "resp_1",
        "object": "response",
        "model": envelope["model"],
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": cut} if cut else None,
        "output": output,
        "usage": {
            "input_tokens": used["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": _cached(used)},
            "output_tokens": used["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": used["total_tokens"],
        },
    }


def _messages(envelope: dict[str, Any], choice: dict[str, Any]) -> dict[str, Any]:
    message, used, reason = choice["message"], envelope["usage"], choice["finish_reason"]
    content: list[dict[str, Any]] = []
    if message.get("reasoning"):
        content.append({"type": "thinking", "thinking": message["reasoning"], "signature": "x"})
    if message.get("content") is not None:
        content.append({"type": "text", "text": message["content"]})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": envelope["model"],
        "content": content,
        "stop_reason": "refusal" if message.get("refusal") else _STOP.get(reason, reason),
        "stop_sequence": None,
        "usage": {
            "input_tokens": used["prompt_tokens"] - _cached(used),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": _cached(used),
            "output_tokens": used["completion_tokens"],
        },
    }


def _cached(used: Mapping[str, Any]) -> int:
    return int((used.get("prompt_tokens_details") or {}).get("cached_tokens", 0))
