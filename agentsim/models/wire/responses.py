"""Responses: the requests and answers of OpenAI's newer API, with storage at OpenAI turned off.

Source: https://platform.openai.com/docs/api-reference/responses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agentsim.models.base import Call, Completion, Sampling, StructuredMode, Usage
from agentsim.models.faults import Faults
from agentsim.models.profiles import Profile
from agentsim.models.wire.common import (
    Parts,
    arguments_of,
    at,
    cached_tokens,
    completion_of,
    cost_usd,
    count,
    logprobs_in,
    merge,
    raise_stated_error,
    said_as,
    sayings,
    sent_schema,
    unknown_in,
    wire_name,
    words_in,
)

PATH: Final = "/responses"
MODES: Final[tuple[StructuredMode, ...]] = ("json_schema", "json_object", "prompt")
MAY_OMIT_CAP: Final = True

_CALLS: Final = frozenset(("function_call", "custom_tool_call"))  # calls of the host's own tools do not count


def body(profile: Profile, model: str, call: Call, sampling: Sampling) -> dict[str, Any]:
    """Return the body of one request: system messages become `instructions`, the others `input`."""
    system = [text for role, text in call.messages if role == "system"]
    said = [{"role": role, "content": text} for role, text in call.messages if role != "system"]
    made: dict[str, Any] = {"model": model, "input": said, "store": False}
    if system:
        made["instructions"] = "\n".join(system)
    for part in profile.translated(model, sampling).parts.values():
        merge(made, part)
    if call.schema is not None:
        made |= _structured(profile, call)
    merge(made, profile.extra_body)
    merge(made, {key: value for key, value in sampling.extra.items() if key != "extra_body"})
    merge(made, sampling.extra.get("extra_body", {}))
    if sampling.max_tokens is not None:
        made["max_output_tokens"] = sampling.max_tokens
    return made


def _structured(profile: Profile, call: Call) -> dict[str, Any]:
    """Return the part of a body that holds the reply to a schema. `auto` has been resolved before."""
    assert call.schema is not None
    name = wire_name(call)
    match profile.structured:
        case "json_schema":
            schema, closed = sent_schema(call.schema, profile.strip_schema_keywords)
            return {"text": {"format": {"type": "json_schema", "name": name, "schema": schema, "strict": closed}}}
        case "tool":
            schema, closed = sent_schema(call.schema, profile.strip_schema_keywords)
            function = {"type": "function", "name": name, "description": "Gives your answer.", "parameters": schema}
            return {"tools": [function | {"strict": closed}], "tool_choice": {"type": "function", "name": name}}
        case "json_object":
            return {"text": {"format": {"type": "json_object"}}}
        case _:  # the prompt describes the format in every mode
            return {}


def completion(envelope: Mapping[str, Any], faults: Faults, function: str | None) -> Completion:
    """Return the completion in a decoded answer. With a `function`, its arguments are the text."""
    output = envelope.get("output")
    raise_stated_error(envelope, output or None, faults)
    if not isinstance(output, list):
        raise faults.bad_envelope("no output")
    items = [item for item in output if isinstance(item, Mapping)]
    found = list(sayings(_contents(items)))
    thought = "".join(_thought(items))
    return completion_of(
        Parts(
            text=said_as(found, "said") or "",
            reasoning=thought or said_as(found, "thought"),
            refusal=said_as(found, "refused"),
            # the details name the limit or the filter; the status is only "completed" or "incomplete"
            finish_reason=at(envelope, "incomplete_details", "reason") or envelope.get("status"),
            arguments=list(arguments_of([item for item in items if item.get("type") in _CALLS])),
            model=envelope.get("model"),
            provider=envelope.get("provider"),
            usage=usage(envelope),
            logprobs=[logprob for part in _parts(items) for logprob in logprobs_in(part.get("logprobs"))],
            unknown=unknown_in(found),
        ),
        faults,
        function,
    )


def _contents(items: list[Mapping[str, Any]]) -> list[object]:
    """Return the contents of the messages, without commentary if there is a final answer."""
    messages = [item for item in items if item.get("type", "message") == "message"]
    final = [item for item in messages if item.get("phase") != "commentary"]
    return [message.get("content") for message in final or messages]


def _parts(items: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for content in _contents(items):
        yield from (part for part in (content if isinstance(content, list) else [content]) if isinstance(part, Mapping))


def _thought(items: list[Mapping[str, Any]]) -> Iterator[str]:
    for item in items:
        if item.get("type") == "reasoning":
            yield words_in(item.get("content")) or words_in(item.get("summary"))


def usage(envelope: Mapping[str, Any]) -> Usage:
    """Return the tokens and the cost that an answer states. Output tokens include thinking."""
    said = envelope.get("usage")
    return Usage(
        prompt_tokens=count(at(said, "input_tokens")),
        cached_tokens=cached_tokens(said),
        completion_tokens=count(at(said, "output_tokens")),
        reasoning_tokens=count(at(said, "output_tokens_details", "reasoning_tokens")),
        cost_usd=cost_usd(said),
    )
