"""Prices: the cost of a call in US dollars, from the scenario's table or else a bundled catalog; None if unknown.

Also estimates of the tokens of texts and replies. The estimates count bytes of UTF-8, from which tokenizers start: a
Chinese character is three bytes and about one token, an English word about five bytes and one token. `docs/models.md`
has measurements. `runs.limits` enforces budgets.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import Field

from agentsim.engine.codec import StrictTable
from agentsim.engine.wording import TOKEN_BYTES, size
from agentsim.errors import ModelError
from agentsim.models.address import is_private_address
from agentsim.models.base import Call, Completion, Model, Sampling, Usage, Wrapper
from agentsim.models.profiles import ProviderSettings, address_of, is_own, most_output

# The catalog's name of each built-in provider. A provider that a scenario defines is never looked up: its prices are
# its own, even if its name resembles another.
CATALOGUE = {
    "openai": "openai",
    "openrouter": "openrouter",
    "gemini": "google",
    "anthropic": "anthropic",
    "bedrock": "aws",
    "vertex": "google",
    "azure": "azure",
    "groq": "groq",
    "mistral": "mistral",
    "deepseek": "deepseek",
    "xai": "x-ai",
    "together": "together",
    "fireworks": "fireworks",
}
_FREE = ("local/", "bot/", "script:")
_FREE_NEARBY = {"ollama", "vllm", "lmstudio", "llama-server", "sglang"}  # on the user's own machines


class Price(StrictTable):
    """A `[prices."provider/model"]` table: US dollars per million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False)
    """US dollars per million tokens of prompts"""
    output: float = Field(ge=0, allow_inf_nan=False)
    """US dollars per million tokens of replies, thinking included"""
    cached_input: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """US dollars per million cached tokens of prompts; as input if absent"""
    cache_write: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """US dollars per million tokens written to the cache; as input if absent"""


