"""Trade: units of a good for capital, as it is told; every artifact's trades are of this kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from agentsim.engine import Event
from agentsim.engine.event import Deed
from agentsim.engine.wording import Worded

Side: TypeAlias = Literal["buy", "sell"]


def _called(owner: str) -> str:
    """An artifact's account is named with a sign before it, which no agent's name has."""
    return f"the {owner[1:].replace('_', ' ')}" if owner.startswith("@") else owner


Owner: TypeAlias = Annotated[str, Worded(_called)]


class Trade(
    Event,
    heading="{buyer} buys {quantity} {good} of {seller} at {price}",
    content="{paid} capital in all.",
    deeds=(Deed("buyer", "seller", "bought of", amount="paid"), Deed("seller", "buyer", "sold to", amount="paid")),
    base=True,
):
    """Base of all trades. The market matches prices, not people: neither side did it for the other's sake."""

    good: str
    price: int
    quantity: int
    buyer: Owner
    seller: Owner

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
