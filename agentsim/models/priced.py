"""Priced: a model whose completions say what they cost, as far as anybody knows. What is believed is `prices`."""

from __future__ import annotations

from dataclasses import replace

from agentsim.errors import ModelError
from agentsim.models.around import Around
from agentsim.models.base import Call, Completion, Model, Sampling, Usage
from agentsim.models.prices import Prices

__all__ = ["Priced"]


class Priced(Around):
    """Stands between a real model and who records or plays it: a recorded reply keeps the price of its day."""

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
