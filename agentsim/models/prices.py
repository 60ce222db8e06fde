"""Prices: what a call costs in US dollars, by the scenario's own table, else by a bundled catalogue; unknown stays so.

How many tokens a text comes to is `tokens`; budgets are `runner.budget`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from agentsim.errors import ModelError
from agentsim.models.address import is_near
from agentsim.models.base import Call, Completion, Model, Sampling, Usage, Wrapper
from agentsim.models.profiles import ProviderSettings, address_of, is_own

# Our names of the catalogue's providers. A provider that a scenario defines is never looked up: its prices are
# its own, whatever its name resembles.
CATALOGUE = {"openai": "openai", "openrouter": "openrouter", "gemini": "google"}
_FREE = ("local/", "bot/", "script:")
_FREE_NEARBY = {"ollama", "vllm", "lmstudio", "llama-server"}  # on machines of one's own


class Price(BaseModel):
    """A `[prices."provider/model"]` table: US dollars per million tokens; cached input costs as input if not given."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)

    input: float = Field(ge=0, allow_inf_nan=False)
    """US dollars per million tokens of prompts"""
    output: float = Field(ge=0, allow_inf_nan=False)
    """US dollars per million tokens of replies, thinking included"""
    cached_input: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """US dollars per million tokens of prompts that the provider had cached; as input if absent"""


class Prices:
    """What is believed, in this order: the response itself, the scenario, that it is free, the bundled catalogue.

    `providers` are the scenario's tables and `env` the environment: they say where a provider's name leads. Elsewhere
    than on machines of one's own nothing is free, and elsewhere than at the provider's own address the catalogue says
    nothing.
    """

    def __init__(
        self,
        overrides: Mapping[str, Price],
        providers: Mapping[str, ProviderSettings] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._overrides, self._providers, self._env = overrides, providers or {}, env or {}

    def cost(self, model_name: str, usage: Usage) -> float | None:
        """US dollars of a finished call; None where the price or a token count is unknown."""
        if usage.cost_usd is not None:
            return usage.cost_usd
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            # Tokens that were not counted cost nothing only where all tokens do.
            return 0.0 if self._of_tokens(model_name, 1_000_000, 0, 1_000_000) == 0.0 else None
        return self._of_tokens(model_name, usage.prompt_tokens, usage.cached_tokens or 0, usage.completion_tokens)

    def estimate(self, model_name: str, prompt_tokens: int, max_tokens: int) -> float | None:
        """The most that a call can cost: nothing cached, every token used."""
        return self._of_tokens(model_name, prompt_tokens, 0, max_tokens)

    def known(self, model_name: str) -> bool:
        """Whether a price can be given at all."""
        return self.estimate(model_name, 1, 1) is not None

    def _of_tokens(self, model_name: str, prompt: int, cached: int, completion: int) -> float | None:
        cached = min(cached, prompt)
        price = self._overrides.get(model_name)
        if price is not None:
            cached_input = price.input if price.cached_input is None else price.cached_input
            return ((prompt - cached) * price.input + cached * cached_input + completion * price.output) / 1_000_000
        if model_name == "human" or model_name.startswith(_FREE):
            return 0.0
        provider, _, model = model_name.partition("/")
        if provider in _FREE_NEARBY:
            relayed = provider == "ollama" and model.endswith((":cloud", "-cloud"))  # to a service, which is paid for
            return 0.0 if is_near(address_of(provider, self._providers, self._env)) and not relayed else None
        if provider not in CATALOGUE or not is_own(provider, address_of(provider, self._providers, self._env)):
            return None
        import genai_prices  # 0.3 s; its data is bundled, and nothing here starts the thread that updates it

        usage = genai_prices.Usage(input_tokens=prompt, cache_read_tokens=cached, output_tokens=completion)
        try:
            return float(genai_prices.calc_price(usage, model, provider_id=CATALOGUE[provider]).total_price)
        except LookupError:
            return None


class Priced(Wrapper):
    """A model whose completions say what they cost; a recorded reply so keeps the price of its day."""

    def __init__(self, model: Model, prices: Prices) -> None:
        super().__init__(model)
        self._prices = prices

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """The model's own answer, with its cost in US dollars, or None where that is unknown; errors too."""
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
