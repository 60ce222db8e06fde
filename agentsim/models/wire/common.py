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
from agentsim.engine.functions import is_other_tool, is_thinking, may_answer, plain_name
from agentsim.engine.wording import cleaned
from agentsim.models.base import FINISH_REASONS, MOST_TEXT, Call, Completion, Usage, ending, is_call
from agentsim.models.faults import ErrorFactory
from agentsim.models.host_words import BASE_RESP, SAYS_NOTHING, normalized_code
from agentsim.models.keys import redact_reply
from agentsim.models.profiles import Profile
from agentsim.patterns import Pattern

_WORD = 200  # characters of a model's, provider's or finish reason's name
_MOST_LAYERS = 6  # levels of repeated JSON encoding
_READ = 64 * 1024  # characters of such a name that are read

PartKind: TypeAlias = Literal["said", "thought", "refused", "called", "other"]
"""The kind of a part of a message; `other` is of a kind that no table knows, or of another role."""
# The kinds of parts, and the fields beside a content, as hosts name them: Anthropic (`thinking`, `tool_use`), OpenAI
# (`output_text`, `reasoning_text`, `summary_text`, `function_call`, `custom_tool_call`), OpenRouter (`reasoning.text`,
# `reasoning_details`), Mistral (`thinking`), DeepSeek and vLLM (`reasoning_content`), LiteLLM (`thinking_blocks`),
# Gemini (`functionCall`), Bedrock (`toolUse`), Cohere (`tool_plan`).
_TEXT: Final = frozenset(("text", "output_text"))
_SAID: Final = Pattern(r"(\w+_)?text|message|markdown|answer|final", re.IGNORECASE)
_THOUGHT: Final = Pattern(
    r"(\w*[_.])?(reasoning|think(ing)?|thoughts?|chain_?of_?thought|summary_text|analysis|tool_plan)([_.A-Z]\w*)?",
    re.IGNORECASE,
)
_NO_THOUGHT: Final = Pattern(r"signature|encrypted|token|effort|budget|config|(^|_)ids?$", re.IGNORECASE)
_CALLED: Final = Pattern(r"function|custom|tool_?use|(function|tool|custom_tool)_?calls?", re.IGNORECASE)
_ARGUMENTS: Final = ("arguments", "input", "parameters", "args")
# Roles, phases and channels, by which a message or a part says whose turn and which step of it it belongs to: OpenAI
# (`phase`, the roles of conversations), openai/harmony docs/format.md (`channel`, `recipient`), Anthropic, Gemini
# (`model`), Cohere (`CHATBOT`), ShareGPT (`gpt`), GigaChat (`function_in_progress`).
_OWN_ROLES: Final = frozenset(("assistant", "model", "ai", "bot", "chatbot", "agent", "gpt", "llm"))
_OTHER_ROLES: Final = frozenset(
    (
        *("user", "human", "system", "developer", "tool", "function", "observation", "environment", "ipython"),
        *("critic", "discriminator", "function_in_progress"),
    )
)
_OF_AN_INPUT: Final = _OTHER_ROLES | {"input", "prompt", "query", "question", "request", "instruction", "instructions"}
_FINAL: Final = frozenset(
    ("final", "answer", "final_answer", "response", "output", "message", "text", "completed", "done")
)
_BEFORE_IT: Final = frozenset(("commentary", "preamble", "plan", "planning", "reflection", "draft", "think"))
# Fields of a text that may say which step it is, besides `phase` and `channel`, and flags of hidden text.
_STEP_FIELDS: Final = frozenset(("kind", "subtype", "category", "name", "label", "stage", "step"))
_HIDDEN: Final = Pattern(r"(is_?)?(hidden|internal|private)", re.IGNORECASE)
_TO_EVERYONE: Final = frozenset(("all", "user", "human"))
# Text that may hold a call or an object instead of words: `{"vote": ...}`, `<invoke name="vote">`, `vote(vote="C")`.
_MAY_HOLD_A_CALL: Final = Pattern(
    r"[{｛]|<[^<>\n]{0,200}[=|｜‖][^<>\n]{0,200}>|<\w*(tool|function|call)\w*>|\[TOOL_CALLS\]|\w\(\s*\w+\s*=",
    re.I,
)
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
        *(*_TEXTS["said"], "type", "id", "index", "role", "name", "status", "phase", "channel", "recipient"),
        *("author", "content_type", "annotations", "citations"),
        *("logprobs", "cache_control", "thought", "signature", "thoughtSignature", "extra_content"),
    )
)
# Fields of parts that hold no text.
_FOREIGN: Final = frozenset(("image_url", "image", "audio", "input_audio", "file", "data", "url", "source"))


