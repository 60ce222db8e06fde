"""The protocol between agentsim and a language model, and the records of its calls.

A call goes out, a completion or an error comes back; an attempt is either, with the prompt that led to it. Pydantic
writes and reads these records. With a `context` it replaces texts: see `Texts`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, PlainValidator, ValidationInfo
from pydantic_core.core_schema import SerializationInfo

from agentsim.errors import ModelError, ModelRefused, ProviderRejected, RateLimited, TransportFailed
from agentsim.models.finish_reasons import ending

if TYPE_CHECKING:
    from agentsim.models.rate_limiter import RateLimiter


MOST_TEXT = 64 * 1024
"""Bytes of UTF-8 of a reply that are kept; a longer one is no answer."""


@dataclass(frozen=True, slots=True)
class Call:
    """What is sent: (role, text) messages, and the JSON Schema the reply should fit.

    `tag` says what the call is for (`A/vote/2/1`: player, kind, nth decision of that kind, attempt); it is
    never sent to a provider. Nor is `read`, which decodes a reply: a secret is also looked for in what it returns.
    """

    messages: tuple[tuple[str, str], ...]
    schema: Mapping[str, Any] | None = None
    schema_name: str = "decision"
    tag: str = ""
    read: Callable[[str], str] | None = field(default=None, compare=False)


Level: TypeAlias = Literal["none", "low", "medium", "high"]
Reasoning: TypeAlias = Level | int
"""How much a model thinks before it answers: a level, or a number of tokens."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample. `temperature` None leaves the provider's default, `max_tokens` None sends no cap; `extra` goes
    into the body as it is. `reasoning`, `seed` and `logprobs` are sent in the words of the host (`models.settings`).
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
    # pydantic's own validator of floats makes 0.0 of a 0 that a journal holds, and so another history of the same game
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError("must be a number of US dollars, 0 or more")
    return value


Count: TypeAlias = Annotated[int, Field(strict=True, ge=0)]
Word: TypeAlias = Annotated[str, Field(strict=True), AfterValidator(_encodable)]
"""A short text, which is always written where it stands."""
Text: TypeAlias = Annotated[Word, PlainSerializer(_put_away), BeforeValidator(_found)]
"""A long text. A `context` puts texts away and gives their places, and another finds them there (`engine.codec.Texts`).
Without a context a text is written where it stands."""
Seconds: TypeAlias = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Dollars: TypeAlias = Annotated[float, PlainValidator(_dollars)]
Rounded: TypeAlias = Annotated[Seconds, PlainSerializer(lambda seconds: round(seconds, 4))]
LogProbability: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
WhereSet = Field(exclude_if=lambda value: value is None or value is False)
_WhereAny = Field(exclude_if=lambda value: not value)
StructuredMode: TypeAlias = Literal["json_schema", "tool", "json_object", "prompt"]
"""How a reply is held to its schema: enforced as the answer or as the arguments of a forced function call, as any JSON
object, or by the words of the prompt alone."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and US dollars, of one call or of several; None where the provider did not say (never 0 for unknown).

    `cached_tokens` were read from a cache and `cache_write_tokens` written to one; both are part of the prompt.
    """

    prompt_tokens: Count | None = None
    cached_tokens: Count | None = None
    completion_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    cost_usd: Dollars | None = None
    cache_write_tokens: Annotated[Count | None, WhereSet] = None

    def __add__(self, other: Usage) -> Usage:
        """Return what both used: a count is None if neither provider said it, the cost if that of either is unknown."""
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
        """The tokens of prompt and answer together, or None if either is unknown."""
        known = self.prompt_tokens is not None and self.completion_tokens is not None
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0) if known else None


def _complete(value: Any) -> Any:
    names = {each.name for each in fields(Usage)} - {"cache_write_tokens"}
    if isinstance(value, Mapping) and value.keys() - {"cache_write_tokens"} != names:
        raise ValueError(f"must have {', '.join(sorted(names))}")
    return value


