"""What the wires share in reading an answer: texts, words and numbers of tokens.

Whatever a server sends is made harmless here: cleaned, cut at `MOST_TEXT` bytes, and without keys.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from agentsim.engine.codec import parse_json
from agentsim.engine.prompt import cleaned
from agentsim.models.base import MOST_TEXT, Completion, Usage
from agentsim.models.faults import Faults
from agentsim.models.finish_reasons import ending
from agentsim.models.redaction import redact_reply

_WORD = 200  # characters of a model's, provider's or finish reason's name
_MOST_LAYERS = 6  # how often an object may have been encoded
_READ = 64 * 1024  # characters of such a name that are looked at


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
    logprobs: Sequence[tuple[str, float]] = ()


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
        refusal="content_filter" if ended == "filtered" else "refusal" if declined and empty else None,
        logprobs=_kept_logprobs(parts.logprobs, secrets),
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
    """Return the arguments of a call as text: an object is written out, and one that was encoded again is decoded."""
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


def _kept_logprobs(
    logprobs: Sequence[tuple[str, float]], secrets: tuple[str, ...]
) -> tuple[tuple[str, float], ...] | None:
    """Return the tokens as they are kept, `MOST_TEXT` bytes at most; None if there are none or they spell a key."""
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
    """Yield the tokens and logarithms of probabilities that an answer gives, in one of the shapes of servers.

    `{"content": [{"token", "logprob"}]}` and the list in it (OpenAI), or `{"tokens", "token_logprobs"}` (Together,
    Fireworks). What is no token with a finite number of at most 0 is passed over.
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
                        yield from texts(part[key], lambda kind: True)
                        break


def count(value: object) -> int | None:
    """Return a number of tokens, or None for anything that cannot be one (NaN, -1, "12", true)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not value.is_integer():  # NaN and infinities are no integers either
        return None
    return int(value) if 0 <= value < 1e12 else None


def dollars(value: object) -> float | None:
    """Return a cost in US dollars, or None for anything that cannot be one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < 1e9 else None  # not so for NaN


def at(value: Any, *path: str) -> Any:
    """Return what stands at a path of keys, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
