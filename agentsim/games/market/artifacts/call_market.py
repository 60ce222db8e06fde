"""The call market: sealed orders, traded in a call auction at one price for each good."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from agentsim.engine import Event, Everyone, GameConfig, LoggedEvent
from agentsim.engine.panel import DataTable, Frame, Panel
from agentsim.engine.wording import By, If, Template
from agentsim.games.market.artifact import Answer, LimitOrders, LimitOrderSettings, picked, query
from agentsim.games.market.order_book import OrderBook
from agentsim.games.market.world import World, clearing, matches

_COLUMNS = ("round", "good", "price", "quantity", "low", "high", "wanted", "offered")


class CallMarketSettings(LimitOrderSettings):
    """`[game_config.settings.call_market]`."""

    every: Annotated[int, Field(ge=1, le=1_000)] = Field(default=1, description="Rounds from one call to the next")
    k: Annotated[int, Field(ge=0, le=100)] = Field(
        default=50, description="Where in the range of clearing prices the price is, in percent from its lower end"
    )
    last_calls: Annotated[int, Field(ge=1, le=100)] = Field(default=5, description="Calls that a query shows")


class Called(
    Event,
    label="call auction",
    heading=("{good} is called", If("quantity", ": {quantity} at {price}", ": nothing meets")),
    content="{wanted:unit} wanted, {offered} offered.",
):
    """A call auction in one good; `low` to `high` are the prices that clear it, or None if no bid meets an ask."""

    round: int
    good: str
    price: int | None
    quantity: int
    low: int | None
    high: int | None
    wanted: int
    offered: int


class CallMarket(LimitOrders):
    name: ClassVar[str] = "call_market"
    description: ClassVar[Template] = (
        "a call market. An order names the highest price at which you buy or the lowest at which you sell. Orders are "
        "sealed: no other agent sees yours. They are called at the end of ",
        By("every", {1: "every round"}, "every {every} rounds"),
        " and of a period: all trades in a good are then at one price, at which the most units trade, so that you "
        "never pay more than you bid or get less than you ask. Better prices come first and, at equal prices, earlier "
        "orders; what does not trade is withdrawn. What an order could cost you is reserved until then.",
        If("single_unit", " Orders are for one unit, and you have one for each good: a new one replaces it."),
    )
    settings: ClassVar[type[GameConfig]] = CallMarketSettings

    def __init__(self, world: World, settings: CallMarketSettings) -> None:
        super().__init__(world, settings)
        self._waiting = 0  # rounds since the last call auction
        self._recent: deque[Called] = deque(maxlen=settings.last_calls)

    def book(self, good: str, ids: Iterator[int]) -> OrderBook:
        return OrderBook(good, self.world.ledger, single_unit=self.config.single_unit, sealed=True, ids=ids)

    @query("prices and units of the latest calls, newest first")
    def last_calls(self, agent: str) -> Answer:
        return {"calls": [picked(call, "round", "good", "price", "quantity") for call in reversed(self._recent)]}

    @query("your own open orders")
    def own_orders(self, agent: str) -> Answer:
        return self.listed(agent)

    def round_ended(self, number: int) -> None:
        self._waiting += 1
        if self._waiting >= self.config.every:
            self._call_auction()

    def period_ended(self) -> None:
        if self._waiting:
            self._call_auction()

    def game_ended(self) -> None:
        self.period_ended()

    def _call_auction(self) -> None:
        self._waiting = 0
        for good, book in self.books.items():
            self._clear(good, book)
            self.clear(book, "unmet")

    def _clear(self, good: str, book: OrderBook) -> None:
        """Trade at one price what meets, the best prices first, then the earliest orders."""
        wants, offers = list(book.bids), list(book.asks)
        bids, asks = ([(order.price, order.quantity) for order in side] for side in (wants, offers))
        met = list(matches(bids, asks))
        found = clearing(bids, asks) if met else None
        price = None if found is None else found.low + self.config.k * (found.high - found.low) // 100
        wanted, offered = (sum(units for _, units in side) for side in (bids, asks))
        low, high, quantity = (None, None, 0) if found is None else (found.low, found.high, found.quantity)
        if wanted or offered:
            called = Called(self.world.round, good, price, quantity, low, high, wanted, offered)
            self._recent.append(called)
            self.world.tell(called, to=Everyone)
        for bid, ask, units in met:
            buyer, seller = wants[bid].agent, offers[ask].agent
            book.take(buyer, wants[bid].number, units)
            book.take(seller, offers[ask].number, units)
            assert price is not None, "what meets has a price"
            self.world.trade(buyer=buyer, seller=seller, good=good, price=price, quantity=units)

    @classmethod
    def panels(cls, log: Sequence[LoggedEvent]) -> list[Panel]:
        rows = cls.tables(log)["calls"].rows
        note = "One price for all trades of a call; low to high are the prices that clear it."
        return [DataTable("Calls", _COLUMNS, rows, note)] if rows else []

    @classmethod
    def tables(cls, log: Sequence[LoggedEvent]) -> Mapping[str, Frame]:
        calls = (told.event for told in log if isinstance(told.event, Called))
        return {"calls": Frame(_COLUMNS, tuple(tuple(picked(call, *_COLUMNS).values()) for call in calls))}
