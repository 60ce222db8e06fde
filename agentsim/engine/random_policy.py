"""Random policy: a bot for any game, which draws each answer from the request's options until it is legal."""

from __future__ import annotations

from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.request import Request
from agentsim.errors import DecisionError

_DRAWS = 200


def random_decision(request: Request[Any], rng: Stream) -> Decision:
    """Draw a legal decision field by field; return the fallback if 200 draws in a row are illegal."""
    record = request.fields_for_model()
    for _ in range(_DRAWS):
        try:
            said = record.random(rng)
            for name, option in request.checked_options.items():
                if name in said:
                    said[name] = option.redrawn(said[name], said, rng)
            decision: Decision = request.decision_of(said)
            request.check(decision)
        except DecisionError:
            continue
        return decision
    fallback: Decision = request.fallback()
    return fallback
