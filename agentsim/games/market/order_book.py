"""Order books: a continuous double auction for one good, and the events of orders and trades.

Orders have price-time priority, and a trade is at the price of the resting order. An order's collateral, the most that
it could cost, is reserved on its owner's account when it is placed, and released as it trades or goes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import count
from typing import Any, Literal, NamedTuple, TypeAlias

from agentsim.engine import Event
from agentsim.engine.menu import ActionRefused
from agentsim.engine.wording import By
from agentsim.games.market.world import CAPITAL, Ledger, Side, Trade
from agentsim.lazy import dataclass

Why: TypeAlias = Literal["cancelled", "replaced", "own", "outbid", "traded", "closed", "unmet"]
_GONE: dict[Why, str] = {
    "cancelled": "was cancelled",
    "replaced": "was replaced",
    "own": "stood in the way of an order of its own owner",
    "outbid": "is no longer the best",
    "traded": "was cleared after a trade",
    "closed": "was cleared at the end of the period",
    "unmet": "was not met at the call",
}
_NOTED: dict[Why, str] = {
    "outbid": "somebody's is better",
    "traded": "cleared after a trade",
    "closed": "period over",
    "unmet": "not met at the call",
}


class _OfOrder(Event, private=("hearer",), base=True):
    order: int
    agent: str
    good: str
    side: Side
    price: int
    quantity: int
    sealed: bool

    @property
    def hearer(self) -> str | None:
        """The owner of a sealed order, which no other agent hears of, or None if all hear of the order."""
        return self.agent if self.sealed else None


class Ordered(
    _OfOrder,
    label="order",
    heading=("{agent} ", By("side", {"buy": "bids"}, "asks"), " {price}"),
    content="Order {order}: {side} {quantity} {good} at {price}; {standing} resting.",
):
    """A limit order was placed; `standing` units of it are left after what it traded at once, and rest in the book."""

    standing: int


class Withdrawn(
    _OfOrder,
    label="order withdrawn",
    heading="{agent}'s order {order} is gone",
    content=("To {side} {quantity} {good} at {price}: it ", By("why", _GONE), "."),
):
    """An order left the book with this quantity untraded."""

    why: Why

    def news_for(self, agent: str, by: str | None) -> Mapping[str, Any] | None:
        """Return what the owner is told of an order that is gone, or None if that was its own doing."""
        concerns = agent == self.agent != by and self.why in _NOTED
        return {"your_order": self.order, "gone": _NOTED[self.why]} if concerns else None


class Traded(Trade, label="trade"):
    """Two orders met: `resting` is the one in the book, and `taker` the side of the aggressor."""

    resting: int
    incoming: int
    taker: Side
    round: int

    @property
    def side(self) -> Side:
        return self.taker

    def news_for(self, agent: str, by: str | None) -> Mapping[str, Any] | None:
        """Return what the owner of the resting order is told."""
        other, what = (self.seller, "sold") if self.taker == "buy" else (self.buyer, "bought")
        if agent != other:
            return None
        return {"your_order": self.resting, what: self.quantity, "good": self.good, "price": self.price}


def require_free(asset: str, needed: int, free: int) -> None:
    """Raise `ActionRefused` if less of an asset is free than is needed."""
    if needed > free:
        raise ActionRefused(f"that takes {needed} {asset}, and you have {free} free")


def collateral(side: str, good: str, price: int, quantity: int) -> tuple[str, int]:
    """Return the collateral of an order: an asset, and how much of it."""
    return (CAPITAL, price * quantity) if side == "buy" else (good, quantity)


class Order(NamedTuple):
    """An open limit order; orders sort by price-time priority.

    `quantity` is what is left of it; `replaced_by_next` says that a new order of its owner for that good replaces it.
    """

    rank: int  # the price of an ask, or minus the price of a bid
    number: int
    agent: str
    good: str
    side: Side
    price: int
    quantity: int
    replaced_by_next: bool = False

    def collateral(self, quantity: int | None = None) -> tuple[str, int]:
        """Return the collateral of `quantity` units of it, or of all."""
        return collateral(self.side, self.good, self.price, self.quantity if quantity is None else quantity)

    @property
    def words(self) -> str:
        """The order in words, for its owner."""
        return f"{self.number} ({self.side} {self.quantity} {self.good} at {self.price})"


@dataclass(frozen=True, slots=True)
class Placed:
    ordered: Ordered
    trades: tuple[Traded, ...] = ()
    withdrawn: tuple[Withdrawn, ...] = ()


@dataclass
class OrderBook:
    """The open orders for one good.

    With `best_only` a quote must trade or improve on the best of its side, whose place it then takes. With
    `clear_after_trade` every open order goes once a trade has been made, and nothing is left of the order that made it.
    With `single_unit` orders are for one unit, and each owner has one, which a new one replaces. An order never trades
    with one of the same owner: the resting one is withdrawn when its turn would come. With `sealed` orders wait for
    each other, whatever their prices, and an order that would meet one of the same owner is refused.
    """

    good: str
    ledger: Ledger
    best_only: bool = False
    clear_after_trade: bool = False
    single_unit: bool = False
    sealed: bool = False
    ids: Iterator[int] = field(default_factory=lambda: count(1))
    bids: list[Order] = field(default_factory=list)
    asks: list[Order] = field(default_factory=list)
    _by_agent: dict[str, dict[int, Order]] = field(default_factory=dict)

    def of(self, agent: str) -> list[Order]:
        """Return the agent's open orders, oldest first."""
        return list(self._by_agent.get(agent, {}).values())

    def place(
        self, agent: str, side: Side, price: int, quantity: int = 1, *, replaces: int | None = None, now: int = 0
    ) -> Placed:
        """Place an order in round `now`, in place of another of the same agent if one is named.

        A replacement loses its time priority, unless only the quantity becomes less. Raises `ActionRefused`.
        """
        former = None if replaces is None else self._own(agent, replaces)
        going = [former] if former else self.of(agent) if self.single_unit else []
        self._admit(agent, side, price, quantity, going)
        if former and (former.side, former.price) == (side, price) and quantity < former.quantity:
            self._fill(former, former.quantity - quantity)
            return Placed(Ordered(former.number, agent, self.good, side, price, quantity, self.sealed, quantity))
        withdrawn = [self._withdraw(order, "replaced") for order in going]
        rank = -price if side == "buy" else price
        order = Order(rank, next(self.ids), agent, self.good, side, price, quantity, self.single_unit)
        self.ledger.reserve(agent, *order.collateral())
        left, trades = quantity, list[Traded]()
        while left and not self.sealed and (resting := self._meets(side, price)):
            if resting.agent == agent:
                withdrawn.append(self._withdraw(resting, "own"))
                continue
            trades.append(self._trade(order, resting, min(left, resting.quantity), now))
            left -= trades[-1].quantity
            if self.clear_after_trade:
                break
        if trades and self.clear_after_trade:
            self.ledger.release(agent, *order.collateral(left))
            withdrawn += self.clear("traded")
            left = 0
        elif left:
            if self.best_only:
                withdrawn += [self._withdraw(other, "outbid") for other in list(self._side(side))]
            order = order if left == quantity else order._replace(quantity=left)
            insort(self._side(side), order)
            self._by_agent.setdefault(agent, {})[order.number] = order
        ordered = Ordered(order.number, agent, self.good, side, price, quantity, self.sealed, left)
        return Placed(ordered, tuple(trades), tuple(withdrawn))

    def cancel(self, agent: str, order: int) -> Withdrawn:
        """Cancel an order of the agent. Raises `ActionRefused` if it has no such order."""
        return self._withdraw(self._own(agent, order), "cancelled")

    def take(self, agent: str, order: int, quantity: int) -> None:
        """Take units of an open order out of the book, which trade outside of it."""
        self._fill(self._own(agent, order), quantity)

    def clear(self, why: Why) -> list[Withdrawn]:
        return [self._withdraw(order, why) for order in (*self.bids, *self.asks)]

    def _fill(self, order: Order, quantity: int) -> None:
        """Take units of a resting order out of the book, and release their collateral."""
        self.ledger.release(order.agent, *order.collateral(quantity))
        orders = self._side(order.side)
        place = bisect_left(orders, order)
        if quantity < order.quantity:
            orders[place] = left = order._replace(quantity=order.quantity - quantity)
            self._by_agent[order.agent][order.number] = left
        else:
            del orders[place], self._by_agent[order.agent][order.number]

    def check(self) -> list[str]:
        broken = []
        if not self.sealed and self.bids and self.asks and self.bids[0].price >= self.asks[0].price:
            broken.append(f"{self.good}: no resting bid meets a resting ask")
        if self.best_only and max(len(self.bids), len(self.asks)) > 1:
            broken.append(f"{self.good}: only the best quotes stand")
        return broken

    def _admit(self, agent: str, side: Side, price: int, quantity: int, going: list[Order]) -> None:
        if price < 1 or quantity < 1:
            raise ActionRefused("price and quantity are whole numbers from 1")
        if self.single_unit and quantity != 1:
            raise ActionRefused("orders are for one unit here")
        asset, needed = collateral(side, self.good, price, quantity)
        freed = sum(order.collateral()[1] for order in going if order.side == side)
        require_free(asset, needed, self.ledger.free(agent, asset) + freed)
        met = {"buy": 1, "sell": -1}[side]
        if self.sealed and any(
            met * (price - own.price) >= 0 for own in self.of(agent) if own.side != side and own not in going
        ):
            raise ActionRefused("it would meet an order of your own")
        if self.best_only and (best := next(iter(self._side(side)), None)):
            others = (order for order in self._side("sell" if side == "buy" else "buy") if order.agent != agent)
            meets = (price - other.price if side == "buy" else other.price - price for other in others)
            better = price > best.price if side == "buy" else price < best.price
            if not better and next(meets, -1) < 0:
                what, where = ("a bid", "above") if side == "buy" else ("an ask", "below")
                raise ActionRefused(f"{what} must be {where} the best one, {best.price}, or trade")

    def _meets(self, side: Side, price: int) -> Order | None:
        """Return the resting order that trades next with an order of that side and price, or None."""
        if side == "buy":
            return self.asks[0] if self.asks and self.asks[0].price <= price else None
        return self.bids[0] if self.bids and self.bids[0].price >= price else None

    def _trade(self, incoming: Order, resting: Order, quantity: int, now: int) -> Traded:
        self.ledger.release(incoming.agent, *incoming.collateral(quantity))
        self._fill(resting, quantity)
        buyer, seller = (incoming, resting) if incoming.side == "buy" else (resting, incoming)
        self.ledger.move(buyer.agent, seller.agent, CAPITAL, resting.price * quantity)
        self.ledger.move(seller.agent, buyer.agent, self.good, quantity)
        parties, numbers = (buyer.agent, seller.agent), (resting.number, incoming.number)
        return Traded(self.good, resting.price, quantity, *parties, *numbers, incoming.side, now)

    def _withdraw(self, order: Order, why: Why) -> Withdrawn:
        self._fill(order, order.quantity)
        of = (order.number, order.agent, self.good, order.side, order.price, order.quantity)
        return Withdrawn(*of, self.sealed, why)

    def _own(self, agent: str, order: int) -> Order:
        own = self._by_agent.get(agent, {}).get(order)
        if own is None:
            raise ActionRefused(f"you have no open order {order}")
        return own

    def _side(self, side: Side) -> list[Order]:
        return self.bids if side == "buy" else self.asks
