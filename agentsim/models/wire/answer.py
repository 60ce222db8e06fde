"""What the wires share in reading an answer: texts, words, numbers of tokens, and the finish reasons as data.

Whatever a server sends is made harmless here: cleaned, cut at `MOST_TEXT` bytes, and without keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from agentsim.engine.codec import parse_json
from agentsim.engine.prompt import cleaned
from agentsim.models.base import MOST_TEXT, Completion, Usage
from agentsim.models.faults import Faults
from agentsim.models.redaction import redact_reply

_WORD = 200  # characters of a model's, provider's or finish reason's name
_READ = 64 * 1024  # characters of such a name that are looked at

Ending: TypeAlias = Literal["whole", "cut", "filtered", "failed"]
"""How an answer ended: as the model wanted, at a limit, at a filter, or because the host broke down."""

# The words of public references, in lower case: OpenAI (chat, Responses), Anthropic, Gemini, Mistral, DeepSeek, Z.ai,
# vLLM, SGLang, llama.cpp, TGI, Ollama, Cohere, xAI, OpenRouter.
FINISH_REASONS: Final[Mapping[str, Ending]] = {
    **dict.fromkeys(
        (
            "stop",
            "stop_sequence",
            "end_turn",
            "eos",
            "eos_token",
            "completed",
            "complete",
            "finish",
            "finished",
            "done",
        ),
        "whole",
    ),
    **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call", "pause_turn"), "whole"),
    **dict.fromkeys(
        (
            "length",
            "max_tokens",
            "max_output_tokens",
            "model_length",
            "model_context_window_exceeded",
            "context_length",
        ),
        "cut",
    ),
    **dict.fromkeys(("incomplete", "token_limit", "max_length", "load"), "cut"),
    **dict.fromkeys(
        ("content_filter", "content_filtered", "sensitive", "safety", "refusal", "recitation", "blocklist"), "filtered"
    ),
    **dict.fromkeys(("prohibited_content", "spii", "image_safety", "guardrail_intervened", "error_toxic"), "filtered"),
    **dict.fromkeys(
        ("error", "network_error", "insufficient_system_resource", "abort", "aborted", "cancelled", "failed", "other"),
        "failed",
    ),
}


def ending(finish_reason: str | None) -> Ending | None:
    """Return how an answer with this finish reason ended, or None for a word that no table knows."""
    return "whole" if finish_reason is None else FINISH_REASONS.get(finish_reason.lower())


class Parts(NamedTuple):
    """The parts of one answer, as its wire names them; `arguments` are those of function calls, in order."""

    text: str
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: object = None
    arguments: Sequence[object] = ()
    model: object = None
    provider: object = None
    usage: Usage = Usage()


def completion_of(parts: Parts, faults: Faults, function: str | None) -> Completion:
    """Return the completion that the parts of an answer make. With a `function`, its arguments are the text.

    Raises `ModelError` if the host says that it broke down.
    """
    secrets = faults.secrets  # a proxy may echo its headers, and what is returned here lands in the history
    finish_reason = word(parts.finish_reason, secrets)
    ended = ending(finish_reason)
    if ended == "failed":
        raise faults.broken_off(finish_reason or "")
    text, declined = parts.text, parts.refusal or ""
    empty = not text.strip() and not parts.arguments
    made = Completion(
        text=kept(declined if empty else text, secrets),
        reasoning=None if parts.reasoning is None else kept(parts.reasoning, secrets),
        finish_reason=finish_reason,
        model=word(parts.model, secrets),
        provider=word(parts.provider, secrets),
        usage=parts.usage,
        refusal="content_filter"
        if ended == "filtered" and (empty or finish_reason == "content_filter")
        else "refusal"
        if declined and empty
        else None,
    )
    if function is None or made.refusal is not None:
        return made if text.strip() or not parts.arguments else _called(made, parts.arguments, None, faults)
    return _called(made, parts.arguments or [text], function, faults)


def _called(made: Completion, arguments: Iterable[object], function: str | None, faults: Faults) -> Completion:
    """Return the completion whose text is what a function is called with: of several calls, the first JSON object.

    One function is offered and forced, so its name does not matter. What is said beside the call is no decision.
    Arguments that are no JSON are left to the reader of replies, if they begin like an object.
    """
    objects = [text for text in map(_as_text, arguments) if text.lstrip().startswith("{")]
    if not objects:
        named = f"the function {function}" if function else "a function"
        return replace(made, unusable=f"The reply does not call {named} with a JSON object.")
    return replace(made, text=kept(next(filter(_is_object, objects), objects[0]), faults.secrets))


def _as_text(arguments: object) -> str:
    """Return the arguments of a call as text: an object is written out, and one that was encoded twice read once."""
    if isinstance(arguments, str):
        if arguments.lstrip().startswith('"'):
            try:
                inner = parse_json(arguments)
            except (ValueError, RecursionError):
                return arguments
            return inner if isinstance(inner, str) else arguments
        return arguments
    return json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, dict) else ""


def _is_object(text: str) -> bool:
    try:
        return isinstance(parse_json(text), dict)
    except (ValueError, RecursionError):
        return False


def kept(words: str, secrets: tuple[str, ...]) -> str:
    """Return a model's words as they are kept: clean, without secrets, and at most `MOST_TEXT` bytes of them."""
    begun = redact_reply(cleaned(words[: 2 * MOST_TEXT]), secrets)
    if len(words) > 2 * MOST_TEXT and len(begun.encode()) <= MOST_TEXT:
        begun = redact_reply(cleaned(words), secrets)  # of its beginning, little was left
    content = begun.encode()
    if len(content) <= MOST_TEXT:
        return begun
    whole = words.encode("utf-8", "surrogatepass")
    mark = f"[cut: {MOST_TEXT:,} of {len(whole):,} bytes are kept; SHA-256 of all: {hashlib.sha256(whole).hexdigest()}]"
    return f"{content[:MOST_TEXT].decode('utf-8', 'ignore')}\n{mark}"


