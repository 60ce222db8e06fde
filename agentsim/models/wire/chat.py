"""Chat completions: the body that OpenAI's API is sent, and how an answer is read, in all the ways servers word it.

Source: https://platform.openai.com/docs/api-reference/chat, and the references of the hosts in `profiles`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from agentsim.models.base import Call, Completion, Sampling, StructuredMode, Usage
from agentsim.models.faults import Faults
from agentsim.models.profiles import Profile
from agentsim.models.wire.answer import Parts, at, completion_of, count, dollars, logprobs_in, texts
from agentsim.models.wire.schema import merge, sent_schema, wire_name

PATH: Final = "/chat/completions"
MODES: Final[tuple[StructuredMode, ...]] = ("json_schema", "json_object", "prompt")
MAY_OMIT_CAP: Final = True

_THOUGHT = frozenset(("thinking", "reasoning", "reasoning_text", "reasoning.text", "reasoning.summary", "summary_text"))
_SAID = frozenset(("text", "output_text"))


def body(profile: Profile, model: str, call: Call, sampling: Sampling) -> dict[str, Any]:
    """Return the body of one request. The last merged counts: ours, the provider's `extra_body`, the player's extra.

    The extra may name anything that the client's `create()` takes, `extra_body` among it.
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
    """Return the part of a body that holds the reply to a schema; `auto` has been settled before."""
    assert call.schema is not None
    assert profile.structured != "auto", "a body is in one mode"
    match profile.structured:
        case "json_schema":
            schema, closed = sent_schema(call.schema, profile.strip_schema_keywords)
            # `strict` makes OpenAI enforce the schema, and refuse one that leaves anything open.
            named = {"name": wire_name(call), "schema": schema, "strict": closed}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "tool":
            schema, closed = sent_schema(call.schema, profile.strip_schema_keywords)
            name = wire_name(call)
            function: dict[str, Any] = {"name": name, "description": "Gives your answer.", "parameters": schema}
            if closed:  # said only where it is so: not every server knows the word
                function["strict"] = True
            choice = {"type": "function", "function": {"name": name}}
            return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "prompt":  # the question says in words what is wanted, whatever the mode
            return {}


def completion(envelope: Mapping[str, Any], faults: Faults, function: str | None) -> Completion:
    """Return the completion in a decoded answer. With a `function`, its arguments are the text."""
    choices = envelope.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if _is_error(envelope.get("error"), message):
        raise faults.reported(envelope["error"])
    if not isinstance(choice, dict):
        raise faults.bad_envelope("no choices")
    if _is_error(choice.get("error"), message) or choice.get("finish_reason") == "error":
        raise faults.reported(choice.get("error"))
    if not isinstance(message, dict):
        raise faults.bad_envelope("a choice without a message")
    content = message.get("content")
    if content is not None and not isinstance(content, (str, list, dict)):
        raise faults.bad_envelope("content that is no text")
    declined = message.get("refusal")
    return completion_of(
        Parts(
            text=_text(content),
            reasoning=_reasoning(message),
            refusal=declined if isinstance(declined, str) else None,
            finish_reason=choice.get("finish_reason"),
            arguments=list(_arguments(message)),
            model=envelope.get("model"),
            provider=envelope.get("provider"),
            usage=usage(envelope),
            logprobs=list(logprobs_in(choice.get("logprobs"))),
        ),
        faults,
        function,
    )


def _text(content: object) -> str:
    """Return what a message says; an object that is no part of one is the answer itself."""
    if isinstance(content, Mapping) and content.get("type") not in _SAID | _THOUGHT:
        return json.dumps(content, ensure_ascii=False)
    return "".join(texts(content, _SAID.__contains__))


def _is_error(error: object, message: object) -> bool:
    """Return whether something went wrong: some proxies put an error of nulls beside every answer."""
    if isinstance(error, dict) and isinstance(message, dict):
        return any(error.values())
    return bool(error)


def _arguments(message: Mapping[str, Any]) -> list[object]:
    """Return the arguments of the functions that a message calls, by `tool_calls` or the older `function_call`."""
    calls = message.get("tool_calls")
    calls = calls if isinstance(calls, list) else []
    functions = [at(call, "function") or call for call in calls] + [message.get("function_call")]
    return [value for value in (at(each, "arguments") for each in functions) if value is not None]


def _reasoning(message: Mapping[str, Any]) -> str | None:
    """Return what the model thought, from wherever servers put it."""
    for key in ("reasoning", "reasoning_content", "reasoning_details", "thinking"):
        if found := "".join(texts(message.get(key), lambda kind: True)):
            return found
    content = message.get("content")
    return ("".join(texts(content, _THOUGHT.__contains__)) or None) if isinstance(content, list) else None


def usage(envelope: Mapping[str, Any]) -> Usage:
    """Return the tokens and the cost that an answer states."""
    said = envelope.get("usage")
    sent, replied = count(at(said, "prompt_tokens")), count(at(said, "completion_tokens"))
    thought = count(at(said, "completion_tokens_details", "reasoning_tokens"))
    return Usage(
        prompt_tokens=sent,
        cached_tokens=count(at(said, "prompt_tokens_details", "cached_tokens")),
        completion_tokens=_paid(replied, thought, sent, count(at(said, "total_tokens"))),
        reasoning_tokens=thought,
        cost_usd=dollars(at(said, "cost")),
    )


def _paid(said: int | None, thought: int | None, sent: int | None, total: int | None) -> int | None:
    """Return the tokens paid as completion: some providers count thinking beside what they call so (Gemini, xAI)."""
    if thought is not None and said is not None and thought > said:  # so it is no part of it
        said += thought
    if total is not None and sent is not None and total - sent > (said or 0):
        return total - sent
    return said
