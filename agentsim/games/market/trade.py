"""Trade: units of a good for capital, as it is told, and what of many bids and asks meets at one price.

Every artifact's trades are of this kind.
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
    """An artifact's account is named with a sign before it, which no agent's name has."""
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
    """Base of all trades. The market matches prices, not people: neither side did it for the other's sake."""

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
        """The side that came to a standing offer; None where neither did."""
        return None


class Exchanged(Trade):
    """A trade that an artifact has made (`World.trade`): between two agents, or of an agent with the artifact."""

    @property
    def side(self) -> Side | None:
        if self.seller.startswith("@"):
            return "buy"
        return "sell" if self.buyer.startswith("@") else None

    def news_for(self, agent: str, by: str | None) -> Mapping[str, Any] | None:
        """What a side is told whose doing it was not."""
        if agent == by or agent not in {self.buyer, self.seller}:
            return None
        return {"bought" if agent == self.buyer else "sold": self.quantity, "good": self.good, "price": self.price}


Quote: TypeAlias = tuple[int, int]
"""A price, and how many units at it."""


class Clearing(NamedTuple):
    """What meets at one price. At every price from `low` to `high` just these `quantity` units are traded.

    No other trader would gain by such a price. `surplus` is what bids are above asks in all. Where nothing meets,
    the prices are those of the best bid and the best ask.
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
    """(place of a bid, place of an ask, units) of all that meets; bids fall, asks rise, earlier ones come first."""
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
    """What meets of bids that fall and asks that rise; there is one of each."""
    met = list(matches(bids, asks))
    if not met:
        return Clearing(bids[0][0], asks[0][0], 0, 0)
    bid, ask, _ = met[-1]
    # the first unit beyond the last that trades must not want to trade at the price
    wanted = sum(units for place, _, units in met if place == bid)
    offered = sum(units for _, place, units in met if place == ask)
    next_bid, next_ask = bid + (wanted == bids[bid][1]), ask + (offered == asks[ask][1])
    return Clearing(
        low=max([asks[ask][0], *(price for price, _ in bids[next_bid : next_bid + 1])]),
        high=min([bids[bid][0], *(price for price, _ in asks[next_ask : next_ask + 1])]),
        quantity=sum(units for _, _, units in met),
        surplus=sum((bids[wants][0] - asks[offers][0]) * units for wants, offers, units in met),
    )
