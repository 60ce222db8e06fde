"""ZIP (Cliff 1997, HPL-97-91): a profit margin that follows the market by a Widrow-Hoff rule with momentum.

The margin and the momentum stand in the trader's working memory; what it learns from are the quotes and trades
since its last turn. Cliff's absolute step of 0.05 dollars, where prices went up to some 4 dollars, is here an
eightieth of the highest price. His shouts are gone once they are not taken; here quotes stand, and a market that
refuses worse ones falls silent: a trader that has heard nothing since its last turn learns from the standing quotes
as if they were shouted again. His traders have one unit; of several, a trader carries its price, not its margin,
from one to the next.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentsim.engine import Stream
from agentsim.games.market.ledger import CAPITAL
from agentsim.games.market.memory import Signal
from agentsim.games.market.order_book import stake
from agentsim.games.market.requests import SKIPPED, Act, ActionChosen
from agentsim.games.market.state import SKIP
from agentsim.games.market.trade import Side

SIDES: tuple[Side, ...] = ("buy", "sell")


def offer(request: Act, side: Side, good: str, price: int, memory: str = "") -> ActionChosen:
    """An order for one unit, by the first action that means it."""
    given = {"good": good, "price": price, "quantity": 1}
    name = next((name for name in _ways(request, side)), SKIP)
    return ActionChosen(action=name, action_parameters={} if name == SKIP else given, working_memory=memory)


def _ways(request: Act, side: Side) -> Iterator[str]:
    """The actions that mean to buy or to sell a good at a price."""
    meaning = request.scope.meaning
    for each in request.actions:
        if meaning.get(each.name, each.name) == side and {"good", "price", "quantity"} <= each.parameters.keys():
            yield each.name


def sides(request: Act) -> list[tuple[Side, str]]:
    """What the trader can do: buy where it has capital, sell what it has; its one side in an experiment."""
    now = request.now
    if now.unit is not None:
        return [(now.unit.side, request.menu.goods[0])]
    can = [side for side in SIDES if next(_ways(request, side), None)]
    ways = ((side, good) for good in request.menu.goods for side in SIDES if side in can)
    return [(side, good) for side, good in ways if now.free[stake(side, good, 1, 1)[0]] > 0]


def act(request: Act, rng: Stream) -> ActionChosen:
    """Learn from what was quoted and traded, then quote the limit price with the margin on it.

    Where it can trade several goods, or on both sides, it learns about all of them and quotes one.
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
    """What is to be known next time, by good; of too many for the working memory the one that it quotes."""
    for (_, good), trader in traders.items():
        former = said.get(good)
        said[good] = {**(former if isinstance(former, dict) else {}), **trader.notes()}
    text = json.dumps(said)
    return text if len(text) <= most else json.dumps({quoted: said[quoted]})


@dataclass
class _Trader:
    """One side of one trader. `margin` is 0 or more of a seller, -1 to 0 of a buyer."""

    side: Side
    limit: int
    margin: float
    change: float
    rate: float
    momentum: float
    standing: dict[Side, int] = field(default_factory=dict)  # the latest quote of either side that is not taken
    period: int | None = None  # in which those stand

    @classmethod
    def recalled(cls, said: Any, side: Side, limit: int, rng: Stream) -> _Trader:
        """The trader as its working memory says of this good; of one that begins, drawn as Cliff does."""
        tastes = rng.lasting(f"zip/{side}")
        first = 0.05 + 0.3 * tastes.random()
        rate, momentum = 0.1 + 0.4 * tastes.random(), 0.2 + 0.6 * tastes.random()
        standing: dict[Side, int] = {}
        period = None
        try:
            former, margin, change = (float(number) for number in said[side])
            margin = _allowed(side, former * (1 + margin) / limit - 1) if former != limit else margin
            period = said.get("period")
            standing = {name: int(said["standing"][name]) for name in SIDES if name in said["standing"]}
        except (ValueError, KeyError, TypeError, IndexError):
            margin, change = (first if side == "sell" else -first), 0.0
        return cls(side, limit, margin, change, rate, momentum, standing, period)

    @property
    def price(self) -> float:
        return self.limit * (1 + self.margin)

    def learn(self, signal: Signal, rng: Stream, step: float) -> None:
        """Move the margin where the last shout says that more could be had, or that less must do."""
        price, sells = round(self.price), self.side == "sell"  # what it would shout itself
        would_trade = price <= signal.price if sells else price >= signal.price
        if signal.traded and would_trade:
            self._towards(signal.price, rng, step, up=sells)
        elif (not would_trade or price == signal.price) and signal.traded == (signal.side != self.side):
            # the competition undercuts; or a trade was not made by its own side, at a price that it could not match
            self._towards(signal.price, rng, step, up=not sells)

    def in_period(self, period: int | None) -> dict[Side, int]:
        """What stands for all it knows: of an earlier period nothing does."""
        return self.standing if self.period == period else {}

    def hear(self, signal: Signal, period: int | None) -> None:
        self.standing = (
            {} if signal.traded or signal.side is None else {**self.in_period(period), signal.side: signal.price}
        )
        self.period = period

    def notes(self) -> dict[str, Any]:
        return {
            self.side: [self.limit, round(self.margin, 6), round(self.change, 6)],
            "standing": dict(self.standing),
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
