"""The marketplace: a continuous double auction for each good. How orders meet is `order_book`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from agentsim.engine.event import Everyone
from agentsim.engine.game import GameConfig
from agentsim.engine.options import Number, Option
from agentsim.games.market.artifact import Answer, Artifact, Refused, a_good, action, query
from agentsim.games.market.order_book import OpenOrder, Order, OrderBook, OrderRefused, Placed, Side, Withdrawal
from agentsim.games.market.trading import Ordered, Traded, Withdrawn
from agentsim.games.market.world import World

GOOD = a_good("what to trade")
ORDER = Number(1, None, about="the number of an open order of yours")


def _price(market: Marketplace) -> Option:
    return Number(1, market.config.price_max, about="capital for one unit")


def _quantity(market: Marketplace) -> Option:
    return Number(1, 1 if market.config.single_unit else None, about="units")


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
        self._recent: deque[dict[str, Any]] = deque(maxlen=settings.last_trades)

    @property
    def description(self) -> str:  # type: ignore[override] # what it says depends on the settings
        rules = [
            "a continuous double auction for each good. An order names the highest price at which you buy or the "
            "lowest at which you sell. It trades at once with standing orders of others, the best price first, the "
            "earliest of equal ones, always at the price of the standing order; what is left of it stands until it "
            "trades, is cancelled or replaced. What an order could cost you is reserved as long as it stands. Your "
            "order never trades with one of your own, which is withdrawn when it is in the way."
        ]
        if self.config.single_unit:
            rules.append("Orders are for one unit, and you have one for each good: a new one replaces it.")
        if self.config.quotes == "best":
            rules.append("A bid must be above the best standing bid and an ask below the best standing ask, or trade.")
        if self.config.cancel_after_trade:
            rules.append("After a trade all standing orders are cancelled.")
        return " ".join(rules)

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
        good, own = self._own(agent, order)
        return self._order(agent, own.side, good, price=price, quantity=quantity, replaces=order)

    @action("take an open order back", order=ORDER)
    def cancel(self, agent: str, order: int) -> str:
        good, _ = self._own(agent, order)
        self._withdrawn(good, [self.books[good].cancel(agent, order)])
        return f"Order {order} is cancelled."

    @query("the best standing orders, added up by price", good=GOOD)
    def order_book(self, agent: str, good: str) -> Answer:
        book = self.books[good]
        return {"good": good, "bids": self._levels(book.bids), "asks": self._levels(book.asks)}

    @query("the latest trades in all goods, newest first")
    def last_trades(self, agent: str) -> Answer:
        return {"trades": list(reversed(self._recent))}

    @query("your own open orders")
    def own_orders(self, agent: str) -> Answer:
        return {
            "orders": [
                {
                    "order": each.number,
                    "good": each.good,
                    "side": each.side,
                    "price": each.price,
                    "quantity": each.quantity,
                }
                for each in self.orders(agent)
            ]
        }

    def orders(self, agent: str) -> Sequence[OpenOrder]:
        return [
            OpenOrder(each.id, book.good, each.side, each.price, each.quantity, self.config.single_unit)
            for book in self.books.values()
            for each in book.of(agent)
        ]

    def promised(self, agent: str) -> Mapping[str, int]:
        out: dict[str, int] = {}
        for book in self.books.values():
            for asset, amount in book.promised(agent).items():
                out[asset] = out.get(asset, 0) + amount
        return out

    def check(self) -> Sequence[str]:
        return [line for book in self.books.values() for line in book.check()]

    def close(self) -> None:
        """Take every order out of the books."""
        for book in self.books.values():
            self._withdrawn(book.good, book.clear("closed"))

    def _own(self, agent: str, order: int) -> tuple[str, Order]:
        for book in self.books.values():
            for own in book.of(agent):
                if own.id == order:
                    return book.good, own
        raise Refused(f"you have no open order {order}")

    def _order(
        self, agent: str, side: Side, good: str, *, price: int, quantity: int, replaces: int | None = None
    ) -> str:
        book = self.books[good]
        try:
            placed = book.place(agent, side, price, quantity, replaces=replaces)
        except OrderRefused as error:
            raise Refused(str(error)) from None
        self._withdrawn(good, [gone for gone in placed.withdrawn if gone.why != "traded"])
        self.world.tell(Ordered(placed.order, agent, good, side, price, quantity, placed.standing), to=Everyone)
        self._traded(good, side, placed)
        self._withdrawn(good, [gone for gone in placed.withdrawn if gone.why == "traded"])
        return _told(side, good, placed)

    def _traded(self, good: str, side: Side, placed: Placed) -> None:
        for trade in placed.trades:
            made = Traded(
                good=good,
                price=trade.price,
                quantity=trade.quantity,
                buyer=trade.buyer,
                seller=trade.seller,
                resting=trade.resting,
                incoming=trade.incoming,
                taker=side,
                round=self.world.round,
            )
            self.world.tell(made, to=Everyone)
            self.world.traded(good, trade.price, trade.quantity, trade.buyer, trade.seller)
            units = {"price": trade.price, "quantity": trade.quantity}
            self._recent.append({"round": self.world.round, "good": good, **units})

    def _withdrawn(self, good: str, gone: Sequence[Withdrawal]) -> None:
        for each in gone:
            event = Withdrawn(each.order, each.owner, good, each.side, each.price, each.quantity, each.why)
            self.world.tell(event, to=Everyone)

    def _levels(self, orders: Sequence[Order]) -> list[dict[str, int]]:
        levels: dict[int, int] = {}
        for order in orders:
            if order.price not in levels and len(levels) == self.config.depth:
                break
            levels[order.price] = levels.get(order.price, 0) + order.quantity
        return [{"price": price, "quantity": quantity} for price, quantity in levels.items()]


_DONE: Callable[[Side], str] = {"buy": "Bought", "sell": "Sold"}.__getitem__


def _told(side: Side, good: str, placed: Placed) -> str:
    """What the agent learns of its own order."""
    said = [f"{_DONE(side)} {trade.quantity} {good} at {trade.price}." for trade in placed.trades]
    said += [f"Your order {gone.order} is withdrawn." for gone in placed.withdrawn if gone.why in {"own", "replaced"}]
    if placed.standing:
        said.append(f"Order {placed.order} stands with {placed.standing} at your price.")
    return " ".join(said) or "Nothing was traded."


ARTIFACT = Marketplace
