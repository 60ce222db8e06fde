"""Bots: scripted traders, pure functions of the request and of random streams.

A bot learns through its working memory, as a model would. ZIP (Cliff 1997, HPL-97-91) is a profit margin that follows
the market by a Widrow-Hoff rule with momentum. The margin and the momentum are in the trader's working memory, and it
learns from the quotes and trades since its last turn. Cliff's absolute step of 0.05 dollars, with prices up to some 4
dollars, is here an eightieth of the highest price. Cliff's shouts are gone if they are not taken. Here quotes rest, and
a market that refuses worse ones falls silent: a trader that has heard nothing since its last turn learns from the
resting quotes as if they were shouted again. Cliff's traders have one unit; a trader with several carries its price,
not its margin, from one to the next.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import partial
from typing import Any

from agentsim.engine import Bot, Decision, Number, Stream
from agentsim.engine.menu import MenuItem
from agentsim.engine.random_policy import random_decision
from agentsim.games.market.interviews import NOBODY, InterviewAnswer, Moderate, Moderation
from agentsim.games.market.order_book import collateral
from agentsim.games.market.state import NO_QUERY, SKIP
from agentsim.games.market.turn import (
    SKIPPED,
    Act,
    ActionChosen,
    AskQuery,
    Brief,
    BriefingAnswered,
    Interviewed,
    QueryChosen,
    Signal,
)
from agentsim.games.market.world import CAPITAL, Side
from agentsim.lazy import dataclass

# -- what each can do, and ZIP

SIDES: tuple[Side, ...] = ("buy", "sell")


def offer(request: Act, side: Side, good: str, price: int, memory: str = "") -> ActionChosen:
    """Return an order for one unit by the first action that means it, or a skip if there is none."""
    given = {"good": good, "price": price, "quantity": 1}
    name = next((name for name in _ways(request, side)), SKIP)
    return ActionChosen(action=name, action_parameters={} if name == SKIP else given, working_memory=memory)


def _ways(request: Act, side: Side) -> Iterator[str]:
    """Yield the actions that mean to buy or to sell a good at a price."""
    meaning = request.scope.meaning
    for each in request.actions:
        if meaning.get(each.name, each.name) == side and {"good", "price", "quantity"} <= each.parameters.keys():
            yield each.name


def sides(request: Act) -> list[tuple[Side, str]]:
    """Return what the trader can do: buy if it has capital, sell what it has; in an experiment its one side."""
    now = request.now
    if now.unit is not None:
        return [(now.unit.side, request.menu.goods[0])]
    can = [side for side in SIDES if next(_ways(request, side), None)]
    ways = ((side, good) for good in request.menu.goods for side in SIDES if side in can)
    return [(side, good) for side, good in ways if now.free[collateral(side, good, 1, 1)[0]] > 0]


def zip_act(request: Act, rng: Stream) -> ActionChosen:
    """Learn from what was quoted and traded, then quote the limit price with the margin on it.

    With several goods or both sides it learns about all of them and quotes one.
    """
    limits = {way: limit for way in sides(request) if (limit := request.now.worth(way[1])) is not None}
    if not limits:
        return SKIPPED.model_copy(update={"working_memory": request.now.memory})
    side, good = chosen = rng.pick(list(limits))
    said = _said(request.now.memory)
    step = (request.menu.price_max or max(limits.values())) / 80
    traders = {}
    for way, limit in limits.items():
        traders[way] = trader = _Trader.recalled(said.get(way[1]), way[0], limit, rng)
        for number, signal in enumerate(request.now.signals):
            if signal.good == way[1]:
                trader.learn(signal, rng, step)
                if number >= request.now.stale:
                    trader.hear(signal, request.now.period)
        if not request.now.signals:
            for shouted, price in trader.in_period(request.now.period).items():
                trader.learn(Signal(way[1], shouted, price, traded=False), rng, step)
    limit, most = limits[chosen], request.menu.price_max or limits[chosen]
    if side == "buy":
        most = min(limit, request.now.free[CAPITAL] or limit)
    price = min(max(1, round(traders[chosen].price)), most)
    price = max(price, limit) if side == "sell" else price
    return offer(request, side, good, price, _memory(said, traders, good, request.menu.memory_chars))


def _said(memory: str) -> dict[str, Any]:
    try:
        return dict(json.loads(memory))
    except (ValueError, TypeError):
        return {}


def _memory(said: dict[str, Any], traders: Mapping[tuple[Side, str], _Trader], quoted: str, most: int) -> str:
    """Return what to know at the next turn as JSON, by good; if it is too long, only the good that is quoted."""
    for (_, good), trader in traders.items():
        former = said.get(good)
        said[good] = {**(former if isinstance(former, dict) else {}), **trader.notes()}
    text = json.dumps(said)
    return text if len(text) <= most else json.dumps({quoted: said[quoted]})


@dataclass
class _Trader:
    """One side of one trader; `margin` is 0 or more for a seller, and -1 to 0 for a buyer."""

    side: Side
    limit: int
    margin: float
    change: float
    rate: float
    momentum: float
    resting: dict[Side, int] = field(default_factory=dict)  # the latest quote of each side that has not traded
    period: int | None = None  # the period of these quotes

    @classmethod
    def recalled(cls, said: Any, side: Side, limit: int, rng: Stream) -> _Trader:
        """Return the trader that its working memory describes for this good, or a new one, drawn as Cliff does."""
        tastes = rng.per_game(f"zip/{side}")
        first = 0.05 + 0.3 * tastes.random()
        rate, momentum = 0.1 + 0.4 * tastes.random(), 0.2 + 0.6 * tastes.random()
        resting: dict[Side, int] = {}
        period = None
        try:
            former, margin, change = (float(number) for number in said[side])
            margin = _allowed(side, former * (1 + margin) / limit - 1) if former != limit else margin
            period = said.get("period")
            resting = {name: int(said["standing"][name]) for name in SIDES if name in said["standing"]}
        except (ValueError, KeyError, TypeError, IndexError):
            margin, change = (first if side == "sell" else -first), 0.0
        return cls(side, limit, margin, change, rate, momentum, resting, period)

    @property
    def price(self) -> float:
        return self.limit * (1 + self.margin)

    def learn(self, signal: Signal, rng: Stream, step: float) -> None:
        """Move the margin if the last shout says that more could be had, or that less must do."""
        price, sells = round(self.price), self.side == "sell"  # what it would shout itself
        would_trade = price <= signal.price if sells else price >= signal.price
        if signal.traded and would_trade:
            self._towards(signal.price, rng, step, up=sells)
        elif (not would_trade or price == signal.price) and signal.traded == (signal.side != self.side):
            # the competition undercuts; or a trade was not made by its own side, at a price that it could not match
            self._towards(signal.price, rng, step, up=not sells)

    def in_period(self, period: int | None) -> dict[Side, int]:
        """Return the quotes that rest as far as it knows: those of an earlier period do not."""
        return self.resting if self.period == period else {}

    def hear(self, signal: Signal, period: int | None) -> None:
        self.resting = (
            {} if signal.traded or signal.side is None else {**self.in_period(period), signal.side: signal.price}
        )
        self.period = period

    def notes(self) -> dict[str, Any]:
        return {
            self.side: [self.limit, round(self.margin, 6), round(self.change, 6)],
            "standing": dict(self.resting),
            **({} if self.period is None else {"period": self.period}),
        }

    def _towards(self, shout: int, rng: Stream, step: float, *, up: bool) -> None:
        relative, absolute = 0.05 * rng.random(), step * rng.random()
        target = shout * (1 + relative) + absolute if up else shout * (1 - relative) - absolute
        delta = self.rate * (target - self.price)
        self.change = self.momentum * self.change + (1 - self.momentum) * delta
        self.margin = _allowed(self.side, (self.price + self.change) / self.limit - 1)


def _allowed(side: Side, margin: float) -> float:
    return max(0.0, margin) if side == "sell" else min(0.0, max(-1.0, margin))


# -- the others

GUESSED = (5, 20)  # the range of its guess at the value of a good without a private value


def zero_intelligence(request: Act, rng: Stream, *, bounded: bool) -> ActionChosen:
    """Quote a price drawn uniformly from 1 to the highest (Gode and Sunder 1993); with `bounded`, without a loss.

    Outside experiments there may be no private value, and the agent's holdings bound its price.
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
    """Quote exactly what the next unit is worth."""
    ways = [(side, good) for side, good in sides(request) if request.now.worth(good) is not None]
    if not ways:
        return SKIPPED
    side, good = rng.pick(ways)
    return offer(request, side, good, request.now.worth(good) or 1)