WholeUsage: TypeAlias = Annotated[Usage, BeforeValidator(_complete)]
"""A usage that was written with every field, but for those that stand where they are set, and nothing else."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The deviations from a scenario that a model's host wants, as `negotiation` found them out.

    `structured` is the mode that replies are held to their schema by, `dropped` are fields of the body (or groups of
    them: `reasoning`, `logprobs`) that are left out, `keywords` those of JSON schemas. `max_tokens` is the most that
    may be asked for, `max_tokens_field` its name. With `system` "user", the system message goes before the user's.
    """

    structured: Annotated[StructuredMode | None, WhereSet] = None
    dropped: Annotated[tuple[Word, ...], _WhereAny] = ()
    keywords: Annotated[tuple[Word, ...], _WhereAny] = ()
    max_tokens: Annotated[Count | None, WhereSet] = None
    max_tokens_field: Annotated[Literal["max_tokens", "max_completion_tokens"] | None, WhereSet] = None
    system: Annotated[Literal["user"] | None, WhereSet] = None


AS_ASKED: Final = Terms()
"""The terms of a host that accepts all that the scenario asks for."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back, cleaned (`engine.prompt.cleaned`): never the provider's envelope.

    `model` and `provider` are what the response says of itself, `finish_reason` is the provider's word
    (`stop`, `length`, ...). `text` may be empty; `reasoning` is thinking that the provider gives apart. `refusal` is
    a stable word (`refusal`, `content_filter`) where the model or a filter declined: `text` is then no answer.
    Nor is it where `unusable` says why, in words fit for the model. `terms` are those that its host was known to
    accept when it came, if they are not the scenario's. `pin` is the host that was asked for, if another one answered.
    `logprobs` are the tokens of the reply, each with the logarithm of its probability, if they were asked for.
    `unknown` is the word for a part of the answer of a kind that no table knows: its words are left out.
    """

    text: Text
    reasoning: Text | None = None
    finish_reason: Word | None = None
    model: Word | None = None
    provider: Word | None = None
    usage: WholeUsage = Usage()
    refusal: Annotated[Word | None, WhereSet] = None
    unusable: Annotated[Word | None, WhereSet] = None
    terms: Annotated[Terms | None, WhereSet] = None
    logprobs: Annotated[tuple[tuple[Word, LogProbability], ...] | None, WhereSet] = None
    unknown: Annotated[Word | None, WhereSet] = None
    pin: Annotated[Word | None, WhereSet] = None

    @property
    def ended_early(self) -> bool:
        """True for a reply that was cut off at a limit of its host: on tokens, or its context."""
        return ending(self.finish_reason) in {"cut", "full"}

    @property
    def cut(self) -> bool:
        """Whether the text is longer than `MOST_TEXT`: only a part of what came, and a mark that says so."""
        return len(self.text) * 4 > MOST_TEXT and len(self.text.encode("utf-8", "replace")) > MOST_TEXT


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt; its text is its segments, joined by newlines."""

    role: str
    segments: tuple[str, ...]

    @property
    def text(self) -> str:
        """The message as it is sent."""
        return "\n".join(self.segments)


def _segments_written(segments: Sequence[str], info: SerializationInfo[Any]) -> Any:
    return (info.context or list)(segments)


def _segments_read(value: Any, info: ValidationInfo[Any]) -> tuple[str, ...]:
    return tuple(map(str, value) if info.context is None else info.context.several(value))


Segments: TypeAlias = Annotated[tuple[str, ...], PlainSerializer(_segments_written), PlainValidator(_segments_read)]
"""Long texts that belong together, each of which a `context` puts away as it does a `Text`."""


def _prompt_written(messages: Sequence[Message], info: SerializationInfo[Any]) -> list[Any]:
    return [[message.role, _segments_written(message.segments, info)] for message in messages]


def _prompt_read(value: Any, info: ValidationInfo[Any]) -> tuple[Message, ...]:
    return tuple(Message(str(role), _segments_read(segments, info)) for role, segments in value)


Prompt: TypeAlias = Annotated[tuple[Message, ...], PlainSerializer(_prompt_written), PlainValidator(_prompt_read)]

Fault: TypeAlias = Literal["transport", "limited", "refused", "rejected"]
"""The kind of `ModelError` that a failed call met."""
_ERRORS: Mapping[Fault, type[ModelError]] = {
    "transport": TransportFailed,
    "limited": RateLimited,
    "refused": ModelRefused,
    "rejected": ProviderRejected,
}


PER_EXECUTION: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("latency_s", "wait_s", "final", "held", "retry_after"), True),
    "completion": {"terms": True},
}
"""The fields of an `Attempt` that may differ between executions with the same replies, as pydantic's `exclude`.

