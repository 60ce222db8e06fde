"""Events of the market: orders, trades, and whatever else moves goods and capital."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from agentsim.engine.event import FOR, Deed, Event
from agentsim.engine.template import By, Worded
from agentsim.games.market.order_book import Side, Why


def _called(owner: str) -> str:
    """An artifact's account is named with a sign before it, which no agent's name has."""
    return f"the {owner[1:]}" if owner.startswith("@") else owner


Owner: TypeAlias = Annotated[str, Worded(_called)]


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


class Transferred(
    Event,
    heading="{giver} gives {taker} {amount} {asset}",
    content="{reason}",
    deeds=(Deed("giver", "taker", "gave {asset}", FOR, amount="amount"),),
):
    """Assets changed hands outside a trade."""

    giver: Owner
    taker: Owner
    asset: str
    amount: int
    reason: str


class Banked(Event, heading="{agent} and the bank: {what}", content="{amount}; deposit {deposit}, loan {loan}."):
    """What an agent has with the bank after something changed; `collateral` is reserved for the loan."""

    agent: str
    what: str
    amount: int
    deposit: int
    loan: int
    collateral: dict[str, int]
