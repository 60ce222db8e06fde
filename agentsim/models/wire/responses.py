"""Responses: the requests and answers of OpenAI's newer API, with storage at OpenAI turned off.

Source: https://platform.openai.com/docs/api-reference/responses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agentsim.models.base import Call, Completion, Sampling, StructuredMode, Usage, ending, most_telling
from agentsim.models.faults import ErrorFactory
from agentsim.models.profiles import Profile
from agentsim.models.wire.common import (
    AnswerParts,
    Function,
    PartKind,
    at,
    cached_tokens,
    calls_of,
    completion_of,
    cost_usd,
    count,
    cut_in,
    kind_by_role,
    kind_of,
    logprobs_in,
    merge,
    message_parts,
    parts_of,
    raise_stated_error,
    reason_word,
    sent_schema,
    text_of_kind,
    unknown_text,
    wire_name,
    without_preambles,
    words_in,
)

PATH: Final = "/responses"
MODES: Final[tuple[StructuredMode, ...]] = ("json_schema", "json_object", "prompt")
MAY_OMIT_CAP: Final = True


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


def completion(envelope: Mapping[str, Any], faults: ErrorFactory, function: Function | None) -> Completion:
    """Return the completion in a decoded answer. If a `function` is forced, its arguments are the text."""
    output = envelope.get("output")
    output = [output] if isinstance(output, Mapping) and output else output
    raise_stated_error(envelope, output or None, faults)
    if output is None and isinstance(envelope.get("output_text"), str):
        output = []
    if not isinstance(output, list):
        raise faults.bad_envelope("no output")
    items = [item for item in output if isinstance(item, Mapping)]
    messages = [item for item in map(_as_message, items) if item is not None]
    if not items and isinstance(text := envelope.get("output_text"), str):  # a field of OpenAI's own clients
        messages = [{"content": text}]
    calls = [item for item in items if kind_by_role(item) == "called"]  # the host's own tools have other types
    own = [message for message in messages if kind_by_role(message) is None]
    found = _parts_by_step(messages)
    thought = "".join((*_thought(items), text_of_kind(found, "thought") or ""))
    # the details name the limit or the filter; if in a word that no table knows, the status still says "incomplete"
    reason = reason_word(at(envelope, "incomplete_details", "reason")) or reason_word(envelope.get("status"))
    ended = [envelope] if ending(reason) is None else []
    return completion_of(
        AnswerParts(
            text=text_of_kind(found, "said") or "",
            reasoning=thought or None,
            refusal=text_of_kind(found, "refused"),
            finish_reason=most_telling((reason, cut_in([*ended, *own, *_parts_of_all(own), *calls]))),
            calls=list(calls_of(calls)),
            model=envelope.get("model"),
            served_by=envelope.get("provider"),
            usage=usage(envelope),
            logprobs=[logprob for part in _parts_of_all(own) for logprob in logprobs_in(part.get("logprobs"))],
            unknown=unknown_text(found),
        ),
        faults,
        function,
    )


def _as_message(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return an item that is a message, or a part of one that stands alone, as a message, or None."""
    if str(item.get("type", "message")).endswith("message"):
        return item
    return {"content": item} if kind_of(item) in {"said", "refused"} else None


def _parts_by_step(messages: list[Mapping[str, Any]]) -> list[tuple[PartKind, str]]:
    """Return the texts of an output. Each message is a step: words of those before the last with words are thinking."""
    steps = [without_preambles(message_parts(message)) for message in messages]
    with_words = [
        index for index, step in enumerate(steps) if messages[index].keys() > {"content"} and text_of_kind(step, "said")
    ]
    last = max(with_words, default=0)
    return without_preambles(
        ("thought", text) if kind == "said" and index < last else (kind, text)
        for index, step in enumerate(steps)
        for kind, text in step
    )


def _parts_of_all(messages: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [part for message in messages for part in parts_of(message.get("content"))]


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