They depend on clocks, on hosts and on where a process was stopped. The journal keeps them, a history does not.
"""


def fault_of(error: ModelError) -> Fault:
    """The kind of an error."""
    return next((fault for fault, kind in _ERRORS.items() if isinstance(error, kind)), "refused")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a decision: a completion, an error, or a completion that could not be used (both).

    `code` is a stable word (`timeout`, `unreadable`), `error` the sentence; `wait_s` is the wait before the next
    attempt. Of a failed call, `fault` is the kind of error, `status` the HTTP status, `retry_after` the seconds that
    the host asked for, `wasted` what the call used all the same, and `served_by` the host that a router names in its
    error. Of a player with several models, `model` is the
    one that was called, and `takeover` says that the next one took over after this attempt. A failed call is `final`
    where no attempt follows; `held` says that its host asked for more time than the decision had left.
    """

    messages: Prompt
    code: Word | None = None
    error: Word | None = None
    latency_s: Rounded = 0.0
    wait_s: Rounded = 0.0
    completion: Completion | None = None
    fault: Annotated[Fault | None, WhereSet] = None
    model: Annotated[Word | None, WhereSet] = None
    takeover: Annotated[bool, WhereSet] = False
    final: Annotated[bool, WhereSet] = False
    held: Annotated[bool, WhereSet] = False
    wasted: Annotated[WholeUsage | None, WhereSet] = None
    status: Annotated[Annotated[int, Field(strict=True)] | None, WhereSet] = None
    retry_after: Annotated[Seconds | None, WhereSet] = None
    served_by: Annotated[Word | None, WhereSet] = None

    @classmethod
    def failed(cls, messages: tuple[Message, ...], error: ModelError, **more: Any) -> Attempt:
        """The attempt that ended in this error."""
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
        """The host that its answer or its error names."""
        return self.served_by if self.completion is None else self.completion.provider

    @property
    def reply(self) -> str | None:
        """The text of its answer, or None for a failed call."""
        return None if self.completion is None else self.completion.text

    @property
    def reasoning(self) -> str | None:
        """The thinking that came apart from its answer, or None."""
        return None if self.completion is None else self.completion.reasoning or None

    @property
    def usage(self) -> Usage | None:
        """The tokens and dollars that it used, or None if its provider did not say."""
        return self.wasted if self.completion is None else self.completion.usage

    def answer(self) -> Completion:
        """The completion; raises the error of a failed call again."""
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
        """As the scenario names it: `openrouter/openai/gpt-5-mini`."""

    @property
    def provider(self) -> str:
        """The first segment of the name; providers are isolated from one another by it."""

    @property
    def limiter(self) -> RateLimiter | None:
        """The rate limiter of its host and key in the running event loop; None where there is no host.

        The caller acquires a slot before `complete` and releases it after.
        """

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """One attempt, sent at once, within `sampling.timeout_s`.

        Raises `ModelError` (its four kinds), `LocalShortage` where this machine cannot send it, and nothing else that
        is not our own mistake; may be cancelled.
        """

    async def aclose(self) -> None:
        """Give back connections and processes."""


class Wrapper:
    """A model around another one, with its name and limiter, and closed with it; subclasses add `complete`."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name, self.provider = model.name, model.provider

    @property
    def limiter(self) -> RateLimiter | None:
        return self._model.limiter

    async def aclose(self) -> None:
        await self._model.aclose()
