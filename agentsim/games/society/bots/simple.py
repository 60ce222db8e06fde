"""Simple bots: one that does nothing, and one that does nothing but live."""

from __future__ import annotations

from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.reading import Decision
from agentsim.engine.request import Request
from agentsim.games.society.actions import Acted
from agentsim.games.society.bots.needs import work
from agentsim.games.society.life import Idle
from agentsim.games.society.requests import Act

STORE_DAYS = 10


def idle(request: Request[Any], rng: Stream) -> Decision:
    """Does nothing, ever."""
    return Acted(action=Idle())


def farmer(request: Request[Any], rng: Stream) -> Decision:
    """Works for its own food and energy until they last ten days, and says nothing."""
    assert isinstance(request, Act), f"no policy for {request.kind}"
    return Acted(action=work(request, STORE_DAYS) or Idle())
