"""Events of trades: proposed, discarded, accepted, rejected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from agentsim.engine.event import AGAINST, FOR, Deed, Event, Interaction, Past
from agentsim.engine.template import Worded
from agentsim.engine.wording import counted, sentence
from agentsim.games.monopoly.board import FINE, SPACES, name_of


@dataclass(frozen=True)
class TradeSide:
    """What one side gives: deeds by position, dollars, cards out of jail."""

    properties: tuple[int, ...]
    cash: int
    jail_cards: int

    @property
    def price(self) -> int:
        """In dollars: cash, deeds at their printed price, mortgaged or not, cards out of jail at the fine they save."""
        return self.cash + sum(SPACES[at].price for at in self.properties) + FINE * self.jail_cards

    def __str__(self) -> str:
        parts = [name_of(position) for position in self.properties]
        parts += [f"${self.cash}"] * (self.cash > 0)
        parts += [f"{counted(self.jail_cards, 'card')} out of jail"] * (self.jail_cards > 0)
        return " + ".join(parts) or "nothing"


class TradeProposed(
    Event,
    heading="{proposer_name} offers {target_name} {offer} for {request}",
    words="pitch",
    deeds=(Deed("proposer", "target", "proposed a trade"),),
):
    """`pitch` is the proposer's own words."""

    number: int
    proposer: str
    target: str
    proposer_name: str
    target_name: str
    offer: TradeSide
    request: TradeSide
    pitch: str


class TradeDiscarded(Event, heading="{name}'s proposal is discarded", content="{problem}"):
    """A proposal that cannot be; it counts as one, and only its proposer hears why."""

    proposer: str
    name: str
    problem: Annotated[str, Worded(sentence)]

    @property
    def turned_away(self) -> bool:
        return True


class _TradeAnswered(Event):
    """`number` is that of the proposal; the terms stand there."""

    number: int
    proposer: str
    target: str
    proposer_name: str
    target_name: str


class TradeAccepted(
    _TradeAnswered, heading="{target_name} accepts {proposer_name}'s trade", content="It is carried out."
):
    def interactions(self, past: Past) -> Iterator[Interaction]:
        """Both get something by it, the one what it asked for."""
        terms = past.last(TradeProposed, number=self.number)
        yield Interaction(self.target, self.proposer, "accepted a trade", FOR, terms.request.price if terms else None)
        if terms is not None and terms.offer.price:
            yield Interaction(self.proposer, self.target, "gave in a trade", FOR, terms.offer.price)


class TradeRejected(
    _TradeAnswered,
    heading="{target_name} rejects {proposer_name}'s trade",
    content="Nothing changes hands.",
    deeds=(Deed("target", "proposer", "rejected a trade", AGAINST),),
): ...
