"""The fundamentalist: has an idea of what a good is worth, looks at the book, buys below and sells above."""

from __future__ import annotations

import json
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.games.market.bots.zero_intelligence import offer, sides
from agentsim.games.market.ledger import CAPITAL
from agentsim.games.market.requests import Act, ActionChosen, AskQuery, QueryChosen
from agentsim.games.market.state import NO_QUERY, SKIP

GUESSED = (5, 20)  # of a good of which it has no value of its own


def query(request: AskQuery) -> QueryChosen:
    """Look at the book of one good after the other, round by round."""
    if "order_book" not in {each.name for each in request.offered} or not request.menu.goods:
        return QueryChosen(query=NO_QUERY)
    good = request.menu.goods[request.now.round % len(request.menu.goods)]
    return QueryChosen(query="order_book", query_parameters={"good": good})


def act(request: Act, rng: Stream) -> ActionChosen:
    """Take what the book offers on the right side of the value; else quote a tenth away from it."""
    book = _book(request)
    choices = []
    for side, good in sides(request):
        value = request.now.worth(good) or rng.lasting(f"value/{good}").integer(*GUESSED)
        opposite = book.get("asks" if side == "buy" else "bids", []) if book.get("good") == good else []
        best = opposite[0]["price"] if opposite else None
        good_price = best is not None and (best < value if side == "buy" else best > value)
        away = max(1, value // 10)
        price = best if good_price and best is not None else value - away if side == "buy" else value + away
        if price < 1 or (side == "buy" and price > request.now.free(CAPITAL)):
            continue
        choices.append((good_price, offer(side, good, price)))
    taking = [chosen for good_price, chosen in choices if good_price]
    if taking:
        return taking[0]
    return rng.pick(choices)[1] if choices else ActionChosen(action=SKIP)


def _book(request: Act) -> dict[str, Any]:
    """The order book that it asked for in this turn."""
    for each in request.observed:
        if each.query == "order_book":
            found: dict[str, Any] = json.loads(each.line)
            return found
    return {}
