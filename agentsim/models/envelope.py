"""Envelope: what a provider wraps a reply in, and how the reply is taken out of a 200.

Whether the reply is a decision does not belong here; an empty text is a completion like any other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from agentsim.engine.prompt import cleaned
from agentsim.models.base import Completion, Usage
from agentsim.models.faults import Faults
from agentsim.models.keys import redact_reply

__all__ = ["completion_in"]

_WORD = 200  # characters of a model's, provider's or finish reason's name
_READ = 64 * 1024  # characters of such a name that are looked at


def completion_in(body: bytes, content_type: str, faults: Faults) -> Completion:
    """The completion in the body of a 200; raises the `ModelError` that says what else it is."""
    envelope = _decoded(body, content_type, faults)
    if isinstance(envelope, list) and envelope and isinstance(envelope[0], Mapping):
        envelope = envelope[0]  # Gemini's errors come as a list of one
    if not isinstance(envelope, Mapping):
        raise faults.bad_envelope(f"a JSON {type(envelope).__name__}", str(envelope)[:1000])
    if envelope.get("error"):
        raise faults.reported(envelope["error"])
    choices = envelope.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        raise faults.bad_envelope("no choices")
    if choice.get("error") or choice.get("finish_reason") == "error":
        raise faults.reported(choice.get("error"))
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise faults.bad_envelope("a choice without a message")
    return _completion(envelope, choice, message, faults)


def _decoded(body: bytes, content_type: str, faults: Faults) -> Any:
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
    refusal = message.get("refusal")
    if finish_reason == "content_filter":
        raise faults.refused("content_filter", text)
    if isinstance(refusal, str) and refusal and not text:
        raise faults.refused("refusal", refusal)
    thinking = message.get("reasoning") or message.get("reasoning_content")
    return Completion(
        text=redact_reply(cleaned(text), secrets),
        reasoning=redact_reply(cleaned(thinking), secrets) if isinstance(thinking, str) else None,
        finish_reason=finish_reason,
        model=_word(envelope.get("model"), secrets),
        provider=_word(envelope.get("provider"), secrets),
        usage=_usage(envelope.get("usage")),
    )


def _text(content: object) -> str | None:
    """The text of a message: a string, nothing, or a list of typed parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
    return "".join(part for part in parts if isinstance(part, str))


def _word(value: object, secrets: tuple[str, ...]) -> str | None:
    if not isinstance(value, str):
        return None
    # Cut last: half a key would no longer be known as one.
    return redact_reply(" ".join(cleaned(value[:_READ]).split()), secrets)[:_WORD] or None


def _usage(usage: object) -> Usage:
    if not isinstance(usage, Mapping):
        return Usage()
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    cost = usage.get("cost")
    real = isinstance(cost, (int, float)) and not isinstance(cost, bool) and abs(cost) < 1e9 and math.isfinite(cost)
    return Usage(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        cached_tokens=_count(prompt.get("cached_tokens")) if isinstance(prompt, Mapping) else None,
        completion_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(completion.get("reasoning_tokens")) if isinstance(completion, Mapping) else None,
        cost_usd=float(cost) if real and cost is not None and cost >= 0 else None,
    )


def _count(value: object) -> int | None:
    """A number of tokens, or None for anything that cannot be one (NaN, -1, "12", true)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not value.is_integer():  # NaN and infinities are no integers either
        return None
    return int(value) if 0 <= value < 1e12 else None
