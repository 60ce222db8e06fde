"""Chat completions: the requests and answers of OpenAI's API, in all the variants that servers use.

Source: https://platform.openai.com/docs/api-reference/chat, and the references of the hosts in `profiles`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from agentsim.models.base import Call, Completion, Sampling, StructuredMode, Usage, most_telling
from agentsim.models.faults import ErrorFactory
from agentsim.models.profiles import Profile
from agentsim.models.wire.common import (
    AnswerParts,
    Function,
    FunctionCall,
    at,
    cache_write_tokens,
    cached_tokens,
    calls_of,
    completion_of,
    content_of,
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
    thought_beside,
    unknown_text,
    wire_name,
    without_preambles,
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


def completion(envelope: Mapping[str, Any], faults: ErrorFactory, function: Function | None) -> Completion:
    """Return the completion in a decoded answer. If a `function` is forced, its arguments are the text.

    One answer is requested, so several choices are parts of it: the text is that of the first choice with words of the
    model, and function calls may stand in any.
    """
    said = envelope.get("choices")
    choices = sorted(said if isinstance(said, list) else [], key=_index)
    first = next(iter(choices), None)
    raise_stated_error(envelope, _message(first), faults)
    if not isinstance(first, Mapping):
        raise faults.bad_envelope("no choices")
    if first.get("finish_reason") == "error":
        raise faults.reported(first.get("error"))
    raise_stated_error({"error": first.get("error")}, _message(first), faults)
    if _message(first) is None:
        raise faults.bad_envelope("a choice without a message")
    read = [_Choice(choice, message, faults) for choice in choices if (message := _message(choice)) is not None]
    chosen = next((each for each in read if each.text), read[0])
    found = [part for each in read for part in each.found if each is chosen or part[0] in {"thought", "other"}]
    return completion_of(
        AnswerParts(
            text=chosen.text or "",
            reasoning=thought_beside(chosen.message) or text_of_kind(found, "thought"),
            refusal=chosen.refusal,
            finish_reason=chosen.finish_reason,
            calls=[call for each in read for call in _calls(each.message)],
            model=envelope.get("model"),
            served_by=envelope.get("provider"),
            usage=usage(envelope),
            logprobs=list(logprobs_in(chosen.choice.get("logprobs"))),
            unknown=unknown_text(found),
        ),
        faults,
        function,
    )


class _Choice:
    """One choice of an answer, with the texts of its message by kind."""

    def __init__(self, choice: Mapping[str, Any], message: Mapping[str, Any], faults: ErrorFactory) -> None:
        content = content_of(message)
        if content is not None and not isinstance(content, (str, list, dict)):
            raise faults.bad_envelope("content that is no text")
        if isinstance(content, dict) and _is_answer(content):
            message = {**message, "content": json.dumps(content, ensure_ascii=False)}
        self.choice, self.message = choice, message
        self.found = without_preambles(message_parts(message))
        self.text = text_of_kind(self.found, "said")

    @property
    def refusal(self) -> str | None:
        """The words by which the model declines, or None."""
        declined = self.message.get("refusal")
        return declined if isinstance(declined, str) else text_of_kind(self.found, "refused")

    @property
    def finish_reason(self) -> str | None:
        """The most telling of the finish reasons of the choice and of the states of its message and parts."""
        keys = ("finish_reason", "finishReason", "native_finish_reason", "stop_reason")
        said = [reason_word(self.choice.get(key)) for key in keys]
        return most_telling((*said, cut_in([self.message, *parts_of(content_of(self.message))])))


def _index(choice: object) -> int:
    return count(at(choice, "index")) or 0


def _message(choice: object) -> Mapping[str, Any] | None:
    """Return the message of a choice, which may also be a `delta`, a bare text or a list of messages, or None."""
    for key in ("message", "delta", "text", "messages"):
        found = at(choice, key)
        if isinstance(found, str) or (isinstance(found, list) and found):
            return {"content": found}
        if isinstance(found, Mapping):
            return found
    return None


def _is_answer(content: Mapping[str, Any]) -> bool:
    """Return whether a content that is an object is the answer itself, even if it has a `text` as a part has."""
    return "type" not in content and isinstance(content.get("text", ""), str) and kind_by_role(content) is None


def _calls(message: Mapping[str, Any]) -> list[FunctionCall]:
    """Return a message's function calls: in `tool_calls`, in a single call, or in its content."""
    kind = kind_by_role(message)
    if kind in {"other", "called"}:
        return list(calls_of(message)) if kind == "called" else []
    found = [call for key in ("tool_calls", "function_call", "tool_call") for call in calls_of(message.get(key))]
    return [*found, *calls_of([part for part in parts_of(content_of(message)) if kind_of(part) == "called"])]


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
