"""Chat completions: the requests and answers of OpenAI's API, in all the variants that servers use.

Source: https://platform.openai.com/docs/api-reference/chat, and the references of the hosts in `profiles`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from agentsim.models.base import Call, Completion, Sampling, StructuredMode, Usage
from agentsim.models.faults import Faults
from agentsim.models.finish_reasons import ending
from agentsim.models.profiles import Profile
from agentsim.models.wire.common import (
    Parts,
    arguments_of,
    at,
    cache_write_tokens,
    cached_tokens,
    completion_of,
    cost_usd,
    count,
    kind_of,
    logprobs_in,
    merge,
    raise_stated_error,
    reason_word,
    said_as,
    sayings,
    sent_schema,
    thought_beside,
    unknown_in,
    wire_name,
)

PATH: Final = "/chat/completions"
MODES: Final[tuple[StructuredMode, ...]] = ("json_schema", "json_object", "prompt")
MAY_OMIT_CAP: Final = True


def body(profile: Profile, model: str, call: Call, sampling: Sampling) -> dict[str, Any]:
    """Return the body of one request.

    Later sources override: ours, the provider's `extra_body`, the player's extra, the cap on the reply.

    The extra may hold any parameter of the client's `create()`, including `extra_body`.
    """
    messages = [{"role": role, "content": text} for role, text in call.messages]
    made: dict[str, Any] = {"model": model, "messages": messages}
    for part in profile.translated(model, sampling).parts.values():
        merge(made, part)
    if call.schema is not None:
        made |= _structured(profile, call)
        if profile.structured in {"json_schema", "tool"}:
            merge(made, profile.structured_body)
    merge(made, profile.extra_body)
    merge(made, {key: value for key, value in sampling.extra.items() if key != "extra_body"})
    merge(made, sampling.extra.get("extra_body", {}))
    if sampling.max_tokens is not None:
        made[profile.max_tokens_field] = sampling.max_tokens
    return made


def _structured(profile: Profile, call: Call) -> dict[str, Any]:
    """Return the part of a body that holds the reply to a schema. `auto` has been resolved before."""
    assert call.schema is not None
    assert profile.structured != "auto", "a body is in one mode"
    match profile.structured:
        case "json_schema":
            schema, closed = sent_schema(call.schema, profile.strip_schema_keywords)
            # `strict` makes OpenAI enforce the schema, and refuse a schema that is not closed.
            named = {"name": wire_name(call), "schema": schema, "strict": closed}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "tool":
            schema, closed = sent_schema(call.schema, profile.strip_schema_keywords)
            name = wire_name(call)
            function: dict[str, Any] = {"name": name, "description": "Gives your answer.", "parameters": schema}
            if closed:  # sent only if True: not every server knows the field
                function["strict"] = True
            choice = {"type": "function", "function": {"name": name}}
            return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "prompt":  # the prompt describes the format in every mode
            return {}


def completion(envelope: Mapping[str, Any], faults: Faults, function: str | None) -> Completion:
    """Return the completion in a decoded answer. With a `function`, its arguments are the text."""
    said = envelope.get("choices")
    choices = said if isinstance(said, list) else []
    choice = next(iter(choices), None)
    message = _message(choice)
    raise_stated_error(envelope, message, faults)
    if not isinstance(choice, Mapping):
        raise faults.bad_envelope("no choices")
    if choice.get("finish_reason") == "error":
        raise faults.reported(choice.get("error"))
    raise_stated_error({"error": choice.get("error")}, message, faults)
    if message is None:
        raise faults.bad_envelope("a choice without a message")
    content = message.get("content")
    if content is not None and not isinstance(content, (str, list, dict)):
        raise faults.bad_envelope("content that is no text")
    if isinstance(content, dict) and "type" not in content and isinstance(content.get("text", ""), str):
        content = json.dumps(content, ensure_ascii=False)  # the answer itself, even if it has a `text`
    found = list(sayings(content))
    declined = message.get("refusal")
    refused = declined if isinstance(declined, str) else said_as(found, "refused")
    # one answer is requested, so several choices are parts of it
    calls = [value for each in choices if (part := _message(each)) for value in _arguments(part)]
    return completion_of(
        Parts(
            text=said_as(found, "said") or "",
            reasoning=thought_beside(message) or said_as(found, "thought"),
            refusal=refused,
            finish_reason=_finish_reason(choice),
            arguments=calls,
            model=envelope.get("model"),
            provider=envelope.get("provider"),
            usage=usage(envelope),
            logprobs=list(logprobs_in(choice.get("logprobs"))),
            unknown=unknown_in(found),
        ),
        faults,
        function,
    )


def _message(choice: object) -> Mapping[str, Any] | None:
    """Return the message of a choice, which may also be a `delta` or a bare text, or None."""
    for key in ("message", "delta", "text"):
        found = at(choice, key)
        if isinstance(found, str):
            return {"content": found}
        if isinstance(found, Mapping):
            return found
    return None


def _finish_reason(choice: Mapping[str, Any]) -> object:
    """Return the first finish reason of a choice that is known, else the first one."""
    keys = ("finish_reason", "finishReason", "native_finish_reason", "stop_reason")
    words = [word for key in keys if (word := reason_word(choice.get(key)))]
    return next(filter(ending, words), next(iter(words), None))


def _arguments(message: Mapping[str, Any]) -> list[object]:
    """Return the arguments of a message's function calls: in `tool_calls`, in a single call, or in its content."""
    found = [value for key in ("tool_calls", "function_call", "tool_call") for value in arguments_of(message.get(key))]
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    called = [part for part in parts if isinstance(part, Mapping) and kind_of(part) == "called"]
    return [*found, *arguments_of(called)]


def usage(envelope: Mapping[str, Any]) -> Usage:
    """Return the tokens and the cost that an answer states."""
    said = envelope.get("usage")
    sent, replied = count(at(said, "prompt_tokens")), count(at(said, "completion_tokens"))
    cached = cached_tokens(said)
    # a gateway that counts like Anthropic, without the cached tokens
    if sent is not None and cached is not None and cached > sent:
        sent += cached + (cache_write_tokens(said) or 0)
    thought = count(at(said, "completion_tokens_details", "reasoning_tokens"))
    return Usage(
        prompt_tokens=sent,
        cached_tokens=cached,
        completion_tokens=_paid(replied, thought, sent, count(at(said, "total_tokens"))),
        reasoning_tokens=thought,
        cost_usd=cost_usd(said),
        cache_write_tokens=cache_write_tokens(said),
    )


def _paid(said: int | None, thought: int | None, sent: int | None, total: int | None) -> int | None:
    """Return the tokens billed as completion. Some providers (Gemini, xAI) count thinking separately."""
    if thought is not None and said is not None and thought > said:  # so thinking is not included
        said += thought
    if total is not None and sent is not None and total - sent > (said or 0):
        return total - sent
    return said
