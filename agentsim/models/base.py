"""The one protocol between agentsim and a language model: a call goes out, a completion or an error comes back.

Players, games, journals and budgets do not belong here; a provider's peculiarities belong in its client.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agentsim.models.rate_limiter import RateLimiter

__all__ = ["MOST_TEXT", "Call", "Completion", "Model", "Sampling", "Usage", "Wrapper", "extra_problem"]

MOST_TEXT = 64 * 1024
"""Bytes of UTF-8 of a reply that are kept; no answer is longer."""

# Names that servers know for the limit on a reply, on which the estimate of its cost rests.
_MAX_TOKENS = frozenset({"max_tokens", "max_completion_tokens", "n_predict"})
# What a player's `client_kwargs` may not set, with the setting that does.
_OURS = {
    "model": "`model`",
    "messages": "the prompt",
    "stream": "nothing: answers are read whole",
    "stream_options": "nothing: answers are read whole",
    "n": "nothing: one answer is asked for",
    "timeout": "`timeout_s`",
    "extra_headers": "`api_key_env` of a provider",
    "extra_query": "`base_url` of a provider",
    "api_key": "`api_key_env` of a provider",
    "base_url": "`base_url` of a provider",
}


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


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample. `temperature` None leaves the provider's default, `max_tokens` None sends no cap; `extra` goes
    into the body as it is.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float = 120.0
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and US dollars of one call; None where the provider did not say (never 0 for unknown)."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back, cleaned (`engine.prompt.cleaned`): never the provider's envelope.

    `model` and `provider` are what the response says of itself, `finish_reason` is the provider's word
    (`stop`, `length`, ...). `text` may be empty; `reasoning` is thinking that the provider gives apart. `refusal` is
    a stable word (`refusal`, `content_filter`) where the model or a filter declined: `text` is then no answer.
    Nor is it where `unusable` says why, in words fit for the model. `structured` is the mode that `auto` chose.
    """

    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    provider: str | None = None
    usage: Usage = Usage()
    refusal: str | None = None
    unusable: str | None = None
    structured: str | None = None

    @property
    def cut(self) -> bool:
        """Whether the text is longer than `MOST_TEXT`: only a part of what came, and a mark that says so."""
        return len(self.text) * 4 > MOST_TEXT and len(self.text.encode("utf-8", "replace")) > MOST_TEXT


class Model(Protocol):
    """One model behind one provider."""

    @property
    def name(self) -> str:
        """As the scenario names it: `openrouter/openai/gpt-5-mini`."""
        ...

    @property
    def provider(self) -> str:
        """The first segment of the name; providers are isolated from one another by it."""
        ...

    @property
    def limiter(self) -> RateLimiter | None:
        """The rate limiter of its host and key in the running event loop; None where there is no host.

        The caller acquires a slot before `complete` and releases it after.
        """
        ...

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """One attempt, sent at once, within `sampling.timeout_s`.

        Raises `ModelError` (its four kinds), `LocalShortage` where this machine cannot send it, and nothing else that
        is not our own mistake; may be cancelled.
        """
        ...

    async def aclose(self) -> None:
        """Give back connections and processes."""
        ...


class Wrapper:
    """A model around another one, with its name and limiter, and closed with it; subclasses add `complete`."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def provider(self) -> str:
        return self._model.provider

    @property
    def limiter(self) -> RateLimiter | None:
        return self._model.limiter

    async def aclose(self) -> None:
        await self._model.aclose()


def extra_problem(extra: Mapping[str, Any]) -> str | None:
    """Why these extra parameters cannot be sent, or None."""
    if not extra:
        return None
    for key in extra:
        if key in _OURS:
            return f"`{key}` cannot be set there; what sets it is {_OURS[key]}"
        if key in _MAX_TOKENS:
            return f"`{key}` cannot be set there; say max_tokens"
    inner = extra.get("extra_body", {})
    if not isinstance(inner, Mapping):
        return "`extra_body` must be a table"
    if inner and (problem := extra_problem(inner)):  # it becomes part of the same body
        return f"in `extra_body`, {problem}"
    try:
        json.dumps(extra, allow_nan=False)
    except (TypeError, ValueError):
        return "the extra parameters hold something that JSON has no word for (a date, nan, inf)"
    return None
