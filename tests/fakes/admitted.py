"""A call as a run makes it: with a slot of its model's rate limiter, which hears what came of it."""

from __future__ import annotations

from agentsim.models.attempts import AttemptPolicy
from agentsim.models.base import Call, Completion, Message, Model, Sampling
from agentsim.players.model import ModelPlayer, ReaskPolicy


async def admitted(model: Model, call: Call, sampling: Sampling = Sampling()) -> Completion:  # noqa: B008 - it is frozen
    """The completion of one call."""
    player = ModelPlayer(model, sampling, "", AttemptPolicy(), ReaskPolicy())
    with await player.slot([Message(role, (text,)) for role, text in call.messages]) as slot:
        completion = await model.complete(call, sampling)
        slot.used(completion.usage.tokens)
        return completion
