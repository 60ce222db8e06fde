"""Limit orders: the base of artifacts with order books: actions, what is reserved, the end of a period.

Each artifact decides when and at what price orders meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Annotated, Any, ClassVar

from pydantic import Field

from agentsim.engine import Everyone, GameConfig, Number
from agentsim.engine.capability import Refused
from agentsim.engine.options import Option
from agentsim.games.market.artifact import Answer, Artifact, a_good, action
from agentsim.games.market.ledger import added
from agentsim.games.market.order_book import Order, OrderBook, Ordered, Traded, Why, Withdrawn
from agentsim.games.market.trade import Side
from agentsim.games.market.world import World

GOOD = a_good("what to trade")
ORDER = Number(1, None, about="the number of an open order of yours")


def price(artifact: Artifact) -> Option:
    """Return a parameter that is the price of an order."""
    return Number(1, artifact.config.price_max, about="capital for one unit")


def _quantity(artifact: LimitOrders) -> Option:
    return Number(1, 1 if artifact.config.single_unit else None, about="units")


class LimitOrderSettings(GameConfig):
    """The settings that all artifacts with limit orders take."""

    single_unit: bool = Field(default=False, description="Orders are for one unit, and an agent has one for each good")
    price_max: Annotated[int, Field(ge=1, le=10**9)] = 10**6


class LimitOrders(Artifact):
    """Base of artifacts with an `OrderBook` for each good."""

    settings: ClassVar[type[GameConfig]] = LimitOrderSettings

    def __init__(self, world: World, settings: Any) -> None:
        super().__init__(world, settings)
        ids = count(1)
        self.books = {good: self.book(good, ids) for good in world.goods}

    def book(self, good: str, ids: Iterator[int]) -> OrderBook:
        """Return the order book of one good, which numbers its orders by `ids`."""
        raise NotImplementedError

    def met(self, trade: Traded) -> None:
        """Book and tell a trade of two orders that met at once."""
        self.world.traded(trade)

    @action("place an order to buy", good=GOOD, price=price, quantity=_quantity)
    def buy(self, agent: str, good: str, price: int, quantity: int) -> str:
        return self._order(agent, "buy", good, price=price, quantity=quantity)

    @action("place an order to sell", good=GOOD, price=price, quantity=_quantity)
    def sell(self, agent: str, good: str, price: int, quantity: int) -> str:
        return self._order(agent, "sell", good, price=price, quantity=quantity)

    @action(
        "put an order with another price and quantity in the place of an open one",
        order=ORDER,
        price=price,
        quantity=_quantity,
    )
    def replace(self, agent: str, order: int, price: int, quantity: int) -> str:
        own = self._own(agent, order)
        return self._order(agent, own.side, own.good, price=price, quantity=quantity, replaces=order)

    @action("take an open order back", order=ORDER)
    def cancel(self, agent: str, order: int) -> str:
        self._tell(self.books[self._own(agent, order).good].cancel(agent, order))
        return f"Order {order} is cancelled."

    def shown(self, agent: str) -> Answer:
        return {"your_orders": [order.words for order in reversed(self.orders(agent))]}

    def orders(self, agent: str) -> Sequence[Order]:
        return [order for book in self.books.values() for order in book.of(agent)]

    def promised(self, agent: str) -> Mapping[str, int]:
        return added(order.collateral() for order in self.orders(agent))

    def check(self) -> Sequence[str]:
        return [line for book in self.books.values() for line in book.check()]

    def period_ended(self) -> None:
        for book in self.books.values():
            self.clear(book, "closed")

    def clear(self, book: OrderBook, why: Why) -> None:
        for gone in book.clear(why):
            self._tell(gone)

    def listed(self, agent: str) -> Answer:
        """Return the agent's open orders as the answer to a query."""
        parts = ("good", "side", "price", "quantity")
        return {"orders": [{"order": each.number, **picked(each, *parts)} for each in self.orders(agent)]}

    def _own(self, agent: str, order: int) -> Order:
        for own in self.orders(agent):
            if own.number == order:
                return own
        raise Refused(f"you have no open order {order}")

    def _order(
        self, agent: str, side: Side, good: str, *, price: int, quantity: int, replaces: int | None = None
    ) -> str:
        """Place an order, and return what the agent is told."""
        placed = self.books[good].place(agent, side, price, quantity, replaces=replaces, now=self.world.round)
        order, said = placed.ordered, list[str]()
        self._tell(*(gone for gone in placed.withdrawn if gone.why != "traded"), order)
        for trade in placed.trades:
            self.met(trade)
            said.append(f"{'Bought' if side == 'buy' else 'Sold'} {trade.quantity} {good} at {trade.price}.")
        self._tell(*(gone for gone in placed.withdrawn if gone.why == "traded"))
        mine = [gone.order for gone in placed.withdrawn if gone.why in {"own", "replaced"}]
        said += [f"Your order {number} is withdrawn." for number in mine]
        if order.standing:
            said.append(f"Order {order.order} stands with {order.standing} at your price.")
        return " ".join(said) or "Nothing was traded."

    def _tell(self, *events: Ordered | Withdrawn) -> None:
        for event in events:
            self.world.tell(event, to=Everyone if event.hearer is None else (event.hearer,))


def picked(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}
