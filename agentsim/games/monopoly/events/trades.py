"""Events of trades: proposed, discarded, accepted, rejected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import AGAINST, FOR, Event, Interaction, Past
from agentsim.engine.wording import counted, sentence
from agentsim.games.monopoly.board import FINE, SPACES, name_of

__all__ = ["TradeAccepted", "TradeDiscarded", "TradeProposed", "TradeRejected", "TradeSide"]


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


@dataclass(frozen=True)
class TradeProposed(Event):
    """`pitch` is the proposer's own words."""

    kind: ClassVar[str] = "trade_proposed"
    words: ClassVar[str | None] = "pitch"
    number: int
    proposer: str
    target: str
    proposer_name: str
    target_name: str
    offer: TradeSide
    request: TradeSide
    pitch: str

    @property
    def heading(self) -> str:
        return f"{self.proposer_name} offers {self.target_name} {self.offer} for {self.request}"

    def interactions(self, past: Past) -> Iterator[Interaction]:
        yield Interaction(self.proposer, self.target, "proposed a trade")


@dataclass(frozen=True)
class TradeDiscarded(Event):
    """A proposal that cannot be; it counts as one, and only its proposer hears why."""

    kind: ClassVar[str] = "trade_discarded"
    proposer: str
    name: str
    problem: str

    @property
    def heading(self) -> str:
        return f"{self.name}'s proposal is discarded"

    @property
    def turned_away(self) -> bool:
        return True

    @property
    def content(self) -> str:
        return sentence(self.problem)


@dataclass(frozen=True)
class _TradeAnswered(Event):
    """`number` is that of the proposal; the terms stand there."""

    number: int
    proposer: str
    target: str
    proposer_name: str
    target_name: str


@dataclass(frozen=True)
class TradeAccepted(_TradeAnswered):
    kind: ClassVar[str] = "trade_accepted"

    @property
    def heading(self) -> str:
        return f"{self.target_name} accepts {self.proposer_name}'s trade"

    @property
    def content(self) -> str:
        return "It is carried out."

    def interactions(self, past: Past) -> Iterator[Interaction]:
        """Both get something by it, the one what it asked for."""
        terms = past.last(TradeProposed, number=self.number)
        yield Interaction(self.target, self.proposer, "accepted a trade", FOR, terms.request.price if terms else None)
        if terms is not None and terms.offer.price:
            yield Interaction(self.proposer, self.target, "gave in a trade", FOR, terms.offer.price)


@dataclass(frozen=True)
class TradeRejected(_TradeAnswered):
    kind: ClassVar[str] = "trade_rejected"

    @property
    def heading(self) -> str:
        return f"{self.target_name} rejects {self.proposer_name}'s trade"

    @property
    def content(self) -> str:
        return "Nothing changes hands."

    def interactions(self, past: Past) -> Iterator[Interaction]:
        yield Interaction(self.target, self.proposer, "rejected a trade", AGAINST)
