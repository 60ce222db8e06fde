"""The marketplace: a continuous double auction for each good. How orders meet is `order_book`."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from agentsim.engine import Event, Everyone, GameConfig, Number
from agentsim.engine.capability import Refused
from agentsim.engine.options import Option
from agentsim.engine.template import By, If, Template
from agentsim.games.market.artifact import Answer, Artifact, a_good, action, query
from agentsim.games.market.ledger import added
from agentsim.games.market.order_book import Order, OrderBook, Side, Traded
from agentsim.games.market.world import World

GOOD = a_good("what to trade")
ORDER = Number(1, None, about="the number of an open order of yours")


def _price(market: Marketplace) -> Option:
    return Number(1, market.config.price_max, about="capital for one unit")


def _quantity(market: Marketplace) -> Option:
    return Number(1, 1 if market.config.single_unit else None, about="units")


_BEST = "A bid must be above the best standing bid and an ask below the best standing ask, or trade."


class MarketplaceSettings(GameConfig):
    """`[game_config.settings.marketplace]`."""

    quotes: Literal["any", "best"] = Field(
        default="any", description='"best": only a quote that improves on the best of its side stands'
    )
    cancel_after_trade: bool = Field(default=False, description="Whether all open orders go after a trade")
    single_unit: bool = Field(default=False, description="Orders are for one unit, and an agent has one for each good")
    depth: Annotated[int, Field(ge=1, le=100)] = Field(default=5, description="Price levels that a query shows")
    last_trades: Annotated[int, Field(ge=1, le=100)] = Field(default=10, description="Trades that a query shows")
    price_max: Annotated[int, Field(ge=1, le=10**9)] = 10**6


class Marketplace(Artifact):
    name: ClassVar[str] = "marketplace"
    description: ClassVar[Template] = (
        "a continuous double auction for each good. An order names the highest price at which you buy or the "
        "lowest at which you sell. It trades at once with standing orders of others, the best price first, the "
        "earliest of equal ones, always at the price of the standing order; what is left of it stands until it "
        "trades, is cancelled or replaced. What an order could cost you is reserved as long as it stands. Your "
        "order never trades with one of your own, which is withdrawn when it is in the way.",
        If("single_unit", " Orders are for one unit, and you have one for each good: a new one replaces it."),
        By("quotes", {"best": f" {_BEST}"}),
        If("cancel_after_trade", " After a trade all standing orders are cancelled."),
    )
    settings: ClassVar[type[GameConfig]] = MarketplaceSettings

    def __init__(self, world: World, settings: MarketplaceSettings) -> None:
        super().__init__(world, settings)
        ids = count(1)
        self.books = {
            good: OrderBook(
                good,
                world.ledger,
                best_only=settings.quotes == "best",
                clear_after_trade=settings.cancel_after_trade,
                single_unit=settings.single_unit,
                ids=ids,
            )
            for good in world.goods
        }
        self._recent: deque[Traded] = deque(maxlen=settings.last_trades)

    @action("place an order to buy", good=GOOD, price=_price, quantity=_quantity)
    def buy(self, agent: str, good: str, price: int, quantity: int) -> str:
        return self._order(agent, "buy", good, price=price, quantity=quantity)

    @action("place an order to sell", good=GOOD, price=_price, quantity=_quantity)
    def sell(self, agent: str, good: str, price: int, quantity: int) -> str:
        return self._order(agent, "sell", good, price=price, quantity=quantity)

    @action(
        "put an order with another price and quantity in the place of an open one",
        order=ORDER,
        price=_price,
        quantity=_quantity,
    )
    def replace(self, agent: str, order: int, price: int, quantity: int) -> str:
        own = self._own(agent, order)
        return self._order(agent, own.side, own.good, price=price, quantity=quantity, replaces=order)

    @action("take an open order back", order=ORDER)
    def cancel(self, agent: str, order: int) -> str:
        self._tell([self.books[self._own(agent, order).good].cancel(agent, order)])
        return f"Order {order} is cancelled."

    @query("the best standing orders, added up by price", good=GOOD)
    def order_book(self, agent: str, good: str) -> Answer:
        book = self.books[good]
        return {"good": good, "bids": self._levels(book.bids), "asks": self._levels(book.asks)}

    @query("the latest trades in all goods, newest first")
    def last_trades(self, agent: str) -> Answer:
        return {"trades": [_picked(trade, "round", "good", "price", "quantity") for trade in reversed(self._recent)]}

    @query("your own open orders")
    def own_orders(self, agent: str) -> Answer:
        parts = ("good", "side", "price", "quantity")
        return {"orders": [{"order": each.number, **_picked(each, *parts)} for each in self.orders(agent)]}

    def shown(self, agent: str) -> Answer:
        sides = {good: {"bid": book.bids[:1], "ask": book.asks[:1]} for good, book in self.books.items()}
        best = {
            good: {side: each[0].price if each else "none" for side, each in both.items()}
            for good, both in sides.items()
        }
        return {"best_quotes": best, "your_orders": [order.words for order in reversed(self.orders(agent))]}

    def orders(self, agent: str) -> Sequence[Order]:
        return [order for book in self.books.values() for order in book.of(agent)]

    def promised(self, agent: str) -> Mapping[str, int]:
        return added(order.stake() for order in self.orders(agent))

    def check(self) -> Sequence[str]:
        return [line for book in self.books.values() for line in book.check()]

    def close(self) -> None:
        """Take every order out of the books."""
        for book in self.books.values():
            self._tell(book.clear("closed"))

    def _own(self, agent: str, order: int) -> Order:
        for own in self.orders(agent):
            if own.number == order:
                return own
        raise Refused(f"you have no open order {order}")

    def _order(
        self, agent: str, side: Side, good: str, *, price: int, quantity: int, replaces: int | None = None
    ) -> str:
        """Place an order; what the agent learns of it."""
        placed = self.books[good].place(agent, side, price, quantity, replaces=replaces, now=self.world.round)
        order, said = placed.ordered, list[str]()
        self._tell([*(gone for gone in placed.withdrawn if gone.why != "traded"), order])
        for trade in placed.trades:
            self._tell([trade])
            self.world.traded(trade)
            self._recent.append(trade)
            said.append(f"{'Bought' if side == 'buy' else 'Sold'} {trade.quantity} {good} at {trade.price}.")
        self._tell([gone for gone in placed.withdrawn if gone.why == "traded"])
        mine = [gone.order for gone in placed.withdrawn if gone.why in {"own", "replaced"}]
        said += [f"Your order {number} is withdrawn." for number in mine]
        if order.standing:
            said.append(f"Order {order.order} stands with {order.standing} at your price.")
        return " ".join(said) or "Nothing was traded."

    def _tell(self, events: Sequence[Event]) -> None:
        for event in events:
            self.world.tell(event, to=Everyone)

    def _levels(self, orders: Sequence[Order]) -> list[dict[str, int]]:
        levels: dict[int, int] = {}
        for order in orders:
            if order.price not in levels and len(levels) == self.config.depth:
                break
            levels[order.price] = levels.get(order.price, 0) + order.quantity
        return [{"price": price, "quantity": quantity} for price, quantity in levels.items()]


def _picked(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


ARTIFACT = Marketplace