class Function(NamedTuple):
    """The function, or the schema of its name, that a reply is asked for with. `forced` says that it must be called."""

    name: str
    forced: bool
    schema: Mapping[str, Any]


class FunctionCall(NamedTuple):
    """A call of a function by a model: the name as the host gives it, or "", and the arguments in any shape."""

    name: str
    arguments: object


class AnswerParts(NamedTuple):
    """The parts of one answer, as extracted by its wire.

    `calls` are function calls, in order. `unknown` is the kind of a part that is left out, since no table knows it or
    since it is another role's.
    """

    text: str
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: object = None
    calls: Sequence[FunctionCall] = ()
    model: object = None
    served_by: object = None
    usage: Usage = Usage()
    logprobs: Sequence[tuple[str, float]] = ()
    unknown: object = None


_SURELY_REPEATED: Final = 20  # characters


def without_reasoning(text: str, reasoning: str) -> str:
    """Return a text without the reasoning of the same answer at its beginning, which some hosts repeat there.

    Blanks may differ. Reasoning of few characters is repeated only if a line or the text ends behind it.
    """
    position = 0
    for said in reasoning.split():
        position = _BLANKS.match(text, position).end()  # type: ignore[union-attr] # it matches everywhere
        if not text.startswith(said, position):
            return text
        position += len(said)
    rest = text[position:]
    surely = len(reasoning) >= _SURELY_REPEATED or not rest.strip(" \t") or rest.lstrip(" \t").startswith("\n")
    return rest.lstrip() if position and surely else text


_BLANKS: Final = Pattern(r"\s*")
_CLOSING: Final = Pattern(r"[\s\"\]}]+\Z")


def completion_of(parts: AnswerParts, faults: ErrorFactory, function: Function | None) -> Completion:
    """Build the completion from the parts of an answer. If a `function` is forced, its arguments are the text.

    Raises `ModelError` if the finish reason says that the host failed.
    """
    secrets = faults.secrets  # a proxy may echo headers, and this text is kept in the history
    finish_reason = word(reason_word(parts.finish_reason), secrets)
    ended = ending(finish_reason)
    if ended == "failed":
        raise faults.broken_off(finish_reason or "")
    text, declined = without_reasoning(parts.text, parts.reasoning or ""), parts.refusal or ""
    thinking = [call for call in parts.calls if _is_thinking(call, function)]
    calls = [call for call in parts.calls if not (_is_thinking(call, function) or _is_none(call))]
    reasoning = "".join(filter(None, (parts.reasoning, *(_as_text(call.arguments) for call in thinking)))) or None
    repeats = bool(parts.text.strip()) and not text.strip()
    text = parts.text if repeats and not calls else text
    empty = not text.strip() and not calls
    unusable = "The reply is only its reasoning again. Answer below it." if repeats and not calls else None
    if ended == "malformed":  # the text is what stands before the call, and may be half a sentence
        unusable = "The reply ends with a function call that cannot be read. Answer without it."
    answers = [call for call in calls if _may_answer(call, function)]
    made = Completion(
        text=storable(declined if empty else text, secrets),
        reasoning=None if reasoning is None else storable(reasoning, secrets),
        finish_reason=finish_reason,
        model=word(parts.model, secrets),
        served_by=word(parts.served_by, secrets),
        usage=parts.usage,
        refusal="content_filter" if ended == "filtered" else "refusal" if declined and empty else None,
        logprobs=_kept_logprobs(parts.logprobs, secrets),
        unknown=word(parts.unknown, secrets),
        unusable=unusable,
    )
    forced = function is not None and function.forced
    if made.refusal is not None or made.unusable is not None or not (forced or calls):
        return made
    arguments = _arguments(answers, function)
    if ended in {"cut", "full"} and arguments is not None and not any(isinstance(c.arguments, str) for c in answers):
        arguments = _CLOSING.sub("", arguments)  # the host has parsed the half, and closed what stood open
    # A text beside the call of what was asked for is a preamble.
    if arguments is not None and (function is not None or not text.strip() or is_call(finish_reason)):
        return replace(made, text=storable(arguments, secrets))
    # Without a call, the text is the answer; of a forced one, if the server left it in the text as the model wrote it.
    # A text beside a call of something else, with arguments, is none: it goes with that call, however the answer ended.
    elsewhere = any(_as_text(call.arguments).strip() for call in calls)
    if _MAY_HOLD_A_CALL.search(text) if forced else text.strip() and not elsewhere:
        return made
    named = f"the function {function.name}" if function is not None and forced else "a function"
    return replace(made, unusable=f"The reply does not call {named} with a JSON object.")


