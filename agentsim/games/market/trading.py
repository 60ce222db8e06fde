"""Trading as it is told: orders, what goes of them untraded, and trades; and the tape of all quotes and trades."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any

from agentsim.engine.event import Deed, Event, LogEntry
from agentsim.engine.template import By
from agentsim.games.market.course import OrderDrawn
from agentsim.games.market.order_book import Side, Why
from agentsim.games.market.schedule import PeriodBegan

MOST_SIGNALS = 500


@dataclass(frozen=True, slots=True)
class Signal:
    """One public thing in the market: a quote that stands (`traded` False), or a trade.

    `side` is that of the order that came in; `price` what it asks or offers, or what the trade was made at.
    """

    good: str
    side: Side
    price: int
    traded: bool


class Ordered(
    Event,
    heading=("{agent} ", By("side", {"buy": "bids"}, "asks"), " {price}"),
    content="Order {order}: {side} {quantity} {good} at {price}; {standing} standing.",
):
    """A limit order; `standing` units of it are in the book after what it traded at once."""

    order: int
    agent: str
    good: str
    side: Side
    price: int
    quantity: int
    standing: int


_GONE: dict[Why, str] = {
    "cancelled": "was cancelled",
    "replaced": "was replaced",
    "own": "stood in the way of an order of its own owner",
    "outbid": "is no longer the best",
    "traded": "was cleared after a trade",
    "closed": "was cleared at the end of the period",
}
_NOTED: dict[Why, str] = {"outbid": "somebody's is better", "traded": "cleared after a trade", "closed": "period over"}


class Withdrawn(
    Event,
    heading="{agent}'s order {order} is gone",
    content=("To {side} {quantity} {good} at {price}: it ", By("why", _GONE), "."),
):
    """An order left the book with this quantity untraded."""

    order: int
    agent: str
    good: str
    side: Side
    price: int
    quantity: int
    why: Why

    def news_for(self, agent: str, by: str | None) -> Mapping[str, Any] | None:
        """What its owner is told, where it was not the owner's doing."""
        concerns = agent == self.agent != by and self.why in _NOTED
        return {"your_order": self.order, "gone": _NOTED[self.why]} if concerns else None


class Traded(
    Event,
    heading="{buyer} buys {quantity} {good} of {seller} at {price}",
    content="{paid} capital in all.",
    deeds=(Deed("buyer", "seller", "bought of", amount="paid"), Deed("seller", "buyer", "sold to", amount="paid")),
):
    """`resting` is the order that stood there; `taker` the side that came to it.

    The book matches prices, not people: neither side did it for the other's sake.
    """

    good: str
    price: int
    quantity: int
    buyer: str
    seller: str
    resting: int
    incoming: int
    taker: Side
    round: int

    @property
    def paid(self) -> int:
        """In capital."""
        return self.price * self.quantity

    def news_for(self, agent: str, by: str | None) -> Mapping[str, Any] | None:
        """What the owner of the order that stood there is told."""
        other, what = (self.seller, "sold") if self.taker == "buy" else (self.buyer, "bought")
        if agent != other:
            return None
        return {"your_order": self.resting, what: self.quantity, "good": self.good, "price": self.price}


class Tape:
    """The latest quotes and trades that everybody has heard of; `opened` were there when the period began."""

    def __init__(self, everybody: str) -> None:
        self.total = 0
        self.opened = 0
        self._kept: deque[tuple[int, Signal]] = deque(maxlen=MOST_SIGNALS)  # with the decision that each came of
        self._drawn: dict[int, int] = {}  # how many there were when the order of a round was drawn
        self._placed: tuple[Signal, int] | None = None  # a quote, and how many units of its order trade before

    def hear(self, entry: LogEntry) -> None:
        """Take in one event."""
        event, decision = entry.event, entry.decision or 0
        if isinstance(event, Ordered):
            self._placed = None
            if event.standing:
                quote = Signal(event.good, event.side, event.price, traded=False)
                self._quoted(quote, event.quantity - event.standing, decision)
        elif isinstance(event, Traded):
            self._append(Signal(event.good, event.taker, event.price, traded=True), decision)
            if self._placed is not None:
                self._quoted(self._placed[0], self._placed[1] - event.quantity, decision)
        elif isinstance(event, OrderDrawn):
            self._drawn[event.round] = self.total
        elif isinstance(event, PeriodBegan):
            self.opened = self.total

    def since(self, turn: LogEntry | None, *, at_once: bool) -> tuple[Signal, ...]:
        """Those since an agent's turn began, as far as they are kept, oldest first; `turn` is what it did then."""
        if turn is None:
            return self.latest(self.total)
        if at_once:
            return self.latest(self.total - self._drawn[turn.round])
        new = takewhile(lambda kept: kept[0] >= (turn.decision or 0), reversed(self._kept))
        return tuple(signal for _, signal in new)[::-1]

    def latest(self, count: int) -> tuple[Signal, ...]:
        """The last so many, as far as they are kept; oldest first."""
        return tuple(signal for _, signal in islice(reversed(self._kept), count))[::-1]

    def stale(self, count: int) -> int:
        """How many of the last so many are of an earlier period: of their quotes none stands."""
        return min(count, max(0, self.opened - (self.total - count)))

    def _quoted(self, quote: Signal, trading: int, decision: int) -> None:
        """What is left of an order stands once the rest has traded, which is told after it."""
        self._placed = (quote, trading) if trading else None
        if not trading:
            self._append(quote, decision)

    def _append(self, signal: Signal, decision: int) -> None:
        self._kept.append((decision, signal))
        self.total += 1
