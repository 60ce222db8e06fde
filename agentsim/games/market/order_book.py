"""OrderBook: a continuous double auction for one good. Who may order what, and who hears of it, does not belong here.

Price first, then time; a trade is at the price of the order that stood there first. An order is covered from the moment
it is placed: what it could cost is reserved on its owner's account, and freed as it trades or goes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from operator import attrgetter
from typing import Literal, TypeAlias

from agentsim.games.market.ledger import CAPITAL, Ledger

Side: TypeAlias = Literal["buy", "sell"]
Why: TypeAlias = Literal["cancelled", "replaced", "own", "outbid", "traded", "closed"]
"""Why an order left the book untraded: taken back, replaced, in the way of an order of its own owner, no longer the
best where only the best stand, cleared after a trade, or at the end of a period."""


def shortage(asset: str, needed: int, free: int) -> str:
    """Why so much of an asset cannot be reserved; "" where it can."""
    return f"that takes {needed} {asset}, and you have {free} free" if needed > free else ""


class OrderRefused(ValueError):
    """An order that the book does not take, in words fit for who placed it; nothing has changed."""


@dataclass(slots=True)
class Order:
    """An open limit order; `quantity` is what is left of it."""

    id: int
    owner: str
    side: Side
    price: int
    quantity: int
    rank: tuple[int, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.rank = (-self.price if self.side == "buy" else self.price, self.id)


@dataclass(frozen=True, slots=True)
class OpenOrder:
    """An open order of the agent's own; `alone` where a new one for that good takes its place."""

    number: int
    good: str
    side: Side
    price: int
    quantity: int
    alone: bool = False

    @property
    def words(self) -> str:
        """What it is, for its owner."""
        return f"{self.number} ({self.side} {self.quantity} {self.good} at {self.price})"


@dataclass(frozen=True, slots=True)
class Trade:
    """So many units changed hands; `resting` and `incoming` are the two orders, the earlier one first."""

    price: int
    quantity: int
    buyer: str
    seller: str
    resting: int
    incoming: int


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """An order left the book with this quantity untraded."""

    order: int
    owner: str
    side: Side
    price: int
    quantity: int
    why: Why


@dataclass(frozen=True, slots=True)
class Placed:
    """What came of a new order: `standing` units of it are left in the book."""

    order: int
    standing: int
    trades: tuple[Trade, ...]
    withdrawn: tuple[Withdrawal, ...]