def look(request: AskQuery) -> QueryChosen:
    """Query the order book of one good after the other, round by round."""
    if "order_book" not in request.offered or not request.menu.goods:
        return QueryChosen(query=NO_QUERY)
    good = request.menu.goods[request.now.round % len(request.menu.goods)]
    return QueryChosen(query="order_book", query_parameters={"good": good})


def by_value(request: Act, rng: Stream) -> ActionChosen:
    """Take the best price in the book if it is on the right side of the value, else quote a tenth away from it."""
    book: Mapping[str, Any] = next((each.observation for each in request.observed if each.query == "order_book"), {})
    choices = []
    for side, good in sides(request):
        value = request.now.worth(good) or rng.per_game(f"value/{good}").integer(*GUESSED)
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
    """Choose anything at random, sometimes what is impossible; for tests and for a first look."""
    if isinstance(request, Moderate) and rng.random() < 0.8:
        return Moderation(ask=NOBODY)
    drawn = random_decision(request, rng)
    if not isinstance(drawn, ActionChosen):
        return drawn
    named = next((each for each in request.actions if each.name == drawn.action), MenuItem("", ""))
    options = ((name, option) for name, option in named.parameters.items() if isinstance(option, Number))
    few = {name: _few(option, rng) for name, option in options}
    return drawn.model_copy(update={"action_parameters": {**drawn.action_parameters, **few}})


def _few(option: Number, rng: Stream) -> int:
    """Return a number that is likely to succeed: few units at a low price."""
    return rng.integer(option.low, option.low + 4 if option.high is None else min(option.high, option.low + 14))


def _trader(
    says: str,
    act: Callable[[Act, Stream], ActionChosen],
    query: Callable[[AskQuery], QueryChosen] = lambda request: QueryChosen(query=NO_QUERY),
) -> Bot:
    """Return a bot that understands everything, and answers every interview with `says`."""

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
    "zip": _trader("I move my margin towards what the market pays.", zip_act),
    "truthful": _trader("I quote what it is worth to me.", truthful),
    "fundamentalist": _trader("I buy below what I think it is worth, and sell above.", by_value, look),
    "idle": _trader("I wait.", lambda request, rng: SKIPPED),
    "random": _randomly,
}
