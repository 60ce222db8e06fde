"""The wires of the fake server: Responses and messages requests to chat, and chat answers to both.

After the public references: https://platform.openai.com/docs/api-reference/responses,
https://docs.anthropic.com/en/api/messages, https://docs.anthropic.com/en/api/errors. Bedrock and Vertex send messages
to paths that contain the name of the model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from agentsim.models.base import ending

__all__ = ["Wire", "as_chat", "from_chat", "wire_of"]

Wire: TypeAlias = Literal["chat", "responses", "messages"]

_STOP = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use"}
_INCOMPLETE = {"length": "max_output_tokens", "stop": None, "tool_calls": None, None: None}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def wire_of(path: str) -> Wire:
    """Return the wire of a request, by its path."""
    place = path.partition("?")[0]
    if place.endswith("/responses"):
        return "responses"
    return "messages" if place.endswith(("/messages", "/invoke", ":rawPredict")) else "chat"


def as_chat(wire: Wire, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a request in the form of chat completions."""
    if wire == "chat":
        return dict(body)
    tools = body.get("tools", ())
    if wire == "responses":
        system, said = body.get("instructions"), body["input"]
        form = body.get("text", {}).get("format") or {}
        functions = [(tool["name"], tool["parameters"]) for tool in tools]
        most = body.get("max_output_tokens")
    else:
        system, said = "\n".join(part["text"] for part in body.get("system", ())), body["messages"]
        form = body.get("output_config", {}).get("format") or {}
        functions = [(tool["name"], tool["input_schema"]) for tool in tools]
        most = body["max_tokens"]
    made: dict[str, Any] = {"model": body.get("model", "m")}
    made["messages"] = [*([{"role": "system", "content": system}] if system else []), *said]
    made |= {key: body[key] for key in ("temperature", "top_p", "seed") if key in body}
    if functions:
        made["tools"] = [
            {"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in functions
        ]
        made["tool_choice"] = body.get("tool_choice")
    if form.get("type") == "json_object":
        made["response_format"] = {"type": "json_object"}
    elif schema := form.get("schema") or next((schema for _, schema in functions), None):
        # on the messages wire the format has no name
        name = form.get("name") or next((name for name, _ in functions), "")
        made["response_format"] = {"type": "json_schema", "json_schema": {"name": name, "schema": schema}}
    if most is not None:
        made["max_tokens"] = most
    return made


def from_chat(wire: Wire, status: int, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Return the status and body of a chat answer in the form of this wire; other bodies are unchanged."""
    choices, error = body.get("choices"), body.get("error")
    if wire == "chat" or "type" in body or "status" in body:  # already in the form of this wire
        return status, body
    if isinstance(error, Mapping):
        if wire == "messages":
            return _error(status, error, body.get("usage"))
        return (status, {"status": "failed", "error": error, "output": []}) if status == 200 else (status, body)
    if isinstance(choices, list) and not any(isinstance(choice, Mapping) and "message" in choice for choice in choices):
        return status, {"id": "x", "model": body.get("model"), "status": "completed", "stop_reason": "end_turn"}
    if not choices:
        return status, body
    if choices[0]["finish_reason"] == "error":
        failed = {"type": "api_error", "code": "server_error", "message": "The host broke down."}
        return from_chat(wire, 200, {"error": failed})
    return status, (_responses if wire == "responses" else _messages)(body, choices[0])


def _error(status: int, error: Mapping[str, Any], usage: object) -> tuple[int, dict[str, Any]]:
    """Return an error in Anthropic's form."""
    code, words = error.get("code"), str(error.get("message", ""))
    about = code if status == 200 and isinstance(code, int) else status
    if code == "insufficient_quota":
        status, about = 400, 400
        words = "Your credit balance is too low to access the Anthropic API."
    elif code == "context_length_exceeded":
        words = "prompt is too long: 210000 tokens > 200000 maximum"
    elif error.get("param"):
        words = f"{error['param']}: {words}"
    made = {"type": _ERRORS.get(about, "api_error"), "message": words}
    more = {key: error[key] for key in ("metadata", "details") if key in error}  # a gateway adds these
    said = {"type": "error", "error": made | more, "request_id": "req_1"}
    return status, said if usage is None else said | {"usage": usage}


def _calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [call["function"] for call in message.get("tool_calls") or ()]


def _responses(envelope: dict[str, Any], choice: dict[str, Any]) -> dict[str, Any]:
    message, reason = choice["message"], choice["finish_reason"]
    parts: list[dict[str, Any]] = []
    if message.get("content") is not None:
        parts.append({"type": "output_text", "text": message["content"], "annotations": []})
    if message.get("refusal"):
        parts.append({"type": "refusal", "refusal": message["refusal"]})
    cut = _INCOMPLETE.get(reason, reason)
    unknown = ending(str(cut)) is None  # another word for the state, since "incomplete" would say that it is cut
    output: list[dict[str, Any]] = []
    if message.get("reasoning"):
        summary = [{"type": "summary_text", "text": message["reasoning"]}]
        output.append({"type": "reasoning", "id": "rs_1", "summary": summary})
    if parts:
        output.append({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts})
    for index, call in enumerate(_calls(message)):
        output.append({"type": "function_call", "id": f"fc_{index}", "call_id": f"call_{index}", **call})
    return {
        **{key: value for key, value in envelope.items() if key == "provider"},
        "id": "resp_1",
        "object": "response",
        "model": envelope["model"],
        "status": cut if unknown else "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": cut} if cut and not unknown else None,
        "output": output,
        "usage": _usage_of_responses(envelope.get("usage")),
    }


def _usage_of_responses(used: Any) -> Any:
    if not isinstance(used, Mapping):
        return used
    return {
        **{key: value for key, value in used.items() if key == "cost"},
        "input_tokens": used["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": _detail(used, "prompt", "cached")},
        "output_tokens": used["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": _detail(used, "completion", "reasoning")},
        "total_tokens": used.get("total_tokens"),
    }


def _messages(envelope: dict[str, Any], choice: dict[str, Any]) -> dict[str, Any]:
    message, reason = choice["message"], choice["finish_reason"]
    content: list[dict[str, Any]] = []
    if message.get("reasoning"):
        content.append({"type": "thinking", "thinking": message["reasoning"], "signature": "x"})
    if message.get("content") is not None:
        content.append({"type": "text", "text": message["content"]})
    for index, call in enumerate(_calls(message)):
        content.append({"type": "tool_use", "id": f"toolu_{index}", "name": call["name"], "input": _input_of(call)})
    stop = "refusal" if message.get("refusal") else _STOP.get(reason, reason)
    if stop == "refusal" and message.get("refusal"):
        content.append({"type": "text", "text": message["refusal"]})
    return {
        **{key: value for key, value in envelope.items() if key == "provider"},
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": envelope["model"],
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": _usage_of_messages(envelope.get("usage")),
    }


def _input_of(call: Mapping[str, Any]) -> Any:
    """Return the arguments of a call as an object, or unchanged if they are no JSON object."""
    try:
        return json.loads(call["arguments"])
    except ValueError:
        return call["arguments"]


def _usage_of_messages(used: Any) -> Any:
    """Return a usage in Anthropic's form: `input_tokens` exclude cached tokens, read or written."""
    if not isinstance(used, Mapping):
        return used
    sent, cached, written = used["prompt_tokens"], _detail(used, "prompt", "cached"), _detail(used, "prompt", "written")
    return {
        **{key: value for key, value in used.items() if key == "cost"},
        "input_tokens": sent - cached - written if isinstance(sent, int) and sent >= 0 else sent,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "output_tokens": used["completion_tokens"],
        "output_tokens_details": {"thinking_tokens": _detail(used, "completion", "reasoning")},
    }


def _detail(used: Mapping[str, Any], side: str, what: str) -> int:
    return int((used.get(f"{side}_tokens_details") or {}).get(f"{what}_tokens", 0))
