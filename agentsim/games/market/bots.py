"""Bots: scripted traders. Each is a pure function of the request and of streams of its own; what one learns stands in
its working memory, as it would for a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from agentsim.engine import Bot, Decision, Number, Stream
from agentsim.engine.capability import Capability
from agentsim.engine.random_policy import random_decision
from agentsim.games.market import zip_trader
from agentsim.games.market.ledger import CAPITAL
from agentsim.games.market.moderator import NOBODY, InterviewAnswer, Interviewed, Moderate, Moderation
from agentsim.games.market.requests import SKIPPED, Act, ActionChosen, AskQuery, Brief, BriefingAnswered, QueryChosen
from agentsim.games.market.state import NO_QUERY, SKIP
from agentsim.games.market.zip_trader import offer, sides

GUESSED = (5, 20)  # of a good of which it has no value of its own


def zero_intelligence(request: Act, rng: Stream, *, bounded: bool) -> ActionChosen:
    """Draw a price uniformly (Gode and Sunder 1993) from 1 to the highest; `bounded`, from those at which none loses.

    Outside experiments a value may be missing, and what one holds bounds what one asks.
    """
    if not (possible := sides(request)):
        return SKIPPED
    side, good = rng.pick(possible)
    now, worth = request.now, request.now.worth(good)
    most = request.menu.price_max or 1
    if now.unit is None:
        most = min(most, max(2 * (worth or 0), now.held[CAPITAL], 1))
    if side == "buy" and now.unit is None:
        most = min(most, now.free[CAPITAL])
    low = 1
    if bounded and worth is not None:
        low, most = (1, min(most, worth)) if side == "buy" else (worth, most)
    return offer(request, side, good, rng.integer(low, most)) if low <= most else SKIPPED


def truthful(request: Act, rng: Stream) -> ActionChosen:
    """Quote just what the next unit is worth."""
    ways = [(side, good) for side, good in sides(request) if request.now.worth(good) is not None]
    if not ways:
        return SKIPPED
    side, good = rng.pick(ways)
    return offer(request, side, good, request.now.worth(good) or 1)


def look(request: AskQuery) -> QueryChosen:
    """The fundamentalist looks at the book of one good after the other, round by round."""
    if "order_book" not in request.offered or not request.menu.goods:
        return QueryChosen(query=NO_QUERY)
    good = request.menu.goods[request.now.round % len(request.menu.goods)]
    return QueryChosen(query="order_book", query_parameters={"good": good})


def by_value(request: Act, rng: Stream) -> ActionChosen:
    """It takes what the book offers on the right side of the value; else it quotes a tenth away from it."""
    book: Mapping[str, Any] = next((each.observation for each in request.observed if each.query == "order_book"), {})
    choices = []
    for side, good in sides(request):
        value = request.now.worth(good) or rng.lasting(f"value/{good}").integer(*GUESSED)
        opposite = book.get("asks" if side == "buy" else "bids", []) if book.get("good") == good else []
        best = opposite[0]["price"] if opposite else None
        good_price = best is not None and (best < value if side == "buy" else best > value)
        away = max(1, value // 10)
        price = best if good_price and best is not None else value - away if side == "buy" else value + away
        if price >= 1 and (side == "sell" or price <= request.now.free[CAPITAL]):
            choices.append((good_price, offer(request, side, good, price)))
    taking = [chosen for good_price, chosen in choices if good_price]
    return taking[0] if taking else rng.pick(choices)[1] if choices else SKIPPED


def _randomly(request: Any, rng: Stream) -> Decision:
    """Does and asks anything that there is, sometimes what cannot be; for tests and for a first look."""
    if isinstance(request, Moderate) and rng.random() < 0.8:
        return Moderation(ask=NOBODY)
    drawn = random_decision(request, rng)
    if not isinstance(drawn, ActionChosen):
        return drawn
    named = next((each for each in request.actions if each.name == drawn.action), Capability("", ""))
    options = ((name, option) for name, option in named.parameters.items() if isinstance(option, Number))
    few = {name: _few(option, rng) for name, option in options}
    return drawn.model_copy(update={"action_parameters": {**drawn.action_parameters, **few}})


def _few(option: Number, rng: Stream) -> int:
    """A number that may well come to something: few units at a low price."""
    return rng.integer(option.low, option.low + 4 if option.high is None else min(option.high, option.low + 14))


def _trader(
    says: str,
    act: Callable[[Act, Stream], ActionChosen],
    query: Callable[[AskQuery], QueryChosen] = lambda request: QueryChosen(query=NO_QUERY),
) -> Bot:
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
        return Moderation(ask=NOBODY)

    return policy


BOTS: Mapping[str, Bot] = {
    "zi_c": _trader("I draw a price at random, at which I cannot lose.", partial(zero_intelligence, bounded=True)),
    "zi_u": _trader("I draw a price at random.", partial(zero_intelligence, bounded=False)),
    "zip": _trader("I move my margin towards what the market pays.", zip_trader.act),
    "truthful": _trader("I quote what it is worth to me.", truthful),
    "fundamentalist": _trader("I buy below what I think it is worth, and sell above.", by_value, look),
    "idle": _trader("I wait.", lambda request, rng: SKIPPED),
    "random": _randomly,
}
