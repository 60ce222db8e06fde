"""Response parsing: what a provider wraps a reply in, and how the reply is taken out of a 200.

Whether the reply is a decision does not belong here; an empty text is a completion like any other.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentsim.engine.codec import parse_json
from agentsim.engine.prompt import cleaned
from agentsim.errors import ModelError
from agentsim.models.base import MOST_TEXT, Completion, Usage
from agentsim.models.faults import Faults
from agentsim.models.redaction import redact_reply

_WORD = 200  # characters of a model's, provider's or finish reason's name
_READ = 64 * 1024  # characters of such a name that are looked at


def completion_in(body: bytes, content_type: str, faults: Faults, function: str | None = None) -> Completion:
    """The completion in the body of a 200; raises the `ModelError` that says what else it is."""
    return completion_of(decoded(body, content_type, faults), faults, function)


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


def decoded(body: bytes, content_type: str, faults: Faults) -> Any:
    """The JSON of a 200, whatever it holds."""
    try:
        return json.loads(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise faults.bad_envelope("not UTF-8") from None
    except RecursionError:
        raise faults.bad_envelope("JSON nested too deeply") from None
    except ValueError:
        kind = " ".join(cleaned(content_type[:_WORD]).split()) or "no content type"
        what = f"not JSON ({kind})" if body.strip() else "empty"
        raise faults.bad_envelope(what, body[:1000].decode("utf-8", "replace")) from None


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