def raise_stated_error(envelope: Mapping[str, Any], answer: object, faults: ErrorFactory) -> None:
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


def says_nothing(said: object, depth: int = 0) -> bool:
    """Return whether an error field reports no error.

    It is null, empty, the code 0 or 200, a word such as "success", or an object or list of only these.
    """
    if isinstance(said, str):
        return said.strip().lower().rstrip(".!") in SAYS_NOTHING
    if isinstance(said, Mapping) and depth < 8:
        told = [value for key, value in said.items() if normalized_code(str(key)) in _TOLD] or list(said.values())
        return all(says_nothing(value, depth + 1) for value in told)
    if isinstance(said, list) and depth < 8:
        return all(says_nothing(value, depth + 1) for value in said[:64])
    return not said or (not isinstance(said, bool) and said == 200)


_TOLD: Final = frozenset(
    (
        *("code", "type", "status", "message", "msg", "detail", "error", "errors", "status_code", "status_msg"),
        *("error_code", "error_msg", "error_message", "reason", "title", "description"),
    )
)


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


def _arguments(calls: Sequence[FunctionCall], function: Function | None) -> str | None:
    """Return the arguments of the call that is the answer, or None if no call holds an object.

    Of several calls that is one with the function's name, else one with a field of its schema, else the first; one with
    valid JSON comes before one without, whose arguments are left to the reader of replies. If several calls are alike
    and differ in their arguments, all of them are the text, as a list, which the reader judges.
    """
    objects = [(call, text) for call in calls if "{" in (text := _as_text(call.arguments))]
    if len(objects) < 2:
        return objects[0][1] if objects else None
    fields = frozenset(() if function is None else _fields_of(function.schema))

    def rank(each: tuple[FunctionCall, str]) -> tuple[bool, bool, bool]:
        call, text = each
        found = _object(text)
        return not _is_named(call, function), not fields & found.keys() if found else True, found is None

    best = min(map(rank, objects))
    texts = list(dict.fromkeys(each[1] for each in objects if rank(each) == best))
    found = [_object(text) for text in texts]
    return texts[0] if len(texts) == 1 or None in found else json.dumps(found, ensure_ascii=False)


