"""Events of property: deeds, auctions, buildings and mortgages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.wording import counted
from agentsim.games.monopoly.board import HOTEL, SPACES, name_of
from agentsim.games.monopoly.events.money import Why
from agentsim.games.monopoly.events.on_board import OnBoard

__all__ = ["AuctionClosed", "AuctionOpened", "BidMade", "Built", "DeedMoved", "Lifted", "Mortgaged", "Sold"]


def _standing(level: int) -> str:
    return "a hotel" if level == HOTEL else "no house" if not level else counted(level, "house")


@dataclass(frozen=True)
class DeedMoved(OnBoard):
    """A deed changed hands (`None` is the bank), as it is: mortgaged or clear."""

    kind: ClassVar[str] = "deed_moved"
    position: int
    giver: str | None
    taker: str | None
    mortgaged: bool
    why: Why
    taker_name: str

    @property
    def heading(self) -> str:
        return f"{name_of(self.position)} goes to {self.taker_name}"

    @property
    def content(self) -> str:
        how = {"purchase": "Bought at the printed price", "auction": "Won at auction", "trade": "Traded"}
        return f"{how.get(self.why, 'From the bankrupt')}{', mortgaged' if self.mortgaged else ''}."


@dataclass(frozen=True)
class AuctionOpened(OnBoard):
    """`bidders` are all who are in the game, in turn order; who has not the cash for a bid withdraws unasked."""

    kind: ClassVar[str] = "auction_opened"
    position: int
    bidders: tuple[str, ...]

    @property
    def heading(self) -> str:
        return f"{name_of(self.position)} is auctioned"

    @property
    def content(self) -> str:
        return f"Printed price ${SPACES[self.position].price}."


@dataclass(frozen=True)
class BidMade(OnBoard):
    """`amount` 0 withdraws."""

    kind: ClassVar[str] = "bid"
    position: int
    player: str
    name: str
    amount: int

    @property
    def heading(self) -> str:
        return f"{self.name} bids ${self.amount}" if self.amount else f"{self.name} withdraws"

    @property
    def content(self) -> str:
        return f"{name_of(self.position)}."


@dataclass(frozen=True)
class AuctionClosed(OnBoard):
    kind: ClassVar[str] = "auction_closed"
    position: int
    winner: str | None
    winner_name: str
    price: int

    @property
    def heading(self) -> str:
        return f"{self.winner_name} wins the auction" if self.winner else "Nobody bids"

    @property
    def content(self) -> str:
        return (
            f"{name_of(self.position)} for ${self.price}."
            if self.winner
            else f"The bank keeps {name_of(self.position)}."
        )


@dataclass(frozen=True)
class _Levelled(OnBoard):
    """`before` and `after` are levels, 5 a hotel; `houses` and `hotels` what the bank has left."""

    position: int
    player: str
    name: str
    amount: int
    before: int
    after: int
    houses: int
    hotels: int
    cash: int

    @property
    def content(self) -> str:
        return f"${self.amount}; now {_standing(self.after)}. {self.name} has ${self.cash}."


@dataclass(frozen=True)
class Built(_Levelled):
    kind: ClassVar[str] = "built"

    @property
    def heading(self) -> str:
        return f"{self.name} builds on {name_of(self.position)}"


@dataclass(frozen=True)
class Sold(_Levelled):
    kind: ClassVar[str] = "sold"

    @property
    def heading(self) -> str:
        return f"{self.name} sells buildings on {name_of(self.position)}"


@dataclass(frozen=True)
class _Pledged(OnBoard):
    position: int
    player: str
    name: str
    amount: int
    cash: int

    @property
    def content(self) -> str:
        return f"${self.amount}; {self.name} has ${self.cash}."


@dataclass(frozen=True)
class Mortgaged(_Pledged):
    kind: ClassVar[str] = "mortgaged"

    @property
    def heading(self) -> str:
        return f"{self.name} mortgages {name_of(self.position)}"


@dataclass(frozen=True)
class Lifted(_Pledged):
    kind: ClassVar[str] = "mortgage_lifted"

    @property
    def heading(self) -> str:
        return f"{self.name} lifts the mortgage on {name_of(self.position)}"
