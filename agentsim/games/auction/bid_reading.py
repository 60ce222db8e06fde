"""Bid reading: which replies are a bid, and which one.

A bid that is misread is paid for, and to ask again is one call: so what is in doubt is no bid. What a bid may be in
a given auction (budget, high bid) does not belong here: that is the auction's own verdict.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, NoReturn

from pydantic import Field
from pydantic_core import PydanticCustomError

from agentsim.engine.number import WholeNumber, whole
from agentsim.engine.prompt import cleaned
from agentsim.engine.reading import Decision, Reading, read, without_thinking
from agentsim.errors import AmbiguousReply, DecisionError, UnreadableReply

__all__ = ["BidCast", "read_bid"]


class BidCast(Decision):
    """What a team offers and why; `bid` None is what no readable reply comes to: only the fallback gives it."""

    bid: WholeNumber | None
    reasoning: str = ""


class _Said(Decision):
    """A bid as a reply may hold it: neither null nor negative."""

    bid: Annotated[WholeNumber, Field(ge=0)]
    reasoning: str = ""


HINT = 'Answer with one JSON object: {"bid": <a whole number, 0 to pass>, "reasoning": "<why>"}'
MAX_BARE = 100  # characters of a reply that is a number and nothing else, with its decoration

# what may stand around a number that is the whole reply: a fence, marks in pairs, the label, the end of a sentence
_AROUND = re.compile(
    r"```[a-z]*\s(?P<fenced>[^`]*)```"
    r"|(?P<mark>\*\*|__|[*_`\"'])(?P<marked>.*)(?P=mark)"
    r"|(?P<bold>\*\*|__|[*_`]|)(?:my |final |my final )?bid(?:\s*[:=]\s*(?P=bold)|(?P=bold)\s*[:=])(?P<labelled>.*)"
    r"|(?P<sentence>.*[^.\s])\.",
    re.IGNORECASE | re.DOTALL,
)


def read_bid(text: str) -> Reading[BidCast]:
    """The bid of a reply: of the last object that names one, or of a reply that is a number and nothing else.

    Raises `UnreadableReply` where there is none, `AmbiguousReply` where one object names two.
    """
    try:
        said = read(text, _Said, "last", _respelt)
    except AmbiguousReply as error:
        _refuse(error)
    except UnreadableReply as error:
        bare = _bare(text)
        if bare is None:
            _refuse(error)
        return Reading(BidCast(bid=bare), "bare")
    decision = BidCast(bid=said.decision.bid, reasoning=said.decision.reasoning)
    return Reading(decision, said.stage, candidates=said.candidates)


def _refuse(error: DecisionError) -> NoReturn:
    raise type(error)(f"{error} {HINT}") from None


def _respelt(value: dict[str, Any]) -> dict[str, Any]:
    """The object with our spelling of its keys; nothing of one that is no answer."""
    by_key: dict[str, list[Any]] = {}
    for key, given in value.items():
        by_key.setdefault(key.strip().casefold(), []).append(given)
    bids = by_key.get("bid")
    # with a team's name it is the auction's record of somebody's bid, quoted from the game state
    if bids is None or "teamname" in by_key:
        return {}
    if len({_as_json(bid) for bid in bids}) > 1:
        raise AmbiguousReply("The key 'bid' stands twice with different values.")
    return {"bid": bids[0], "reasoning": _words(by_key.get("reasoning", [None])[-1])}


def _words(given: Any) -> str:
    """Reasoning that is no string is kept as its JSON: it decides nothing, so it never spoils a bid."""
    if given is None or isinstance(given, str):
        return given or ""
    return _as_json(given)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _bare(text: str) -> int | None:
    """The bid of a reply that holds nothing else; None where it holds anything else or no bid."""
    inner = cleaned(without_thinking(text)).strip()
    if len(inner) > MAX_BARE:
        return None
    while around := _AROUND.fullmatch(inner):
        parts = around.groupdict()
        inner = next(parts[name] for name in ("fenced", "marked", "labelled", "sentence") if parts[name] is not None)
        inner = inner.strip()
    try:
        bid = whole(inner)
    except PydanticCustomError:
        return None
    return bid if bid >= 0 else None