def _fields_of(schema: object) -> Iterator[str]:
    """Yield the names of all properties in a schema."""
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, Mapping) else ()
        for value in schema.values():
            yield from _fields_of(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _fields_of(value)


def _is_named(call: FunctionCall, function: Function | None) -> bool:
    return function is not None and plain_name(call.name) == plain_name(function.name)


def _may_answer(call: FunctionCall, function: Function | None) -> bool:
    """Return whether a call may be the answer.

    The name of a forced function does not matter, unless it is that of another tool. If none is forced, the model has
    made up a function: its name must be the one asked for, or say only that it answers, since its words are heard by
    others. One or two letters are no name.
    """
    if function is not None and function.forced and not _is_named(call, function):
        return not is_other_tool(call.name)
    return may_answer(call.name, () if function is None else (function.name,))


def _is_none(call: FunctionCall) -> bool:
    """Return whether a call has neither a name nor arguments, as some hosts put beside every text."""
    return not call.name.strip() and _as_text(call.arguments).strip() in {"", "{}"}


def _is_thinking(call: FunctionCall, function: Function | None) -> bool:
    """Return whether a call is of a tool for thinking aloud, and so not the answer."""
    return is_thinking(call.name) and not _is_named(call, function)


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


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = parse_json(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def storable(words: str, secrets: tuple[str, ...]) -> str:
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


def message_parts(message: Mapping[str, Any]) -> Iterator[tuple[PartKind, str]]:
    """Yield the texts of a message's content, each with its kind.

    A message of another role, to a function, or of a step before the answer has no words of the player.
    """
    content, role = content_of(message), kind_by_role(message)
    if role is None:
        yield from typed_parts(content)
    elif role != "called" and (words := words_in(content)):
        yield role, _name_of(message) if role == "other" else words


def content_of(message: Mapping[str, Any]) -> object:
    """Return the content of a message, which Gemini calls its parts; of one in speech, the transcript."""
    found = (message.get("content"), message.get("parts"), at(message.get("audio"), "transcript"))
    return next((content for content in found if content is not None), None)


def parts_of(content: object) -> list[Mapping[str, Any]]:
    """Return the parts of a content that are objects."""
    return [part for part in (content if isinstance(content, list) else [content]) if isinstance(part, Mapping)]


def typed_parts(content: object) -> Iterator[tuple[PartKind, str]]:
    """Yield the texts of a message's content (a string, a part, or a list of these), each with its kind.

    For an `other` part with text, the text is the name of its kind. An object that is not a part is the answer itself.
    """
    if isinstance(content, str):
        yield "said", content
    elif isinstance(content, list):
        for part in content:
            yield from _parts_among(part) if len(content) > 1 else typed_parts(part)
    elif isinstance(content, Mapping):
        kind = kind_of(content)
        if kind is None:
            yield "said", json.dumps(content, ensure_ascii=False)
        elif kind == "other":
            if words_in(content) or any(words_in(content.get(key)) for key in _TEXTS["said"]):
                yield "other", _name_of(content)
        else:
            yield from _parts_of_kind(kind, content)


def _parts_among(part: object) -> Iterator[tuple[PartKind, str]]:
    """Yield the texts of one part of several: a part of a kind that no table knows is left out, and named."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    if isinstance(part, Mapping) and isinstance(kind, str) and kind_of(part) is None:
        yield "other", kind
    else:
        yield from typed_parts(part)


def _parts_of_kind(kind: PartKind, part: Mapping[str, Any]) -> Iterator[tuple[PartKind, str]]:
    if kind == "thought":  # all of its text
        yield kind, words_in(part)
    elif found := next((found for key in _TEXTS[kind] if (found := part.get(key))), None):
        yield from typed_parts(found) if kind == "said" else ((kind, words_in(found)),)


def without_preambles(found: Iterable[tuple[PartKind, str]]) -> list[tuple[PartKind, str]]:
    """Return the texts of an answer, of which words before more thinking and further words are thinking, too.

    So are words before a refusal. Thinking may come encrypted, without a text.
    """
    texts = list(found)
    last = max((index for index, (kind, text) in enumerate(texts) if kind == "said" and text.strip()), default=-1)
    thought = [index for index, (kind, _) in enumerate(texts) if kind == "thought"]
    refused = [index for index, (kind, text) in enumerate(texts) if kind == "refused" and text.strip()]
    begins = max((*(index for index in thought if index < last), *refused), default=0)
    return [
        ("thought", text) if kind == "said" and index < begins else (kind, text)
        for index, (kind, text) in enumerate(texts)
    ]


def text_of_kind(found: Iterable[tuple[PartKind, str]], kind: PartKind) -> str | None:
    """Join the texts of one kind, or return None if there are none."""
    return "".join(text for each, text in found if each == kind) or None


def unknown_text(found: Iterable[tuple[PartKind, str]]) -> str | None:
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

    A part has a `type`, or no fields besides those of a text part.
    """
    role, plain, said = kind_by_role(part), part.keys() <= _OF_A_PART, part.get("type")
    if role is not None:
        return role
    if not isinstance(said, str):
        if any(_CALLED.fullmatch(key) for key in part):
            return "called"
        if _is_thinking_alone(part):
            return "thought"
        return "said" if plain and any(key in part for key in _TEXTS["said"]) else None
    if said in _TEXT or (plain and _SAID.fullmatch(said)):
        return "said"
    if said == "refusal":
        return "refused"
    return "other" if plain or part.keys() & _FOREIGN else None


def _is_thinking_alone(part: Mapping[str, Any]) -> bool:
    """Return whether an object without a type has a field of thinking, and no other text: `{"thinking": ...}`."""
    fields = {key: _THOUGHT.fullmatch(key) is not None or _NO_THOUGHT.search(key) is not None for key in part}
    others = {key for key, thinks in fields.items() if not thinks}
    return thought_beside(part) is not None and others <= _OF_A_PART and not others & set(_TEXTS["said"])


def kind_by_role(part: Mapping[str, Any]) -> PartKind | None:
    """Return `thought`, `called` or `other` if a message's or part's type, role, recipient or step says so.

    None is for the words of the model's answer, and for an object that is no message or part: a field `role` of a
    decision says nothing. A role, phase or channel that no table knows is another's.
    """
    flags = {key for key, value in part.items() if value in (True, "true") and key not in _OF_A_PART | {"thought"}}
    plain = part.keys() - flags - _STEP_FIELDS <= _OF_A_PART
    is_message = "content" in part or "parts" in part or (plain and ("text" in part or "type" in part))
    author = _field_word(part, "author") or _field_word(part.get("author"), "role")
    role = _field_word(part, "role") or author
    kind = said if isinstance(said := part.get("type"), str) else ""
    thinks, words = _THOUGHT.fullmatch(kind) is not None, frozenset(_words_of(kind))
    is_named = is_message and (kind or "text" not in part)  # a decision may have a `text` and such a field
    if role in _OTHER_ROLES or (role and role not in _OWN_ROLES and is_named):
        return "other"
    if _CALLED.fullmatch(kind):
        return "called"
    if is_message and plain and not thinks and words & _OF_AN_INPUT:
        return "other"
    if is_message and _recipient_of(part):
        return "called"
    hidden = any(_THOUGHT.fullmatch(key.removeprefix("is_")) or _HIDDEN.fullmatch(key) for key in flags)
    if thinks or part.get("thought") in (True, "true") or at(part, "extra_content", "google", "thought") is True:
        return "thought"
    steps = [step for key in ("phase", "channel") if (step := _field_word(part, key))]
    named = [step for key in _STEP_FIELDS if (step := _field_word(part, key))]
    if any(step in _BEFORE_IT or _THOUGHT.fullmatch(step) for step in (*steps, *(named if is_message else ()))):
        return "thought"
    if is_message and plain and (hidden or words & _BEFORE_IT):
        return "thought"
    return "other" if is_named and not _FINAL.issuperset(steps) else None


def _recipient_of(message: Mapping[str, Any]) -> str:
    """Return the function that a message is for, or ""."""
    recipient = _field_word(message, "recipient")
    return "" if recipient in _TO_EVERYONE | _OWN_ROLES else recipient


def _field_word(part: object, key: str) -> str:
    said = at(part, key)
    return said[:_WORD].strip().lower() if isinstance(said, str) else ""


def _words_of(kind: str) -> list[str]:
    """Return the words of a part's type: `input_text` and `inputText` have two."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind[:_WORD]).lower().replace(".", "_").replace("-", "_").split("_")


def _name_of(part: Mapping[str, Any]) -> str:
    """Return the name of a part that is left out: whose it is, or else its type."""
    if kind_by_role(part) == "other":
        fields = (("role", part), ("role", part.get("author")), ("author", part), ("phase", part), ("channel", part))
        for key, holder in fields:
            if (said := _field_word(holder, key)) and said not in _OWN_ROLES | _FINAL:
                return f"{key}: {said}"
    return str(part.get("type"))


def cut_in(parts: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the status of the first message, part or call that its host cut off, or None."""
    words = (word for part in parts if isinstance(word := part.get("status"), str))
    return next((word for word in words if FINISH_REASONS.get(word.lower()) in {"cut", "full", "filtered"}), None)


def thought_beside(message: Mapping[str, Any]) -> str | None:
    """Return the thinking in a field beside the content of a message, or None.

    If two fields repeat it, the first counts.
    """
    fields = (words_in(message[key]) for key in message if _THOUGHT.fullmatch(key) and not _NO_THOUGHT.search(key))
    return next(filter(None, fields), None)


def calls_of(calls: object) -> Iterator[FunctionCall]:
    """Yield one function call or several, in any of the shapes that hosts use.

    A call of OpenAI's `multi_tool_use.parallel` holds several.
    """
    if isinstance(calls, str):
        try:
            calls = parse_json(calls)
        except (ValueError, RecursionError):
            return
    if isinstance(calls, Mapping) and calls and all(isinstance(call, Mapping) for call in calls.values()):
        calls = [calls] if any(_CALLED.fullmatch(key) for key in calls) else list(calls.values())
    for call in calls if isinstance(calls, list) else [calls]:
        if not isinstance(call, Mapping):
            continue
        lists = [call[key] for key in call if _CALLED.fullmatch(key) and isinstance(call[key], list)]
        if to := _recipient_of(call):
            yield FunctionCall(to, words_in(call.get("content")))
        elif lists:
            yield from (inner for each in lists for inner in calls_of(each))
        else:
            inner = next((call[key] for key in call if _CALLED.fullmatch(key) and isinstance(call[key], Mapping)), call)
            names = (inner.get("name"), call.get("name"), call.get("recipient_name"))
            name = next((name for name in names if isinstance(name, str)), "")
            for given in (inner[key] for key in _ARGUMENTS if inner.get(key) is not None):
                uses = at(_object(_as_text(given)) if name.endswith("parallel") else None, "tool_uses")
                yield from calls_of(uses) if isinstance(uses, list) else (FunctionCall(name, given),)


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


def function_of(profile: Profile, call: Call) -> Function | None:
    """Return the function that the reply may call, which is forced in the `tool` mode, or None without a schema."""
    return None if call.schema is None else Function(wire_name(call), profile.structured == "tool", call.schema)


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
