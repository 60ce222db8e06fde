"""Calls of a model through its rate limiter, as a run makes them."""

from __future__ import annotations

from agentsim.models.base import Call, Completion, Message, Model, Sampling
from agentsim.models.pacing import RetryPolicy
from agentsim.players.base import ReaskPolicy
from agentsim.players.model import ModelPlayer


async def admitted(model: Model, call: Call, sampling: Sampling = Sampling()) -> Completion:  # noqa: B008 - it is frozen
    """Make one call and return its completion."""
    player = ModelPlayer(model, sampling, "", RetryPolicy(), ReaskPolicy())
    with await player.slot([Message(role, (text,)) for role, text in call.messages]) as slot:
        completion = await model.complete(call, sampling)
        slot.used(completion.usage.tokens)
        return completion