@dataclass
class OrderBook:
    """The open orders for one good.

    `best_only`: a quote that neither trades nor improves on the best of its side is refused, one that improves takes
    its place. `clear_after_trade`: every open order goes once a trade has been made, and nothing is left of the
    order that made it. `single_unit`: orders are for one unit, and each owner has one, which a new one replaces.
    An owner's order never meets an order of its own: the standing one is withdrawn when its turn would come.
    """

    good: str
    ledger: Ledger
    best_only: bool = False
    clear_after_trade: bool = False
    single_unit: bool = False
    ids: Iterator[int] = field(default_factory=lambda: count(1))
    bids: list[Order] = field(default_factory=list)
    asks: list[Order] = field(default_factory=list)
    _by_owner: dict[str, dict[int, Order]] = field(default_factory=dict)

    def best(self, side: Side) -> Order | None:
        """The order of that side which trades first."""
        orders = self._side(side)
        return orders[0] if orders else None

    def of(self, owner: str) -> list[Order]:
        """The owner's open orders, oldest first."""
        return list(self._by_owner.get(owner, {}).values())

    def place(self, owner: str, side: Side, price: int, quantity: int = 1, *, replaces: int | None = None) -> Placed:
        """Place an order, in place of another of the same owner if one is named; `OrderRefused` where it cannot be.

        A replacement stands behind all orders of its price, unless side and price are the same and it is for less.
        """
        former = self._own(owner, replaces) if replaces is not None else None
        going = [former] if former else self.of(owner) if self.single_unit else []
        self._admit(owner, side, price, quantity, going)
        if former and (former.side, former.price) == (side, price) and quantity < former.quantity:
            return self._reduce(former, quantity)
        withdrawn = [self._withdraw(order, "replaced") for order in going]
        self._reserve(owner, side, price * quantity, quantity)
        order = Order(next(self.ids), owner, side, price, quantity)
        trades: list[Trade] = []
        while order.quantity and (resting := self._meets(side, price)):
            if resting.owner == owner:
                withdrawn.append(self._withdraw(resting, "own"))
                continue
            trades.append(self._trade(order, resting))
            if self.clear_after_trade:
                break
        if trades and self.clear_after_trade:
            self._release(owner, side, order.price * order.quantity, order.quantity)
            return Placed(order.id, 0, tuple(trades), (*withdrawn, *self.clear("traded")))
        if order.quantity:
            if self.best_only:
                withdrawn += [self._withdraw(other, "outbid") for other in list(self._side(side))]
            insort(self._side(side), order, key=_rank)
            self._by_owner.setdefault(owner, {})[order.id] = order
        return Placed(order.id, order.quantity, tuple(trades), tuple(withdrawn))

    def cancel(self, owner: str, order: int) -> Withdrawal:
        """Take an order of one's own back; `OrderRefused` where there is no such."""
        return self._withdraw(self._own(owner, order), "cancelled")

    def clear(self, why: Why) -> tuple[Withdrawal, ...]:
        """Take every order out of the book."""
        return tuple(self._withdraw(order, why) for order in (*self.bids, *self.asks))

    def promised(self, owner: str) -> dict[str, int]:
        """What the owner's open orders could cost."""
        out = {CAPITAL: 0, self.good: 0}
        for order in self._by_owner.get(owner, {}).values():
            out[CAPITAL if order.side == "buy" else self.good] += order.quantity * (
                order.price if order.side == "buy" else 1
            )
        return out

    def check(self) -> list[str]:
        """Every broken invariant of the open orders, in words."""
        broken = []
        if self.bids and self.asks and self.bids[0].price >= self.asks[0].price:
            broken.append(f"{self.good}: no standing bid meets a standing ask")
        if self.best_only and max(len(self.bids), len(self.asks)) > 1:
            broken.append(f"{self.good}: only the best quotes stand")
        return broken

    def _admit(self, owner: str, side: Side, price: int, quantity: int, going: list[Order]) -> None:
        if price < 1 or quantity < 1:
            raise OrderRefused("price and quantity are whole numbers from 1")
        if self.single_unit and quantity != 1:
            raise OrderRefused("orders are for one unit here")
        asset, needed = (CAPITAL, price * quantity) if side == "buy" else (self.good, quantity)
        freed = sum(
            order.price * order.quantity if side == "buy" else order.quantity for order in going if order.side == side
        )
        free = self.ledger.free(owner, asset) + freed
        if short := shortage(asset, needed, free):
            raise OrderRefused(short)
        best = self.best(side)
        if self.best_only and best and not self._crosses(owner, side, price):
            better = price > best.price if side == "buy" else price < best.price
            if not better:
                what, where = ("a bid", "above") if side == "buy" else ("an ask", "below")
                raise OrderRefused(f"{what} must be {where} the best one, {best.price}, or trade")

    def _crosses(self, owner: str, side: Side, price: int) -> bool:
        """Whether an order of another owner would be met."""
        opposite = self.asks if side == "buy" else self.bids
        others = next((order for order in opposite if order.owner != owner), None)
        return others is not None and (price >= others.price if side == "buy" else price <= others.price)

    def _meets(self, side: Side, price: int) -> Order | None:
        resting = self.best("sell" if side == "buy" else "buy")
        if resting is None or (price < resting.price if side == "buy" else price > resting.price):
            return None
        return resting

    def _trade(self, incoming: Order, resting: Order) -> Trade:
        quantity = min(incoming.quantity, resting.quantity)
        for order in (incoming, resting):
            self._release(order.owner, order.side, order.price * quantity, quantity)
            order.quantity -= quantity
        if not resting.quantity:
            self._remove(resting)
        buyer, seller = (incoming, resting) if incoming.side == "buy" else (resting, incoming)
        self.ledger.move(buyer.owner, seller.owner, CAPITAL, resting.price * quantity)
        self.ledger.move(seller.owner, buyer.owner, self.good, quantity)
        return Trade(resting.price, quantity, buyer.owner, seller.owner, resting.id, incoming.id)

    def _reduce(self, order: Order, quantity: int) -> Placed:
        less = order.quantity - quantity
        self._release(order.owner, order.side, order.price * less, less)
        order.quantity = quantity
        return Placed(order.id, quantity, (), ())

    def _own(self, owner: str, order: int) -> Order:
        own = self._by_owner.get(owner, {}).get(order)
        if own is None:
            raise OrderRefused(f"you have no open order {order}")
        return own

    def _side(self, side: Side) -> list[Order]:
        return self.bids if side == "buy" else self.asks

    def _withdraw(self, order: Order, why: Why) -> Withdrawal:
        self._remove(order)
        self._release(order.owner, order.side, order.price * order.quantity, order.quantity)
        return Withdrawal(order.id, order.owner, order.side, order.price, order.quantity, why)

    def _remove(self, order: Order) -> None:
        orders = self._side(order.side)
        del orders[bisect_left(orders, order.rank, key=_rank)]
        del self._by_owner[order.owner][order.id]

    def _reserve(self, owner: str, side: Side, capital: int, quantity: int) -> None:
        self.ledger.reserve(owner, *((CAPITAL, capital) if side == "buy" else (self.good, quantity)))

    def _release(self, owner: str, side: Side, capital: int, quantity: int) -> None:
        self.ledger.release(owner, *((CAPITAL, capital) if side == "buy" else (self.good, quantity)))


_rank = attrgetter("rank")