def word(value: object, secrets: tuple[str, ...]) -> str | None:
    """Return a short name on one line, or None."""
    if not isinstance(value, str):
        return None
    # Cut last: half a key would no longer be known as one.
    return redact_reply(" ".join(cleaned(value[:_READ]).split()), secrets)[:_WORD] or None


def texts(content: object, of: Callable[[str], bool]) -> Iterator[str]:
    """Yield the texts of a message's content: of a string, or of parts whose `type` is one of those wanted."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        yield from texts([content], of)
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, str):
                yield part
            elif isinstance(part, Mapping) and of(str(part.get("type", "text"))):
                for key in ("text", "content", "thinking", "reasoning", "summary"):
                    if part.get(key):
                        yield from texts(part[key], of)
                        break


def count(value: object) -> int | None:
    """Return a number of tokens, or None for anything that cannot be one (NaN, -1, "12", true)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not value.is_integer():  # NaN and infinities are no integers either
        return None
    return int(value) if 0 <= value < 1e12 else None


def dollars(value: object, per_dollar: int = 1) -> float | None:
    """Return a cost in US dollars, or None for anything that cannot be one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value / per_dollar if 0 <= value < 1e9 * per_dollar else None  # not so for NaN


# Where hosts say how much of a prompt came from a cache: OpenAI, OpenRouter, Groq, Qwen, Z.ai; its Responses; Moonshot;
# DeepSeek; Anthropic, and gateways that pass its word on; Mistral; Gemini, and gateways that pass its word on.
_CACHED: Final = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("cached_tokens",),
    ("prompt_cache_hit_tokens",),
    ("cache_read_input_tokens",),
    ("prompt_tokens_details", "cache_read_input_tokens"),
    ("prompt_token_details", "cached_tokens"),
    ("num_cached_tokens",),
    ("cached_content_token_count",),
    ("cachedContentTokenCount",),
)
# Where hosts say what a call costs in US dollars: OpenRouter and Vercel, Perplexity, DeepInfra.
_COST: Final = (("cost",), ("cost", "total_cost"), ("estimated_cost",))
_TICKS: Final = 10_000_000_000  # xAI's, of a dollar (https://docs.x.ai/developers/cost-tracking)


def cached_tokens(said: object) -> int | None:
    """Return the cached tokens of the prompt that a usage states under any name, or None if it states none.

    Gateways fill OpenAI's field with 0 and pass the host's own on beside it, so the largest counts.
    """
    counts = (count(at(said, *path)) for path in _CACHED)
    return max((tokens for tokens in counts if tokens is not None), default=None)


def cost_usd(said: object) -> float | None:
    """Return the US dollars that a usage states, or None if it does not say all that is paid.

    With a key of one's own at the host behind it (`is_byok`) a gateway charges its fee alone, and the rest is paid to
    that host (https://openrouter.ai/docs/use-cases/usage-accounting). It also states that host's cost where it is
    contained in its own, so without a word about the key it is added only if it is more than the charge.
    """
    charges = (*(dollars(at(said, *path)) for path in _COST), dollars(at(said, "cost_in_usd_ticks"), _TICKS))
    charged = next((usd for usd in charges if usd is not None), None)
    own_key, upstream = at(said, "is_byok"), _upstream_usd(at(said, "cost_details"))
    if own_key is True:
        return None if upstream is None else (charged or 0.0) + upstream
    if own_key is None and upstream is not None and upstream > (charged or 0.0):
        return (charged or 0.0) + upstream
    return charged


def _upstream_usd(details: object) -> float | None:
    """Return what the host behind a gateway charges: the whole, or else the sum of its parts."""
    whole = dollars(at(details, "upstream_inference_cost"))
    sums = [
        None if None in parts else sum(filter(None, parts))
        for names in (("prompt", "completions"), ("input", "output"))
        for parts in [[dollars(at(details, f"upstream_inference_{name}_cost")) for name in names]]
    ]
    return max((usd for usd in (whole, *sums) if usd is not None), default=None)


def at(value: Any, *path: str) -> Any:
    """Return what stands at a path of keys, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
