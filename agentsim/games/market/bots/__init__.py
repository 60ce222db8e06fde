"""Bots: scripted traders. Each is a pure function of the request and of streams of its own; what one learns stands in
its working memory, as it would for a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.game import Bot
from agentsim.engine.reading import Decision
from agentsim.games.market.bots import fundamentalist, randomly, zero_intelligence, zip_trader
from agentsim.games.market.moderator import NOBODY, InterviewAnswer, Interviewed, Moderate, Moderation
from agentsim.games.market.requests import (
    Act,
    ActionChosen,
    AskQuery,
    Brief,
    BriefingAnswered,
    QueryChosen,
)
from agentsim.games.market.state import NO_QUERY, SKIP

__all__ = ["BOTS"]


def _trader(act: Callable[[Act, Stream], ActionChosen], says: str, query: Callable[[AskQuery], QueryChosen]) -> Bot:
    """A bot that understands everything, and answers every interview alike."""

    def policy(request: Any, rng: Stream) -> Decision:
        match request:
            case Act():
                return act(request, rng)
            case AskQuery():
                return query(request)
            case Brief():
                return BriefingAnswered(action=SKIP)
            case Interviewed():
                return InterviewAnswer(answer=says)
            case Moderate():
                return Moderation(ask=NOBODY)
        raise AssertionError(f"no policy for {request.kind}")

    return policy


def _asks_nothing(request: AskQuery) -> QueryChosen:
    return QueryChosen(query=NO_QUERY)


def _idle(request: Act, rng: Stream) -> ActionChosen:
    return ActionChosen(action=SKIP)


BOTS: Mapping[str, Bot] = {
    "zi_c": _trader(zero_intelligence.constrained, "I draw a price at random, at which I cannot lose.", _asks_nothing),
    "zi_u": _trader(zero_intelligence.unconstrained, "I draw a price at random.", _asks_nothing),
    "zip": _trader(zip_trader.act, "I move my margin towards what the market pays.", _asks_nothing),
    "fundamentalist": _trader(
        fundamentalist.act, "I buy below what I think it is worth, and sell above.", fundamentalist.query
    ),
    "idle": _trader(_idle, "I wait.", _asks_nothing),
    "random": randomly.policy,
}
