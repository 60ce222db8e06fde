"""Around: what every model that stands around another one hands through to it."""

from __future__ import annotations

from agentsim.models.base import Model
from agentsim.models.rate_limiter import RateLimiter

__all__ = ["Around"]


class Around:
    """Goes by the inner model's name and is closed with it; `complete` is the subclass's own."""

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
