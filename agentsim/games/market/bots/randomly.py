"""The random bot: does and asks anything that there is, sometimes what cannot be; for tests and for a first look."""

from __future__ import annotations

from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.reading import Decision
from agentsim.games.market.artifact import Capability, Parameter
from agentsim.games.market.moderator import NOBODY, InterviewAnswer, Interviewed, Moderate, Moderation
from agentsim.games.market.requests import (
    UNCLEAR,
    Act,
    ActionChosen,
    AskQuery,
    Brief,
    BriefingAnswered,
    QueryChosen,
)
from agentsim.games.market.state import NO_QUERY, SKIP

_WORDS = ("12 * (3 + 4)", "Who sells at ten?", "I pay eleven.", "prices", "2 ** 5 - 1")
_THOUGHTS = ("Buy low.", "Sell high, wait for a bid.", "", "The last trade was dear.")


def policy(request: Any, rng: Stream) -> Decision:
    """Anything at all."""
    match request:
        case Act():
            named = rng.pick([*request.actions, None])
            if named is None:
                return ActionChosen(action=SKIP, working_memory=rng.pick(_THOUGHTS))
            given = _given(named, rng)
            return ActionChosen(action=named.name, action_parameters=given, working_memory=rng.pick(_THOUGHTS))
        case AskQuery():
            named = rng.pick([*request.offered, None])
            if named is None:
                return QueryChosen(query=NO_QUERY)
            return QueryChosen(query=named.name, query_parameters=_given(named, rng))
        case Brief():
            understood = rng.random() < 0.8
            return BriefingAnswered(action=SKIP if understood else UNCLEAR, working_memory=rng.pick(_THOUGHTS))
        case Interviewed():
            return InterviewAnswer(answer=rng.pick(_THOUGHTS) or "I follow my nose.")
        case Moderate():
            asks = rng.random() < 0.2
            who = rng.pick(request.agents) if asks else NOBODY
            return Moderation(ask=who, question="What do you expect of the next round?" if asks else "")
    raise AssertionError(f"no policy for {request.kind}")


def _given(named: Capability, rng: Stream) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for parameter in named.parameters:
        if not parameter.optional or rng.random() < 0.1:
            out[parameter.name] = _value(parameter, rng)
    return out


def _value(parameter: Parameter, rng: Stream) -> Any:
    if parameter.kind == "integer":
        high = parameter.low + 4 if parameter.high is None else min(parameter.high, parameter.low + 14)
        return rng.integer(parameter.low, high)
    return rng.pick(parameter.choices) if parameter.choices else rng.pick(_WORDS)
