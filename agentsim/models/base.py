"""The protocol between agentsim and a language model, and the records of its calls.

A prompt becomes `Message`s (`prompt_messages`), a `Call` goes out, and a `Completion` or an error comes back; an
`Attempt` records either one, with its prompt. `ending` tells by the host's finish reason how an answer ended. Pydantic
reads and writes these records. A `context` replaces long texts by references: see `LongText`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationInfo,
    with_config,
)
from pydantic_core.core_schema import SerializationInfo

from agentsim.engine import wording
from agentsim.errors import ModelError, ProviderRejected, RateLimited, RequestRefused, TransportFailed
from agentsim.models.host_words import normalized_code
from agentsim.patterns import Pattern

if TYPE_CHECKING:
    from agentsim.models.pacing import RateLimiter


MOST_TEXT = 64 * 1024
"""The most bytes of UTF-8 that are kept of a reply. A longer reply is cut and does not count as an answer."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request: (role, text) messages, and the JSON Schema that the reply should fit.

    `tag` names the purpose of the call (`A/vote/2/1`: player, kind, nth decision of that kind, attempt). Providers do
    not get `tag` or `read`. `read` returns everything that can be taken from a completion's text, decoded as far as it
    will be; the search for leaked keys covers its result, too.
    """

    messages: tuple[tuple[str, str], ...]
    schema: Mapping[str, Any] | None = None
    schema_name: str = "decision"
    tag: str = ""
    read: Callable[[Completion], str] | None = field(default=None, compare=False)


Level: TypeAlias = Literal["none", "low", "medium", "high"]
Reasoning: TypeAlias = Level | int
"""The amount of thinking before an answer: a level or a number of tokens."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """The settings for sampling a reply.

    With `temperature` None the provider's default applies; with `max_tokens` None no limit is sent. `extra` is merged
    into the body unchanged. `reasoning`, `seed` and `logprobs` are translated to the parameters of the host
    (`models.profiles`).
    """

    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float = 120.0
    extra: Mapping[str, Any] = field(default_factory=dict)
    reasoning: Reasoning | None = None
    seed: int | None = None
    logprobs: bool = False


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds an incomplete character") from None
    return text


def _put_away(text: str, info: SerializationInfo[Any]) -> Any:
    return text if info.context is None else info.context([text])[0]


def _found(value: Any, info: ValidationInfo[Any]) -> Any:
    return value if info.context is None else info.context[value]


def _dollars(value: Any) -> float:
    # pydantic's own float validator turns an int 0 of a journal into 0.0, which would change the history of the game
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError("must be a number of US dollars, 0 or more")
    return value


Count: TypeAlias = Annotated[int, Field(strict=True, ge=0)]
ShortText: TypeAlias = Annotated[str, Field(strict=True), AfterValidator(_encodable)]
"""A short text, which is always written inline."""
LongText: TypeAlias = Annotated[ShortText, PlainSerializer(_put_away), BeforeValidator(_found)]
"""A long text.

