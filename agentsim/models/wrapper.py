"""Wrapper: a model around another one, which prices or records its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentsim.models.base import Model

if TYPE_CHECKING:
    from agentsim.models.rate_limiter import RateLimiter

__all__ = ["Wrapper"]


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
