"""The marketplace: a continuous double auction for each good, with the order books of `order_book`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from agentsim.engine import GameConfig
from agentsim.engine.wording import By, If, Template
from agentsim.games.market.artifact import GOOD, Answer, LimitOrders, LimitOrderSettings, picked, query
from agentsim.games.market.order_book import Order, OrderBook, Traded
from agentsim.games.market.world import World

_BEST = "An order must trade at once, or be a bid above the best resting bid or an ask below the best resting ask."


class MarketplaceSettings(LimitOrderSettings):
    """`[game_config.settings.marketplace]`."""

    quotes: Literal["any", "best"] = Field(
        default="any", description='"best": only a quote that improves on the best of its side rests'
    )
    cancel_after_trade: bool = Field(default=False, description="Whether all open orders go after a trade")
    depth: Annotated[int, Field(ge=1, le=100)] = Field(default=5, description="Price levels that a query shows")
    last_trades: Annotated[int, Field(ge=1, le=100)] = Field(default=10, description="Trades that a query shows")


class Marketplace(LimitOrders):
    name: ClassVar[str] = "marketplace"
    description: ClassVar[Template] = (
        "a continuous double auction for each good. An order names the highest price at which you buy or the "
        "lowest at which you sell. It trades at once with resting orders of other agents, the best price first and, at "
        "equal prices, the earliest first, always at the price of the resting order. What is left of it rests in the "
        "order book until it trades, is cancelled or is replaced. What an order could cost you is reserved as long as "
        "it rests. Your orders never trade with each other: a new order that would do so withdraws the resting one.",
        If("single_unit", " Orders are for one unit, and you have one for each good: a new one replaces it."),
        By("quotes", {"best": f" {_BEST}"}),
        If("cancel_after_trade", " After a trade all resting orders are cancelled."),
    )
    settings: ClassVar[type[GameConfig]] = MarketplaceSettings

    def __init__(self, world: World, settings: MarketplaceSettings) -> None:
        super().__init__(world, settings)
        self._recent: deque[Traded] = deque(maxlen=settings.last_trades)

    def book(self, good: str, ids: Iterator[int]) -> OrderBook:
        return OrderBook(
            good,
            self.world.ledger,
            best_only=self.config.quotes == "best",
            clear_after_trade=self.config.cancel_after_trade,
            single_unit=self.config.single_unit,
            ids=ids,
        )

    def met(self, trade: Traded) -> None:
        super().met(trade)
        self._recent.append(trade)

    @query("the best resting orders, added up by price", good=GOOD)
    def order_book(self, agent: str, good: str) -> Answer:
        book = self.books[good]
        return {"good": good, "bids": self._levels(book.bids), "asks": self._levels(book.asks)}

    @query("the latest trades in all goods, newest first")
    def last_trades(self, agent: str) -> Answer:
        return {"trades": [picked(trade, "round", "good", "price", "quantity") for trade in reversed(self._recent)]}

    @query("your own open orders")
    def own_orders(self, agent: str) -> Answer:
        return self.listed(agent)

    def quotes(self) -> Answer:
        best = {
            good: {side: each[0].price if each else "none" for side, each in (("bid", book.bids), ("ask", book.asks))}
            for good, book in self.books.items()
        }
        return {"best_quotes": best}

    def _levels(self, orders: Sequence[Order]) -> list[dict[str, int]]:
        levels: dict[int, int] = {}
        for order in orders:
            if order.price not in levels and len(levels) == self.config.depth:
                break
            levels[order.price] = levels.get(order.price, 0) + order.quantity
        return [{"price": price, "quantity": quantity} for price, quantity in levels.items()]