class Prices:
    """The prices of models. Sources in order: the response itself, the scenario, free models, the bundled catalog.

    `providers` are the scenario's tables and `env` the environment; both give the address of a provider. A local server
    is free only at a private address, and the catalog applies only at a provider's own address.
    """

    def __init__(
        self,
        overrides: Mapping[str, Price],
        providers: Mapping[str, ProviderSettings] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._overrides, self._providers, self._env = overrides, providers or {}, env or {}

    def cost(self, model_name: str, usage: Usage) -> float | None:
        """Return the US dollars of a finished call, or None if the price or a token count is unknown."""
        if usage.cost_usd is not None:
            return usage.cost_usd
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            # Uncounted tokens are free only if all tokens are.
            return 0.0 if self._of_tokens(model_name, 1_000_000, 0, 0, 1_000_000) == 0.0 else None
        read, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
        return self._of_tokens(model_name, usage.prompt_tokens, read, written, usage.completion_tokens)

    def estimate(self, model_name: str, prompt_tokens: int, max_tokens: int) -> float | None:
        """Return the most that a call can cost in US dollars, or None if unknown.

        No token is read from a cache, all are written to one if that costs more, and the reply uses all of
        `max_tokens`.
        """
        costs = [self._of_tokens(model_name, prompt_tokens, 0, written, max_tokens) for written in (0, prompt_tokens)]
        return max((cost for cost in costs if cost is not None), default=None)

    def has_price(self, model_name: str) -> bool:
        """Return whether the model has a price."""
        return self.estimate(model_name, 1, 1) is not None

    def _of_tokens(self, model_name: str, prompt: int, cached: int, written: int, completion: int) -> float | None:
        cached = min(cached, prompt)
        written = min(written, prompt - cached)
        price = self._overrides.get(model_name)
        if price is not None:
            cached_input = price.input if price.cached_input is None else price.cached_input
            write = price.input if price.cache_write is None else price.cache_write
            fresh = (prompt - cached - written) * price.input
            return (fresh + cached * cached_input + written * write + completion * price.output) / 1_000_000
        if model_name in {"human", "web"} or model_name.startswith(_FREE):
            return 0.0
        provider, _, model = model_name.partition("/")
        if provider in _FREE_NEARBY:
            relayed = provider == "ollama" and model.endswith((":cloud", "-cloud"))  # relayed to a paid service
            return 0.0 if is_private_address(address_of(provider, self._providers, self._env)) and not relayed else None
        if provider not in CATALOGUE or not is_own(provider, address_of(provider, self._providers, self._env)):
            return None
        import genai_prices  # takes 0.3 s; the data is bundled, and the thread that updates it is not started

        caches = {"cache_read_tokens": cached, "cache_write_tokens": written}
        usage = genai_prices.Usage(input_tokens=prompt, output_tokens=completion, **caches)
        try:
            return float(genai_prices.calc_price(usage, model, provider_id=CATALOGUE[provider]).total_price)
        except LookupError:
            return None


class PricedModel(Wrapper):
    """A model that adds the cost to its completions, so that a recorded reply keeps the price of its day."""

    def __init__(self, model: Model, prices: Prices) -> None:
        super().__init__(model)
        self._prices = prices

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """Return the model's answer with its cost in US dollars, or None if unknown. Errors get their cost, too."""
        try:
            completion = await self._model.complete(call, sampling)
        except ModelError as error:
            if isinstance(error.usage, Usage):
                error.usage = self._priced(error.usage)
            raise
        priced = self._priced(completion.usage)
        return completion if priced is completion.usage else replace(completion, usage=priced)

    def _priced(self, usage: Usage) -> Usage:
        cost = self._prices.cost(self.name, usage)
        return usage if cost == usage.cost_usd else replace(usage, cost_usd=cost)


USUAL_REPLY = 1024
"""The assumed tokens of a reply without a limit, for a provider's limit per minute only."""

LONGEST_REPLY = 16_384
"""The assumed most tokens of a reply without a limit, unless the catalog has a smaller context."""


def estimated_tokens(texts: Iterable[str]) -> int:
    """Return an estimate of the tokens in some texts together."""
    return -(-size("".join(texts)) // TOKEN_BYTES)


def most_tokens(texts: Iterable[str]) -> int:
    """Return an upper estimate of the tokens in some texts, one per two bytes, for limits that must hold."""
    return -(-size("".join(texts)) // 2)


def listed_price(model_name: str) -> dict[str, float]:
    """Return the catalog's `input` and `output` price of a model, in US dollars per million tokens; empty if unknown.

    If the price grows with the prompt, it is the price of a short one.
    """
    provider, _, model = model_name.partition("/")
    if provider not in CATALOGUE or not model:
        return {}
    import genai_prices

    usages = {"input": genai_prices.Usage(input_tokens=1000), "output": genai_prices.Usage(output_tokens=1000)}
    found: dict[str, float] = {}
    for name, usage in usages.items():
        try:
            price = genai_prices.calc_price(usage, model, provider_id=CATALOGUE[provider]).total_price
        except LookupError:
            return {}
        found[name] = round(float(price) * 1000, 6)
    return found


@cache  # a lookup in the catalog is slow
def context_window(model_name: str) -> int | None:
    """Return the tokens of a model's context, prompt and reply together, or None if the catalog has none."""
    provider, _, model = model_name.partition("/")
    if provider not in CATALOGUE or not model:
        return None
    from genai_prices.data_snapshot import get_snapshot  # a slow import, like the prices; the data is bundled

    try:
        _, known = get_snapshot().find_provider_model(model, None, CATALOGUE[provider], None)
    except LookupError:
        return None
    return known.context_window


def longest_reply(model_name: str, cap: int | None) -> int:
    """Return the assumed most tokens of a reply.

    That is the `cap` (`max_tokens`), else the model's limit, else the model's context or `LONGEST_REPLY`, whichever is
    less.
    """
    if cap is not None:
        return cap
    known = most_output(model_name.partition("/")[2])
    return known or min(LONGEST_REPLY, context_window(model_name) or LONGEST_REPLY)


def small_cap(model_name: str, cap: int | None, *extras: Mapping[str, Any]) -> int | None:
    """Return the `max_tokens` that a reasoning model should have, or None if `cap`, the limit set, is enough.

    Reasoning models are recognized by name, from the list in `thinking.toml`. `extras` are the other parameters of the
    request; if they turn thinking off or limit it, the cap is enough.
    """
    known = _thinking()
    enough: int = known["enough"]
    if cap is None or cap >= enough or any(_kept_short(extra, cap, known) for extra in extras):
        return None
    model = model_name.lower().partition("/")[2]
    return enough if any(re.search(pattern, model) for pattern in known["models"]) else None


@cache
def _thinking() -> Mapping[str, Any]:
    return tomllib.loads(files("agentsim.models").joinpath("thinking.toml").read_text("utf-8"))


def _kept_short(extra: Mapping[str, Any], cap: int, known: Mapping[str, Any]) -> bool:
    return any(
        _kept_short(value, cap, known)
        if isinstance(value, Mapping)
        else value in known["off"].get(key, ()) or (key in known["bounds"] and isinstance(value, int) and value < cap)
        for key, value in extra.items()
    )