With a `context` it is stored apart and replaced by a reference, and resolved again on reading (`engine.codec.Texts`).
Without a context it is written inline.
"""
Seconds: TypeAlias = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Dollars: TypeAlias = Annotated[float, PlainValidator(_dollars)]
Rounded: TypeAlias = Annotated[Seconds, PlainSerializer(lambda seconds: round(seconds, 4))]
LogProbability: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
OmitUnset = Field(exclude_if=lambda value: value is None or value is False)
OmitEmpty = Field(exclude_if=lambda value: not value)
StructuredMode: TypeAlias = Literal["json_schema", "tool", "json_object", "prompt"]
"""The way a reply is held to its schema: `json_schema` (enforced as the answer), `tool` (enforced as the arguments of a
forced function call), `json_object` (any JSON object), `prompt` (by the words of the prompt alone)."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens and US dollars of one call or of several; None if the provider did not report them.

    `cached_tokens` were read from a cache and `cache_write_tokens` were written to one. Both are part of
    `prompt_tokens`.
    """

    prompt_tokens: Count | None = None
    cached_tokens: Count | None = None
    completion_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    cost_usd: Dollars | None = None
    cache_write_tokens: Annotated[Count | None, OmitUnset] = None

    def __add__(self, other: Usage) -> Usage:
        """Return the sum. A count is None if it is None in both; the cost is None if it is None in either."""
        found: dict[str, Any] = {}
        for name in (each.name for each in fields(self)):
            one, two = getattr(self, name), getattr(other, name)
            unknown = (one is None or two is None) if name == "cost_usd" else one is None and two is None
            found[name] = None if unknown else (one or 0) + (two or 0)
        if found["cost_usd"] is not None:
            found["cost_usd"] = round(found["cost_usd"], 10)
        return Usage(**found)

    @property
    def tokens(self) -> int | None:
        """The tokens of prompt and completion together, or None if either is unknown."""
        known = self.prompt_tokens is not None and self.completion_tokens is not None
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0) if known else None


def _complete(value: Any) -> Any:
    names = {each.name for each in fields(Usage)} - {"cache_write_tokens"}
    if isinstance(value, Mapping) and value.keys() - {"cache_write_tokens"} != names:
        raise ValueError(f"must have {', '.join(sorted(names))}")
    return value


WholeUsage: TypeAlias = Annotated[Usage, BeforeValidator(_complete)]
"""A usage that was written with every field (`cache_write_tokens` may be absent) and no other key."""


@dataclass(frozen=True, slots=True)
class Adjustments:
    """The deviations from a scenario that a model's host requires, as found by negotiation (`models.remote`).

    `structured` is the structured mode in use. `dropped` are body fields, or groups of them (`reasoning`, `logprobs`),
    that are left out; `keywords` are JSON Schema keywords that are left out. `max_tokens` is the largest limit that the
    host accepts and `max_tokens_field` the name of that field. With `system` "user", the system message moves to the
    start of the first user message.
    """

    structured: Annotated[StructuredMode | None, OmitUnset] = None
    dropped: Annotated[tuple[ShortText, ...], OmitEmpty] = ()
    keywords: Annotated[tuple[ShortText, ...], OmitEmpty] = ()
    max_tokens: Annotated[Count | None, OmitUnset] = None
    max_tokens_field: Annotated[
        Literal["max_tokens", "max_completion_tokens", "max_output_tokens"] | None, OmitUnset
    ] = None
    system: Annotated[Literal["user"] | None, OmitUnset] = None


UNADJUSTED: Final = Adjustments()
"""No adjustments: the host accepts everything that the scenario asks for."""


Ending: TypeAlias = Literal["whole", "malformed", "cut", "full", "filtered", "failed"]
"""The end of an answer: as the model intended, at a call that the host could not read or did not offer, at a limit on
tokens, at the end of the context, at a content filter, or because the host failed."""

_WORDS_BY_ENDING: Final[Mapping[Ending, str]] = {
    "whole": """
        stop stop_sequence stopped end_turn end eos eos_token eos_token_id completed complete finish finished done
        normal success tool_calls tool_call tool_use function_call final eos_found stop_string_found stop_string
        stop_token word
    """,
    "malformed": """
        malformed_function_call malformed_tool_call malformed_tool_use malformed_model_output malformed_response
        unexpected_tool_call unexpected_function_call too_many_tool_calls missing_thought_signature
    """,
    "cut": """
        length max_tokens max_output_tokens max_completion_tokens max_new_tokens max_len max_length token_limit
        max_token_limit incomplete not_finished limit output_limit time_limit truncated truncated_final repetition
        max_tokens_reached max_new_tokens_reached max_predicted_tokens_reached max_length_reached token_limit_reached
        reached_max_tokens length_limit output_token_limit max_output_reached token_limit_exceeded
        length_exceeded max_token max_tokens_exceeded max_output_token max_output_tokens_exceeded
        max_output_tokens_reached length_capped length_cutoff partial tokens stop_limit stop_length budget_exceeded
        pause_turn compaction
    """,
    "full": """
        model_length model_context_window_exceeded context_length context_length_exceeded context_window_exceeded
        context_window context_limit max_context max_context_length max_model_len context context_length_reached
        max_context_reached max_context_tokens kv_cache_full context_window_full context_full exceeded_context
        context_overflow max_model_length
    """,
    "filtered": """
        content_filter content_filtered content_filter_error content_policy_violation sensitive safety safety_filter
        refusal refused recitation blocklist blocked prohibited_content spii language model_armor image_safety
        image_prohibited_content image_recitation guardrail guardrail_intervened guardrails error_toxic moderation
        data_inspection_failed blacklist prohibited harmful unsafe censored violation policy_violation risk_control
        content_moderation content_blocked content_risk safety_block safety_blocked input_sensitive output_sensitive
        new_sensitive prompt_blocked moderated
    """,
    "failed": """
        error network_error insufficient_system_resource insufficient_system_resources abort aborted cancel cancelled
        canceled user_cancel failed failure timeout timed_out internal_error server_error
        internal_server_error error_limit overloaded preempted load other image_other user_stopped
        interrupted user_cancelled user_canceled error_unspecified
        model_unloaded server_overloaded in_progress queued
    """,
}
"""The words of public references, in lower case with underscores: OpenAI (chat, Responses), Azure, Anthropic, Bedrock,
Gemini, Mistral, DeepSeek, Z.ai, Qwen, MiniMax, GigaChat, Yandex, SenseNova, vLLM, SGLang, llama.cpp, LM Studio, TGI,
Ollama, Cohere, watsonx, xAI, OpenRouter."""
FINISH_REASONS: Final[Mapping[str, Ending]] = {
    word: how for how, words in _WORDS_BY_ENDING.items() for word in words.split()
}
_CALLS: Final = frozenset(("tool_calls", "tool_call", "tool_use", "function_call"))
_LONGEST: Final = 100  # characters of a word that are read
_PREFIX: Final = Pattern(r"(finish|stop|done|end)?_?reason_|(finish_?)?reason\.|finishreason_?|alternative_status_")
_PARTS: Final = Pattern(r"[:;,/|]")
_TELLING: Final[tuple[Ending, ...]] = (
    "filtered",
    "full",
    "cut",
    "failed",
    "malformed",
    "whole",
)  # in order of priority
_RANK: Final[Mapping[Ending | None, int]] = {how: rank for rank, how in enumerate(_TELLING)}


def ending(finish_reason: str | None) -> Ending | None:
    """Return the ending for a finish reason, "whole" for None, or None for a word that no table knows.

    Of several words (`content_filter: RECITATION`) the most specific ending counts. Every other kind of error is a
    failure of the host.
    """
    if finish_reason is None:
        return "whole"
    said = finish_reason[:_LONGEST]
    if (known := FINISH_REASONS.get(_finish_word(said))) is not None:
        return known
    found = {FINISH_REASONS.get(_finish_word(part)) for part in _PARTS.split(said)}
    if found == {None} and _finish_word(said).endswith("_error"):
        return "failed"
    return next((how for how in _TELLING if how in found), None)


def most_telling(words: Iterable[str | None]) -> str | None:
    """Return the word with the most specific ending, the first of several alike; a word without one comes last."""
    said = [word for word in words if word]
    ends = [ending(word) for word in said]
    return min(zip(ends, said, strict=True), key=lambda each: _RANK.get(each[0], len(_RANK)), default=(None, None))[1]


def is_call(finish_reason: str | None) -> bool:
    """Return whether an answer ended with a function call, which is then the answer."""
    return _finish_word((finish_reason or "")[:_LONGEST]) in _CALLS


@lru_cache(64)
def _finish_word(word: str) -> str:
    """Return a word as the table spells it: `MAX_TOKENS` and `FINISH_REASON_MAX_TOKENS` become `max_tokens`."""
    found = normalized_code(word.strip())
    return found if found in FINISH_REASONS else _PREFIX.sub("", found, count=1)


@with_config(serialize_by_alias=True)
@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of a model, cleaned (`engine.wording.cleaned`) and without the provider's envelope.

    `model` and `served_by` (the host; `provider` in files) are the names in the response; `finish_reason` is the
    provider's own word (`stop`, `length`, ...). `text` may be empty. `reasoning` is thinking that the provider returns
    separately. If `refusal` (`refusal` or `content_filter`) is set, the model or a filter declined; if `unusable` is
    set, it says why the reply cannot be used, in words for the model. In both cases `text` is not an answer.
    `adjustments` are those of the host when the completion came, or None if there were none. `pin` is the requested
    host if another one answered. `logprobs` are the tokens of the reply with their log probabilities, if requested.
    `unknown` is the type of a content part that no table knows; the text of that part is left out.
    """

    text: LongText
    reasoning: LongText | None = None
    finish_reason: ShortText | None = None
    model: ShortText | None = None
    served_by: Annotated[ShortText | None, Field(alias="provider")] = None
    usage: WholeUsage = Usage()
    refusal: Annotated[ShortText | None, OmitUnset] = None
    unusable: Annotated[ShortText | None, OmitUnset] = None
    adjustments: Annotated[Adjustments | None, OmitUnset] = None
    logprobs: Annotated[tuple[tuple[ShortText, LogProbability], ...] | None, OmitUnset] = None
    unknown: Annotated[ShortText | None, OmitUnset] = None
    pin: Annotated[ShortText | None, OmitUnset] = None

    @property
    def ended_early(self) -> bool:
        """True if the host cut the reply at a limit: of tokens or of its context."""
        return ending(self.finish_reason) in {"cut", "full"}

    @property
    def oversized(self) -> bool:
        """True if the text is longer than `MOST_TEXT`: a part of the reply and a mark that says so."""
        return len(self.text) * 4 > MOST_TEXT and len(self.text.encode("utf-8", "replace")) > MOST_TEXT


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt. Its text is its segments, joined by newlines."""

    role: str
    segments: tuple[str, ...]

    @property
    def text(self) -> str:
        """The text as sent."""
        return "\n".join(self.segments)


def prompt_messages(prompt: wording.Prompt, persona: str) -> tuple[Message, ...]:
    """Return a prompt as a system and a user message: first the parts that never change, then those that grow."""
    rules = (*prompt.rules, persona) if persona else prompt.rules
    return Message("system", rules), Message("user", (*prompt.history, *prompt.state, *prompt.question))


def _segments_written(segments: Sequence[str], info: SerializationInfo[Any]) -> Any:
    return (info.context or list)(segments)


def _segments_read(value: Any, info: ValidationInfo[Any]) -> tuple[str, ...]:
    return tuple(map(str, value) if info.context is None else info.context.several(value))


Segments: TypeAlias = Annotated[tuple[str, ...], PlainSerializer(_segments_written), PlainValidator(_segments_read)]
"""Long texts that belong together. A `context` stores each of them apart, as it does a `LongText`."""


def _prompt_written(messages: Sequence[Message], info: SerializationInfo[Any]) -> list[Any]:
    return [[message.role, _segments_written(message.segments, info)] for message in messages]


def _prompt_read(value: Any, info: ValidationInfo[Any]) -> tuple[Message, ...]:
    return tuple(Message(str(role), _segments_read(segments, info)) for role, segments in value)


PromptMessages: TypeAlias = Annotated[
    tuple[Message, ...], PlainSerializer(_prompt_written), PlainValidator(_prompt_read)
]
"""The messages that a prompt (`engine.wording.Prompt`) was sent as."""

Fault: TypeAlias = Literal["transport", "limited", "refused", "rejected"]
"""The kind of a failed call's error: no usable answer, a rate limit, a request refused, or every call rejected."""
_ERRORS: Mapping[Fault, type[ModelError]] = {
    "transport": TransportFailed,
    "limited": RateLimited,
    "refused": RequestRefused,
    "rejected": ProviderRejected,
}


