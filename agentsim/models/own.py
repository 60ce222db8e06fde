"""own: a model that a Python program brings along: any object with a `complete`."""

from __future__ import annotations

import asyncio
from typing import Protocol

from agentsim.engine.prompt import cleaned
from agentsim.errors import TransportFailed
from agentsim.models.base import Call, Completion, Sampling

__all__ = ["Own", "OwnModel"]


class OwnModel(Protocol):
    """What a model of one's own needs."""

    async def complete(self, call: Call, sampling: Sampling, /) -> Completion | str:
        """The reply to `call.messages`; may be cancelled.

        Raise one of the four kinds of `agentsim.errors.ModelError` where the call failed: they are waited for, tried
        again and counted. Any other exception is a mistake in the model, and ends the run.
        """
        ...


class Own:
    """The `Model` around such an object, under the name that the scenario gives it."""

    def __init__(self, name: str, model: OwnModel) -> None:
        self.name = self.provider = name
        self.limiter = None
        self._model = model

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """One attempt within `sampling.timeout_s`."""
        try:
            async with asyncio.timeout(sampling.timeout_s) as deadline:
                reply = await self._model.complete(call, sampling)
        except TimeoutError:
            if not deadline.expired():
                raise
            message = f"{self.name}: no complete answer within {sampling.timeout_s:g} s"
            raise TransportFailed(message, code="timeout") from None
        return Completion(cleaned(reply)) if isinstance(reply, str) else reply

    async def aclose(self) -> None:
        """The object belongs to the program."""
