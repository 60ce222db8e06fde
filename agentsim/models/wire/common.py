"""What the wires share: reading of texts, words and token counts in answers; schemas and extra fields of bodies.

Everything from a server is cleaned, cut at `MOST_TEXT` bytes and stripped of keys here.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from agentsim.engine.codec import parse_json
from agentsim.engine.prompt import cleaned
from agentsim.models.base import MOST_TEXT, Call, Completion, Usage
from agentsim.models.error_words import BASE_RESP, says_nothing
from agentsim.models.faults import Faults
from agentsim.models.finish_reasons import ending, is_call
from agentsim.models.keys import redact_reply
from agentsim.models.profiles import Profile

_WORD = 200  # characters of a model's, provider's or finish reason's name
_MOST_LAYERS = 6  # levels of repeated JSON encoding
_READ = 64 * 1024  # characters of such a name that are read

PartKind: TypeAlias = Literal["said", "thought", "refused", "called", "other"]
"""The kind of a part of a message; `other` is a kind that no table knows."""
# The kinds of parts, and the fields beside a content, as hosts name them: Anthropic (`thinking`, `tool_use`), OpenAI
# (`output_text`, `reasoning_text`, `summary_text`, `function_call`, `custom_tool_call`), OpenRouter (`reasoning.text`,
# `reasoning_details`), Mistral (`thinking`), DeepSeek and vLLM (`reasoning_content`), LiteLLM (`thinking_blocks`),
# Gemini (`functionCall`), Cohere (`tool_plan`).
_TEXT: Final = frozenset(("text", "output_text"))
_SAID: Final = re.compile(r"(\w+_)?text|message|markdown|answer|final", re.IGNORECASE)
_THOUGHT: Final = re.compile(
    r"(\w*[_.])?(reasoning|think(ing)?|thoughts?|chain_?of_?thought|summary_text|analysis|tool_plan)([_.A-Z]\w*)?",
    re.IGNORECASE,
)
_NO_THOUGHT: Final = re.compile(r"signature|encrypted|token|effort|budget|config|(^|_)ids?$", re.IGNORECASE)
_CALLED: Final = re.compile(r"function|custom|tool_use|(function|tool|custom_tool)_?call", re.IGNORECASE)
_ARGUMENTS: Final = ("arguments", "input", "parameters", "args")
_TEXTS: Final[Mapping[PartKind, Sequence[str]]] = {
    "said": ("text", "output_text", "content", "value", "parts"),
    "thought": ("text", "content", "summary", "value", "parts"),  # and the fields that hold thinking beside a content
    "refused": ("refusal", "text"),
    "called": (),
    "other": (),
}
# Fields that a text part may have. An object with other fields is not a part but data.
_OF_A_PART: Final = frozenset(
    (
        *(*_TEXTS["said"], "type", "id", "index", "role", "name", "status", "phase", "annotations", "citations"),
        *("logprobs", "cache_control", "thought", "signature", "thoughtSignature", "extra_content"),
    )
)
# Fields of parts that hold no text.
_FOREIGN: Final = frozenset(("image_url", "image", "audio", "input_audio", "file", "data", "url", "source"))


class Parts(NamedTuple):
    """The parts of one answer, as extracted by its wire.

    `arguments` are those of function calls, in order. `unknown` is the type of a part that no table knows.
    """

    text: str
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: object = None
    arguments: Sequence[object] = ()
    model: object = None
    provider: object = None
    usage: Usage = Usage()
    logprobs: Sequence[tuple[str, float]] = ()
    unknown: object = None


def completion_of(parts: Parts, faults: Faults, function: str | None) -> Completion:
    """Build the completion from the parts of an answer. With a `function`, its arguments are the text.

    Raises `ModelError` if the finish reason says that the host failed.
    """
    secrets = faults.secrets  # a proxy may echo headers, and this text is kept in the history
    finish_reason = word(reason_word(parts.finish_reason), secrets)
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
        refusal="content_filter" if ended == "filtered" else "refusal" if declined and empty else None,
        logprobs=_kept_logprobs(parts.logprobs, secrets),
        unknown=word(parts.unknown, secrets),
    )
    if made.refusal is not None or (function is None and not parts.arguments):
        return made
    if function is None:
        called = _called(made, parts.arguments, None, faults)
        # no call was requested: the text is the answer, unless the model stopped for the call
        return made if text.strip() and (called.unusable or not is_call(finish_reason)) else called
    return _called(made, parts.arguments or [text], function, faults)


def raise_stated_error(envelope: Mapping[str, Any], answer: object, faults: Faults) -> None:
    """Raise the `ModelError` for an error that a 200 states, on any wire. `answer` is the answer in the body, or None.

    Beside an answer, an error field that reports no error is ignored. Hosts state errors as `error`, as a status
    (MiniMax's `base_resp`, Baidu's `error_code`), as the reason for blocking a prompt (Gemini's `promptFeedback`), or
    as the whole body.
    """
    error = envelope.get("error")
    if error if answer is None else not says_nothing(error):
        raise faults.reported(error)
    status = envelope.get("base_resp")
    if isinstance(status, Mapping) and not says_nothing(status.get("status_code")):
        number = status.get("status_code")
        code = BASE_RESP.get(number) if isinstance(number, int) else None
        raise faults.reported({"code": code, "message": f"{status.get('status_msg') or 'no reason'} ({number})"})
    if not says_nothing(envelope.get("error_code")):
        raise faults.reported({key: envelope.get(key) for key in ("error_code", "error_msg")})
    if answer is not None:
        return
    feedback = envelope.get("promptFeedback") or envelope.get("prompt_feedback")
    blocked = at(feedback, "blockReason") or at(feedback, "block_reason")
    if isinstance(blocked, str):
        raise faults.reported({"code": "content_filter", "message": f"blocked: {blocked}"})
    if any(not says_nothing(envelope.get(key)) for key in _ERROR_BODY):
        raise faults.reported(envelope)


# Fields that mark the body of a 200 without an answer as an error: FastAPI, Cloudflare, vLLM, Z.ai and others.
_ERROR_BODY: Final = ("detail", "errors", "message", "msg")


def reason_word(said: object) -> str | None:
    """Return the finish reason as a word. SGLang and TGI give an object, other hosts a number or a list."""
    if isinstance(said, Mapping):
        said = next((said[key] for key in ("type", "reason", "name", "code", "value") if said.get(key)), None) or (
            json.dumps(said) if said else None
        )
    if isinstance(said, list):
        said = next(iter(said), None)
    if isinstance(said, str) or said is None:
        return said or None
    return str(said) if isinstance(said, int | float) else type(said).__name__


def _called(made: Completion, arguments: Iterable[object], function: str | None, faults: Faults) -> Completion:
    """Return the completion whose text is the arguments of a call: of several calls, the first JSON object.

    Only one function is offered, so its name is not checked, and text beside the call is dropped. Arguments that start
    like an object but are not valid JSON are left to the reader of replies.
    """
    objects = [text for text in map(_as_text, arguments) if text.lstrip().startswith("{")]
    if not objects:
        named = f"the function {function}" if function else "a function"
        return replace(made, unusable=f"The reply does not call {named} with a JSON object.")
    return replace(made, text=kept(next(filter(_is_object, objects), objects[0]), faults.secrets))


def _as_text(arguments: object) -> str:
    """Return the arguments of a call as text: objects are encoded, and text that was encoded again is decoded."""
    if isinstance(arguments, list) and len(arguments) == 1:
        arguments = arguments[0]
    if not isinstance(arguments, str):
        return json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, dict) else ""
    for _ in range(_MOST_LAYERS):
        if not arguments.lstrip().startswith('"'):
            break
        try:
            inner = parse_json(arguments)
        except (ValueError, RecursionError):
            break
        assert isinstance(inner, str), "it begins like a string"
        arguments = inner
    return arguments


def _is_object(text: str) -> bool:
    try:
        return isinstance(parse_json(text), dict)
    except (ValueError, RecursionError):
        return False


def kept(words: str, secrets: tuple[str, ...]) -> str:
    """Return a model's words for the history: cleaned, without secrets, and at most `MOST_TEXT` bytes plus a mark."""
    begun = redact_reply(cleaned(words[: 2 * MOST_TEXT]), secrets)
    if len(words) > 2 * MOST_TEXT and len(begun.encode()) <= MOST_TEXT:
        begun = redact_reply(cleaned(words), secrets)  # little of the beginning was left
    content = begun.encode()
    if len(content) <= MOST_TEXT:
        return begun
    whole = words.encode("utf-8", "surrogatepass")
    mark = f"[cut: {MOST_TEXT:,} of {len(whole):,} bytes are kept; SHA-256 of all: {hashlib.sha256(whole).hexdigest()}]"
    return f"{content[:MOST_TEXT].decode('utf-8', 'ignore')}\n{mark}"


def _kept_logprobs(
    logprobs: Sequence[tuple[str, float]], secrets: tuple[str, ...]
) -> tuple[tuple[str, float], ...] | None:
    """Return at most `MOST_TEXT` bytes of tokens with log probabilities, or None if they spell a key or none came."""
    said = "".join(token for token, _ in logprobs)
    if not logprobs or redact_reply(said, secrets) != said:
        return None
    found: list[tuple[str, float]] = []
    left = MOST_TEXT
    for token, logprob in logprobs:
        clean = cleaned(token.encode("utf-8", "replace").decode())
        left -= len(clean.encode())
        if left < 0:
            break
        found.append((clean, round(logprob, 6)))
    return tuple(found)


def logprobs_in(said: object) -> Iterator[tuple[str, float]]:
    """Yield the tokens of an answer with their log probabilities, in any of the shapes that servers use.

    `{"content": [{"token", "logprob"}]}` and the list in it (OpenAI), or `{"tokens", "token_logprobs"}` (Together,
    Fireworks). An entry without a finite log probability of at most 0 is skipped.
    """
    entries: object = said
    if isinstance(said, Mapping):
        entries = said.get("content")
        tokens, numbers = said.get("tokens"), said.get("token_logprobs")
        if isinstance(tokens, list) and isinstance(numbers, list) and not isinstance(entries, list):
            entries = [{"token": token, "logprob": number} for token, number in zip(tokens, numbers, strict=False)]
    for entry in entries if isinstance(entries, list) else ():
        token, logprob = at(entry, "token"), at(entry, "logprob")
        number = logprob if isinstance(logprob, int | float) and not isinstance(logprob, bool) else math.nan
        if isinstance(token, str) and -math.inf < number <= 0:
            yield token, float(number)


def word(value: object, secrets: tuple[str, ...]) -> str | None:
    """Return a short name on one line, or None."""
    if not isinstance(value, str):
        return None
    # Cut last: redaction would not recognize half a key.
    return redact_reply(" ".join(cleaned(value[:_READ]).split()), secrets)[:_WORD] or None


def sayings(content: object) -> Iterator[tuple[PartKind, str]]:
    """Yield the texts of a message's content (a string, a part, or a list of these), each with its kind.

    For an `other` part with text, the text is the name of its type. An object that is not a part is the answer itself.
    """
    if isinstance(content, str):
        yield "said", content
    elif isinstance(content, list):
        for part in content:
            yield from _saying_among(part) if len(content) > 1 else sayings(part)
    elif isinstance(content, Mapping):
        kind = kind_of(content)
        if kind is None:
            yield "said", json.dumps(content, ensure_ascii=False)
        elif kind == "other":
            if any(words_in(content.get(key)) for key in _TEXTS["said"]):
                yield "other", str(content.get("type"))
        else:
            yield from _sayings_of(kind, content)


def _saying_among(part: object) -> Iterator[tuple[PartKind, str]]:
    """Yield the texts of one part of several: a part of a kind that no table knows is left out, and named."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    if isinstance(part, Mapping) and isinstance(kind, str) and kind_of(part) is None:
        yield "other", kind
    else:
        yield from sayings(part)


def _sayings_of(kind: PartKind, part: Mapping[str, Any]) -> Iterator[tuple[PartKind, str]]:
    if kind == "thought":  # all of its text
        yield kind, words_in(part)
    elif found := next((found for key in _TEXTS[kind] if (found := part.get(key))), None):
        yield from sayings(found) if kind == "said" else ((kind, words_in(found)),)


def said_as(found: Iterable[tuple[PartKind, str]], kind: PartKind) -> str | None:
    """Join the texts of one kind, or return None if there are none."""
    return "".join(text for each, text in found if each == kind) or None


def unknown_in(found: Iterable[tuple[PartKind, str]]) -> str | None:
    """Return the name of the first part type that no table knows, or None."""
    return next((text for kind, text in found if kind == "other"), None)


def words_in(content: object) -> str:
    """Return all text in a content, whatever its parts are called."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(map(words_in, content))
    if not isinstance(content, Mapping):
        return ""
    return thought_beside(content) or next(filter(None, (words_in(content.get(key)) for key in _TEXTS["thought"])), "")


def kind_of(part: Mapping[str, Any]) -> PartKind | None:
    """Return the kind of a part of a content, or None for an object that is not a part.

    A part has a `type`, or no fields besides those of a text part. Gemini marks a thought by `thought`.
    """
    if (
        part.get("thought") in (True, "true")
        or part.get("is_thought") is True
        or at(part, "extra_content", "google", "thought") is True
    ):
        return "thought"
    said = part.get("type")
    plain = part.keys() <= _OF_A_PART
    if not isinstance(said, str):
        if any(_CALLED.fullmatch(key) for key in part):
            return "called"
        return "said" if plain and any(key in part for key in _TEXTS["said"]) else None
    if _CALLED.fullmatch(said):
        return "called"
    if _THOUGHT.fullmatch(said):
        return "thought"
    if said in _TEXT or (plain and _SAID.fullmatch(said)):
        return "said"
    if said == "refusal":
        return "refused"
    return "other" if plain or part.keys() & _FOREIGN else None


def thought_beside(message: Mapping[str, Any]) -> str | None:
    """Return the thinking in a field beside the content of a message, or None.

    If two fields repeat it, the first counts.
    """
    fields = (words_in(message[key]) for key in message if _THOUGHT.fullmatch(key) and not _NO_THOUGHT.search(key))
    return next(filter(None, fields), None)


def arguments_of(calls: object) -> Iterator[object]:
    """Yield the arguments of one function call or a list of calls, in any of the shapes that hosts use."""
    if isinstance(calls, str):
        try:
            calls = parse_json(calls)
        except (ValueError, RecursionError):
            return
    for call in calls if isinstance(calls, list) else [calls]:
        if isinstance(call, Mapping):
            inner = next((call[key] for key in call if _CALLED.fullmatch(key) and isinstance(call[key], Mapping)), call)
            yield from (inner[key] for key in _ARGUMENTS if inner.get(key) is not None)


def count(value: object) -> int | None:
    """Return a number of tokens, or None for a value that cannot be one (NaN, -1, "12", true)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not value.is_integer():  # NaN and infinities are no integers either
        return None
    return int(value) if 0 <= value < 1e12 else None


def dollars(value: object, per_dollar: int = 1) -> float | None:
    """Return a cost in US dollars, or None for a value that cannot be one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value / per_dollar if 0 <= value < 1e9 * per_dollar else None  # False for NaN


# The fields for cached tokens: OpenAI, OpenRouter, Groq, Qwen, Z.ai; OpenAI's Responses; Moonshot; DeepSeek; Anthropic,
# and gateways that pass its field on; Mistral; Gemini, and gateways that pass its field on.
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
# The fields for the cost in US dollars: OpenRouter and Vercel, Perplexity, DeepInfra.
_COST: Final = (("cost",), ("cost", "total_cost"), ("estimated_cost",))
_TICKS: Final = 10_000_000_000  # xAI's, of a dollar (https://docs.x.ai/developers/cost-tracking)


def cached_tokens(said: object) -> int | None:
    """Return the cached tokens of the prompt under any of their names, or None if the usage states none.

    Gateways set OpenAI's field to 0 and pass on the host's own, so the largest counts.
    """
    counts = (count(at(said, *path)) for path in _CACHED)
    return max((tokens for tokens in counts if tokens is not None), default=None)


def cache_write_tokens(said: object) -> int | None:
    """Return the tokens of the prompt that were written to a cache, or None if the usage states none.

    The fields are Anthropic's, which gateways pass on, and OpenRouter's
    (https://openrouter.ai/docs/features/prompt-caching).
    """
    paths = (("cache_creation_input_tokens",), ("prompt_tokens_details", "cache_write_tokens"))
    return max((tokens for path in paths if (tokens := count(at(said, *path)))), default=None)


def cost_usd(said: object) -> float | None:
    """Return the US dollars that a usage states, or None if it does not state everything that is paid.

    With the user's own key at the host (`is_byok`) a gateway charges only its fee, and the user pays that host for the
    rest (https://openrouter.ai/docs/use-cases/usage-accounting). A gateway also states the host's cost if its own
    charge includes it. So if the usage does not mention the key, the host's cost is added only if it exceeds the
    charge.
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
    """Return the cost at the host behind a gateway, or None.

    That is the stated total or the sum of stated parts, whichever is the largest.
    """
    whole = dollars(at(details, "upstream_inference_cost"))
    sums = [
        None if None in parts else sum(filter(None, parts))
        for names in (("prompt", "completions"), ("input", "output"))
        for parts in [[dollars(at(details, f"upstream_inference_{name}_cost")) for name in names]]
    ]
    return max((usd for usd in (whole, *sums) if usd is not None), default=None)


def at(value: Any, *path: str) -> Any:
    """Return the value at a path of keys, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def merge(body: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Merge nested tables into a body, so that a routing preference does not undo `require_parameters`.

    A table whose `type` differs (a response format, a choice of tools) replaces the old one.
    """
    for key, value in more.items():
        if isinstance(value, Mapping):
            inner = body.get(key)
            inner = inner if isinstance(inner, Mapping) else {}
            another = {"type"} <= value.keys() & inner.keys() and value["type"] != inner["type"]
            merged = {} if another else dict(inner)
            merge(merged, value)
            body[key] = merged
        else:
            body[key] = value


def forced_function(profile: Profile, call: Call) -> str | None:
    """Return the function whose arguments the reply must be, or None outside the `tool` mode."""
    return wire_name(call) if call.schema is not None and profile.structured == "tool" else None


def wire_name(call: Call) -> str:
    """Return the name of the schema, or of the function that replaces it."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", call.schema_name)[:64] or "decision"


_LATEST: list[tuple[Mapping[str, Any], Set[str], dict[str, Any], bool]] = []


def sent_schema(schema: Mapping[str, Any], strip: Set[str]) -> tuple[dict[str, Any], bool]:
    """Return a schema as it is sent, and whether it is closed.

    The latest result is cached: a society asks a hundred agents with one schema, and preparing it took a third of the
    CPU.
    """
    if not _LATEST or _LATEST[0][0] is not schema or _LATEST[0][1] != strip:
        sent = portable(schema, strip)
        _LATEST[:] = [(schema, strip, sent, _closed(sent))]
    return _LATEST[0][2:]


def portable(schema: Mapping[str, Any], strip: Set[str]) -> dict[str, Any]:
    """Return the schema without these keywords (property names are not keywords), and with `const` as `enum`."""
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key in strip:
            continue
        if key in {"properties", "$defs"} and isinstance(value, dict):
            out[key] = {name: portable(part, strip) for name, part in value.items()}
        elif key == "const":
            out["enum"] = [value]
        elif key in {"enum", "required"}:
            out[key] = value
        elif isinstance(value, dict):
            out[key] = portable(value, strip)
        elif isinstance(value, list):
            out[key] = [portable(part, strip) if isinstance(part, dict) else part for part in value]
        else:
            out[key] = value
    return out


def _closed(schema: Any) -> bool:
    """Return whether every object requires all its properties and allows no others."""
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