JOURNAL_ONLY_FIELDS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("latency_s", "wait_s", "final", "exceeds_patience", "retry_after"), True),
    "completion": {"adjustments": True},
}
"""The fields of an `Attempt` that may differ between executions with the same replies, as pydantic's `exclude`.

They depend on clocks, hosts and interruptions. The journal keeps them, a history does not.
"""


def fault_of(error: ModelError) -> Fault:
    """Return the kind of an error, `refused` if its class is none of the four."""
    return next((fault for fault, kind in _ERRORS.items() if isinstance(error, kind)), "refused")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a decision: a completion, an error, or a completion that could not be used (both).

    `code` is a stable word (`timeout`, `unreadable`) and `error` the sentence. `wait_s` is the wait before the next
    attempt. For a failed call, `fault` is the kind of error, `status` the HTTP status, `retry_after` the wait that the
    host asked for, in seconds, `wasted` the usage that was billed anyway, and `served_by` the host that a router names
    in its error. For a player with several models, `model` is the one that was called, and `takeover` is True if the
    next one took over after this attempt. A failed call is `final` if no attempt follows. `exceeds_patience` is True
    if the host asked for more time than the decision had left.
    """

    messages: PromptMessages
    code: ShortText | None = None
    error: ShortText | None = None
    latency_s: Rounded = 0.0
    wait_s: Rounded = 0.0
    completion: Completion | None = None
    fault: Annotated[Fault | None, OmitUnset] = None
    model: Annotated[ShortText | None, OmitUnset] = None
    takeover: Annotated[bool, OmitUnset] = False
    final: Annotated[bool, OmitUnset] = False
    exceeds_patience: Annotated[bool, OmitUnset] = False
    wasted: Annotated[WholeUsage | None, OmitUnset] = None
    status: Annotated[Annotated[int, Field(strict=True)] | None, OmitUnset] = None
    retry_after: Annotated[Seconds | None, OmitUnset] = None
    served_by: Annotated[ShortText | None, OmitUnset] = None

    @classmethod
    def failed(cls, messages: tuple[Message, ...], error: ModelError, **more: Any) -> Attempt:
        """Return the attempt that ended in this error."""
        return cls(
            messages,
            error.code,
            str(error),
            fault=fault_of(error),
            wasted=error.usage if isinstance(error.usage, Usage) else None,
            status=error.status,
            retry_after=getattr(error, "retry_after", None),
            served_by=error.served_by,
            **more,
        )

    @property
    def host(self) -> str | None:
        """The host that the answer or the error names, or None."""
        return self.served_by if self.completion is None else self.completion.served_by

    @property
    def reply(self) -> str | None:
        """The text of the answer, or None for a failed call."""
        return None if self.completion is None else self.completion.text

    @property
    def reasoning(self) -> str | None:
        """The thinking that the provider returned separately, or None."""
        return None if self.completion is None else self.completion.reasoning or None

    @property
    def usage(self) -> Usage | None:
        """The tokens and dollars used, or None if the provider did not report them."""
        return self.wasted if self.completion is None else self.completion.usage

    def answer(self) -> Completion:
        """Return the completion. Raises the `ModelError` of a failed call again."""
        if self.completion is not None:
            return self.completion
        more: dict[str, Any] = {"status": self.status}
        if self.fault in {"transport", "limited"}:
            more["retry_after"] = self.retry_after
        if self.fault != "limited":
            more["code"] = self.code
        error = _ERRORS[self.fault or "transport"](self.error or "", **more)
        error.usage, error.served_by = self.wasted, self.served_by
        raise error


class Model(Protocol):
    """One model behind one provider."""

    @property
    def name(self) -> str:
        """The name in the scenario: `openrouter/openai/gpt-5-mini`."""

    @property
    def provider(self) -> str:
        """The first segment of the name. Providers are isolated from one another by it."""

    @property
    def limiter(self) -> RateLimiter | None:
        """The rate limiter of the model's host and key in the running event loop, or None if the model has no host.

        The caller acquires a slot before `complete` and releases it after.
        """

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """Make one attempt, sent at once, each request of it within `sampling.timeout_s`; may be canceled.

        Raises `ModelError` (one of its four kinds), or `LocalShortage` if this machine cannot send the request. Any
        other exception is a bug.
        """

    async def aclose(self) -> None:
        """Release connections and processes."""


class Wrapper:
    """Base of models that wrap another model, with its name and limiter.

    Closing it closes the wrapped model; subclasses add `complete`.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name, self.provider = model.name, model.provider

    @property
    def limiter(self) -> RateLimiter | None:
        return self._model.limiter

    async def aclose(self) -> None:
        await self._model.aclose()
