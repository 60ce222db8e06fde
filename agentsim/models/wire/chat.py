"""Chat completions: the requests and answers of OpenAI's API, in all the variants that servers use.

Source: https://platform.openai.com/docs/api-reference/chat, and the references of the hosts in `profiles`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from agentsim.models.base import Call, Completion, Sampling, StructuredMode, Usage
from agentsim.models.faults import Faults
from agentsim.models.finish_reasons import most_telling
from agentsim.models.profiles import Profile
from agentsim.models.wire.answer import (
    Function,
    FunctionCall,
    Parts,
    at,
    cache_write_tokens,
    cached_tokens,
    calls_of,
    completion_of,
    cost_usd,
    count,
    cut_in,
    kind_of,
    logprobs_in,
    parts_of,
    raise_stated_error,
    reason_word,
    said_as,
    sayings_of,
    thought_beside,
    unknown_in,
    voice_of,
)
from agentsim.models.wire.schema import merge, sent_schema, wire_name

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


def completion(envelope: Mapping[str, Any], faults: Faults, function: Function | None) -> Completion:
    """Return the completion in a decoded answer. If a `function` is forced, its arguments are the text."""
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
    if isinstance(content, dict) and _is_answer(content):
        message = {**message, "content": json.dumps(content, ensure_ascii=False)}
    found = list(sayings_of(message))
    declined = message.get("refusal")
    refused = declined if isinstance(declined, str) else said_as(found, "refused")
    # one answer is requested, so several choices are parts of it
    calls = [call for each in choices if (part := _message(each)) for call in _calls(part)]
    return completion_of(
        Parts(
            text=said_as(found, "said") or "",
            reasoning=thought_beside(message) or said_as(found, "thought"),
            refusal=refused,
            finish_reason=_finish_reason(choice, message),
            calls=calls,
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


def _finish_reason(choice: Mapping[str, Any], message: Mapping[str, Any]) -> object:
    """Return the most telling of the finish reasons of a choice and of the states of its message and parts."""
    keys = ("finish_reason", "finishReason", "native_finish_reason", "stop_reason")
    said = [reason_word(choice.get(key)) for key in keys]
    return most_telling((*said, cut_in([message, *parts_of(message.get("content"))])))


def _is_answer(content: Mapping[str, Any]) -> bool:
    """Return whether a content that is an object is the answer itself, even if it has a `text` as a part has."""
    return "type" not in content and isinstance(content.get("text", ""), str) and voice_of(content) is None


def _calls(message: Mapping[str, Any]) -> list[FunctionCall]:
    """Return a message's function calls: in `tool_calls`, in a single call, or in its content."""
    voice = voice_of(message)
    if voice in {"other", "called"}:
        return list(calls_of(message)) if voice == "called" else []
    found = [call for key in ("tool_calls", "function_call", "tool_call") for call in calls_of(message.get(key))]
    return [*found, *calls_of([part for part in parts_of(message.get("content")) if kind_of(part) == "called"])]


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
