"""Chat completions: the body that OpenAI's API is sent, and how the reply is taken out of a 200.

Which server is called, deadlines and structured modes are `remote`; providers' peculiarities `profiles`; what an error
means `faults`. Whether the reply is a decision does not belong here; an empty text is a completion like any other.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from agentsim.engine.codec import parse_json
from agentsim.engine.prompt import cleaned
from agentsim.errors import ModelError
from agentsim.models.base import MOST_TEXT, Call, Completion, Sampling, Usage
from agentsim.models.faults import Faults
from agentsim.models.profiles import Profile
from agentsim.models.redaction import redact_reply

_WORD = 200  # characters of a model's, provider's or finish reason's name
_READ = 64 * 1024  # characters of such a name that are looked at


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
        sent = _portable(schema, strip)
        _LATEST[:] = [(schema, strip, sent, _closed(sent))]
    return _LATEST[0][2:]


def _portable(schema: Mapping[str, Any], strip: Set[str]) -> dict[str, Any]:
    """The schema without these keywords (names of properties are not keywords), and `const` as `enum`."""
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key in strip:
            continue
        if key in {"properties", "$defs"} and isinstance(value, dict):
            out[key] = {name: _portable(part, strip) for name, part in value.items()}
        elif key == "const":
            out["enum"] = [value]
        elif key in {"enum", "required"}:
            out[key] = value
        elif isinstance(value, dict):
            out[key] = _portable(value, strip)
        elif isinstance(value, list):
            out[key] = [_portable(part, strip) if isinstance(part, dict) else part for part in value]
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


def completion_of(envelope: object, faults: Faults, function: str | None = None) -> Completion:
    """The completion in a body that has been decoded; an error says what it used.

    With a `function`, the arguments that it is called with are the text.
    """
    try:
        return _judged(envelope, faults, function)
    except ModelError as error:
        said = _usage(envelope.get("usage")) if isinstance(envelope, dict) else Usage()
        error.usage = None if said == Usage() else said
        raise


def _judged(envelope: object, faults: Faults, function: str | None) -> Completion:
    if isinstance(envelope, list) and envelope and isinstance(envelope[0], dict):
        envelope = envelope[0]  # Gemini's errors come as a list of one
    if not isinstance(envelope, dict):
        raise faults.bad_envelope(f"a JSON {type(envelope).__name__}", str(envelope)[:1000])
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
    completion = _completion(envelope, choice, message, faults)
    return completion if function is None or completion.refusal else _called(completion, message, function, faults)


def _is_error(error: object, message: object) -> bool:
    """Whether something went wrong: some proxies put an error beside every answer, of which every value is null."""
    if isinstance(error, dict) and isinstance(message, dict):
        return any(error.values())
    return bool(error)


def _completion(
    envelope: Mapping[str, Any], choice: Mapping[str, Any], message: Mapping[str, Any], faults: Faults
) -> Completion:
    text = _text(message.get("content"))
    if text is None:
        raise faults.bad_envelope("content that is no text")
    secrets = faults.secrets  # a proxy may echo its headers, and what is returned here lands in the history
    finish_reason = _word(choice.get("finish_reason"), secrets)
    declined = message.get("refusal")
    if not isinstance(declined, str) or text:
        declined = ""
    thinking = message.get("reasoning") or message.get("reasoning_content")
    return Completion(
        text=_kept(text or declined, secrets),
        reasoning=_kept(thinking, secrets) if isinstance(thinking, str) else None,
        finish_reason=finish_reason,
        model=_word(envelope.get("model"), secrets),
        provider=_word(envelope.get("provider"), secrets),
        usage=_usage(envelope.get("usage")),
        refusal="content_filter" if finish_reason == "content_filter" else "refusal" if declined else None,
    )


def _called(completion: Completion, message: Mapping[str, Any], function: str, faults: Faults) -> Completion:
    """The completion whose text is what the function is called with: of several calls, with the first JSON object.

    What is said beside the call is no decision. Arguments that are no JSON are left to the readers of replies, as long
    as they begin like an object: words in their place might be taken for a speech.
    """
    calls = message.get("tool_calls")
    functions = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    given = [each.get("arguments") for each in functions if isinstance(each, dict) and each.get("name") == function]
    texts = [json.dumps(each, ensure_ascii=False) if isinstance(each, dict) else each for each in given]
    objects = [text for text in texts if isinstance(text, str) and text.lstrip().startswith("{")]
    if not objects:
        return replace(completion, unusable=f"The reply does not call the function {function} with a JSON object.")
    chosen = next(filter(_is_object, objects), objects[0])
    return replace(completion, text=_kept(chosen, faults.secrets))


def _is_object(text: str) -> bool:
    try:
        return isinstance(parse_json(text), dict)
    except (ValueError, RecursionError):
        return False


def _kept(words: str, secrets: tuple[str, ...]) -> str:
    """A model's words as they are kept: clean, without secrets, and of more than `MOST_TEXT` the beginning."""
    begun = redact_reply(cleaned(words[: 2 * MOST_TEXT]), secrets)
    if len(words) > 2 * MOST_TEXT and len(begun.encode()) <= MOST_TEXT:
        begun = redact_reply(cleaned(words), secrets)  # of its beginning, little was left
    content = begun.encode()
    if len(content) <= MOST_TEXT:
        return begun
    whole = words.encode("utf-8", "surrogatepass")
    mark = f"[cut: {MOST_TEXT:,} of {len(whole):,} bytes are kept; SHA-256 of all: {hashlib.sha256(whole).hexdigest()}]"
    return f"{content[:MOST_TEXT].decode('utf-8', 'ignore')}\n{mark}"


def _text(content: object) -> str | None:
    """The text of a message: a string, nothing, or a list of typed parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(part for part in parts if isinstance(part, str))


def _word(value: object, secrets: tuple[str, ...]) -> str | None:
    if not isinstance(value, str):
        return None
    # Cut last: half a key would no longer be known as one.
    return redact_reply(" ".join(cleaned(value[:_READ]).split()), secrets)[:_WORD] or None


def _usage(usage: object) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    sent, said = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    thought = _count(completion.get("reasoning_tokens")) if isinstance(completion, dict) else None
    cost = usage.get("cost")
    real = isinstance(cost, (int, float)) and not isinstance(cost, bool) and abs(cost) < 1e9 and math.isfinite(cost)
    return Usage(
        prompt_tokens=sent,
        cached_tokens=_count(prompt.get("cached_tokens")) if isinstance(prompt, dict) else None,
        completion_tokens=_paid(said, thought, sent, _count(usage.get("total_tokens"))),
        reasoning_tokens=thought,
        cost_usd=float(cost) if real and cost is not None and cost >= 0 else None,
    )


def _paid(said: int | None, thought: int | None, sent: int | None, total: int | None) -> int | None:
    """Tokens that are paid as completion: some providers count thinking beside what they call so (Gemini, xAI)."""
    if thought is not None and said is not None and thought > said:  # so it is no part of it
        said += thought
    if total is not None and sent is not None and total - sent > (said or 0):
        return total - sent
    return said


def _count(value: object) -> int | None:
    """A number of tokens, or None for anything that cannot be one (NaN, -1, "12", true)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not value.is_integer():  # NaN and infinities are no integers either
        return None
    return int(value) if 0 <= value < 1e12 else None
