"""Events of the market: orders, trades, and whatever else moves goods and capital."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import FOR, Event, Interaction, Past
from agentsim.games.market.order_book import Side, Why

__all__ = ["Banked", "Ordered", "Traded", "Transferred", "Withdrawn"]


@dataclass(frozen=True)
class Ordered(Event):
    """A limit order; `standing` units of it are in the book after what it traded at once."""

    kind: ClassVar[str] = "ordered"
    order: int
    agent: str
    good: str
    side: Side
    price: int
    quantity: int
    standing: int

    @property
    def heading(self) -> str:
        return f"{self.agent} {'bids' if self.side == 'buy' else 'asks'} {self.price}"

    @property
    def content(self) -> str:
        return f"Order {self.order}: {self.side} {self.quantity} {self.good} at {self.price}; {self.standing} standing."


_GONE: dict[Why, str] = {
    "cancelled": "was cancelled",
    "replaced": "was replaced",
    "own": "stood in the way of an order of its own owner",
    "outbid": "is no longer the best",
    "traded": "was cleared after a trade",
    "closed": "was cleared at the end of the period",
}


@dataclass(frozen=True)
class Withdrawn(Event):
    """An order left the book with this quantity untraded."""

    kind: ClassVar[str] = "withdrawn"
    order: int
    agent: str
    good: str
    side: Side
    price: int
    quantity: int
    why: Why

    @property
    def heading(self) -> str:
        return f"{self.agent}'s order {self.order} is gone"

    @property
    def content(self) -> str:
        return f"To {self.side} {self.quantity} {self.good} at {self.price}: it {_GONE[self.why]}."


@dataclass(frozen=True)
class Traded(Event):
    """`resting` is the order that stood there; `taker` the side that came to it."""

    kind: ClassVar[str] = "traded"
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
    def heading(self) -> str:
        return f"{self.buyer} buys {self.quantity} {self.good} of {self.seller} at {self.price}"

    @property
    def content(self) -> str:
        return f"{self.price * self.quantity} capital in all."

    def interactions(self, past: Past) -> Iterator[Interaction]:
        """The book matches prices, not people: neither did it for the other's sake."""
        yield Interaction(self.buyer, self.seller, "bought of", amount=self.price * self.quantity)
        yield Interaction(self.seller, self.buyer, "sold to", amount=self.price * self.quantity)


@dataclass(frozen=True)
class Transferred(Event):
    """Assets changed hands outside a trade."""

    kind: ClassVar[str] = "transferred"
    giver: str
    taker: str
    asset: str
    amount: int
    reason: str

    @property
    def heading(self) -> str:
        return f"{_called(self.giver)} gives {_called(self.taker)} {self.amount} {self.asset}"

    @property
    def content(self) -> str:
        return self.reason

    def interactions(self, past: Past) -> Iterator[Interaction]:
        yield Interaction(self.giver, self.taker, f"gave {self.asset}", FOR, self.amount)


@dataclass(frozen=True)
class Banked(Event):
    """What an agent has with the bank after something changed; `collateral` is reserved for the loan."""

    kind: ClassVar[str] = "banked"
    agent: str
    what: str
    amount: int
    deposit: int
    loan: int
    collateral: dict[str, int]

    @property
    def heading(self) -> str:
        return f"{self.agent} and the bank: {self.what}"

    @property
    def content(self) -> str:
        return f"{self.amount}; deposit {self.deposit}, loan {self.loan}."


def _called(owner: str) -> str:
    """An artifact's account is named with a sign before it, which no agent's name has."""
    return f"the {owner[1:]}" if owner.startswith("@") else owner
