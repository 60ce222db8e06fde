"""Trades: units of a good for capital, as an event, and the matching of bids and asks at one price.

The trades of all artifacts are of this kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from agentsim.engine import Event
from agentsim.engine.event import InteractionRule
from agentsim.engine.memory import Room
from agentsim.engine.wording import Worded

Side: TypeAlias = Literal["buy", "sell"]


def _called(owner: str) -> str:
    """Return an owner's name in words; that of an artifact's account begins with @, as no agent's does."""
    return f"the {owner[1:].replace('_', ' ')}" if owner.startswith("@") else owner


Owner: TypeAlias = Annotated[str, Worded(_called)]
TRADES = Room(10)


class Trade(
    Event,
    heading="{buyer} buys {quantity} {good} of {seller} at {price}",
    content="{paid} capital in all.",
    interactions=(
        InteractionRule("buyer", "seller", "bought of", amount="paid"),
        InteractionRule("seller", "buyer", "sold to", amount="paid"),
    ),
    base=True,
):
    """Base of all trades. The market matches prices, not people: neither side trades for the other's sake."""

    room = TRADES
    good: str
    price: int
    quantity: int
    buyer: Owner
    seller: Owner

    @property
    def in_short(self) -> str:
        return f"{self.buyer} bought {self.quantity} {self.good} of {self.seller} at {self.price}."

    @property
    def paid(self) -> int:
        return self.price * self.quantity

    @property
    def side(self) -> Side | None:
        """The side of the aggressor, or None if there was no resting order."""
        return None


class Exchanged(Trade):
    """A trade that an artifact made (`World.trade`), between two agents or an agent and the artifact."""

    @property
    def side(self) -> Side | None:
        if self.seller.startswith("@"):
            return "buy"
        return "sell" if self.buyer.startswith("@") else None

    def news_for(self, agent: str, by: str | None) -> Mapping[str, Any] | None:
        """Return what a side is told, or None if the trade was its own doing."""
        if agent == by or agent not in {self.buyer, self.seller}:
            return None
        return {"bought" if agent == self.buyer else "sold": self.quantity, "good": self.good, "price": self.price}


Quote: TypeAlias = tuple[int, int]
"""A price, and the number of units at it."""


class Clearing(NamedTuple):
    """The units that trade at one price: at every price from `low` to `high` exactly `quantity` units trade.

    No other trader would gain at such a price. `surplus` is the sum of bids less asks. If nothing meets, the prices are
    those of the best bid and the best ask.
    """

    low: int
    high: int
    quantity: int
    surplus: int

    @property
    def price(self) -> float:
        """The middle of all prices that clear the market."""
        return (self.low + self.high) / 2


def matches(bids: Sequence[Quote], asks: Sequence[Quote]) -> Iterator[tuple[int, int, int]]:
    """Yield (index of a bid, index of an ask, units) of all that meets; bids fall, asks rise, earlier ones first."""
    bid = ask = 0
    wanted, offered = (side[0][1] if side else 0 for side in (bids, asks))
    while bid < len(bids) and ask < len(asks) and bids[bid][0] >= asks[ask][0]:
        units = min(wanted, offered)
        yield bid, ask, units
        wanted, offered = wanted - units, offered - units
        if not wanted:
            bid += 1
            wanted = bids[bid][1] if bid < len(bids) else 0
        if not offered:
            ask += 1
            offered = asks[ask][1] if ask < len(asks) else 0


def clearing(bids: Sequence[Quote], asks: Sequence[Quote]) -> Clearing:
    """Return what trades of bids that fall and asks that rise; there is at least one of each."""
    met = list(matches(bids, asks))
    if not met:
        return Clearing(bids[0][0], asks[0][0], 0, 0)
    bid, ask, _ = met[-1]
    # the first unit that does not trade must not want to trade at the price
    wanted = sum(units for place, _, units in met if place == bid)
    offered = sum(units for _, place, units in met if place == ask)
    next_bid, next_ask = bid + (wanted == bids[bid][1]), ask + (offered == asks[ask][1])
    return Clearing(
        low=max([asks[ask][0], *(price for price, _ in bids[next_bid : next_bid + 1])]),
        high=min([bids[bid][0], *(price for price, _ in asks[next_ask : next_ask + 1])]),
        quantity=sum(units for _, _, units in met),
        surplus=sum((bids[wants][0] - asks[offers][0]) * units for wants, offers, units in met),
    )
