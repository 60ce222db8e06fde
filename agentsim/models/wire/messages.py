"""Messages: the requests and answers of Anthropic's API, at Anthropic, Bedrock and Vertex.

Source: https://docs.anthropic.com/en/api/messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentsim.models.base import Call, Completion, Sampling, StructuredMode, Usage, most_telling
from agentsim.models.faults import ErrorFactory
from agentsim.models.profiles import Profile, cap_of
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
)

PATH: Final = "/v1/messages"
MODES: Final[tuple[StructuredMode, ...]] = ("json_schema", "tool", "prompt")
MAY_OMIT_CAP: Final = False

_CACHED: Final = {"cache_control": {"type": "ephemeral"}}
_RESULT: Final = "_tool_result"
_HOST_S: Final = ("server_tool_use", "mcp_tool_use", _RESULT)


def body(profile: Profile, model: str, call: Call, sampling: Sampling) -> dict[str, Any]:
    """Return the body of one request.

    The end of the system message, which repeats in every call, is marked for the cache. Thinking excludes a forced tool
    and a temperature: with thinking, the tool is offered but not forced, and the scenario's temperature is not sent.
    """
    system: list[dict[str, Any]] = [{"type": "text", "text": text} for role, text in call.messages if role == "system"]
    if system:
        system[-1] |= _CACHED
    said = [{"role": role, "content": text} for role, text in call.messages if role != "system"]
    made: dict[str, Any] = {
        "model": model,
        "messages": said,
        "max_tokens": cap_of(profile.parameter_names, model, sampling),
    }
    if system:
        made["system"] = system
    for part in profile.translated(model, sampling).parts.values():
        merge(made, part)
    if call.schema is not None:
        merge(made, _structured(profile, call))
    merge(made, profile.extra_body)
    merge(made, {key: value for key, value in sampling.extra.items() if key != "extra_body"})
    merge(made, sampling.extra.get("extra_body", {}))
    if at(made, "thinking", "type") in {"enabled", "adaptive"} and "tool_choice" in made:
        made["tool_choice"] = {"type": "auto"}
    return made


def _structured(profile: Profile, call: Call) -> dict[str, Any]:
    """Return the part of a body that holds the reply to a schema. This API has no `json_object` mode."""
    assert call.schema is not None
    match profile.structured:
        case "json_schema":
            schema, _ = sent_schema(call.schema, profile.strip_schema_keywords)
            return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
        case "tool":
            schema, _ = sent_schema(call.schema, profile.strip_schema_keywords)
            name = wire_name(call)
            tool = {"name": name, "description": "Gives your answer.", "input_schema": schema}
            return {"tools": [tool], "tool_choice": {"type": "tool", "name": name}}
        case _:  # the prompt describes the format in every mode
            return {}


def completion(envelope: Mapping[str, Any], faults: ErrorFactory, function: Function | None) -> Completion:
    """Return the completion in a decoded answer. If a `function` is forced, its arguments are the text."""
    content = envelope.get("content")
    if envelope.get("type") == "error":
        raise faults.reported(envelope.get("error"))
    raise_stated_error(envelope, content, faults)
    if not isinstance(content, (list, str)):
        raise faults.bad_envelope("no content")
    own = [part for part in content if not _of_the_host(part)] if isinstance(content, list) else content
    parts = parts_of(own)
    calls = [] if kind_by_role(envelope) == "other" else [part for part in parts if kind_of(part) == "called"]
    found = _behind_tools(envelope, content) or without_preambles(message_parts({**envelope, "content": own}))
    return completion_of(
        AnswerParts(
            text=text_of_kind(found, "said") or "",
            reasoning=text_of_kind(found, "thought"),
            refusal=text_of_kind(found, "refused") or _explanation(envelope),
            finish_reason=most_telling((reason_word(envelope.get("stop_reason")), cut_in(parts))),
            calls=list(calls_of(calls)),
            model=envelope.get("model"),
            served_by=envelope.get("provider"),
            usage=usage(envelope),
            unknown=unknown_text(found),
        ),
        faults,
        function,
    )


def _behind_tools(envelope: Mapping[str, Any], content: list[Any] | str) -> list[tuple[PartKind, str]]:
    """Return the texts of an answer in which the host ran a tool, or [] if no words stand behind the tool's result.

    The words before the tool's last call or result are thinking, and so are those before a call without a result.
    """
    indices = [index for index, part in enumerate(content) if _of_the_host(part)] if isinstance(content, list) else []
    if not indices:
        return []
    parts = [part for part in content[: indices[-1]] if not _of_the_host(part)]
    before, behind = (message_parts({**envelope, "content": each}) for each in (parts, content[indices[-1] + 1 :]))
    found = without_preambles(behind)
    if text_of_kind(found, "said") is None and str(at(content[indices[-1]], "type")).endswith(_RESULT):
        return []
    return [*(("thought" if kind == "said" else kind, text) for kind, text in before), *found]


def _of_the_host(part: object) -> bool:
    """Return whether a part is a call of a tool that the host runs, or its result, and so not the model's answer."""
    return str(at(part, "type")).endswith(_HOST_S)


def _explanation(envelope: Mapping[str, Any]) -> str | None:
    """Return the reason that the model gives for declining, or None."""
    said = at(envelope, "stop_details", "explanation")
    return said if isinstance(said, str) else None


def usage(envelope: Mapping[str, Any]) -> Usage:
    """Return the usage of an answer. Its `input_tokens` leave out tokens written to or read from the cache."""
    said = envelope.get("usage")
    fresh = count(at(said, "input_tokens"))
    written, read = (count(at(said, f"cache_{what}_input_tokens")) for what in ("creation", "read"))
    return Usage(
        prompt_tokens=None if fresh is None else fresh + (written or 0) + (read or 0),
        cached_tokens=cached_tokens(said),
        completion_tokens=count(at(said, "output_tokens")),
        reasoning_tokens=count(at(said, "output_tokens_details", "thinking_tokens")),
        cost_usd=cost_usd(said),
        cache_write_tokens=written or None,
    )
