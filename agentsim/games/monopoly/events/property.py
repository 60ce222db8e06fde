"""Events of property: deeds, auctions, buildings and mortgages."""

from __future__ import annotations

from typing import Annotated

from agentsim.engine.template import By, If, Worded
from agentsim.engine.wording import counted
from agentsim.games.monopoly.board import HOTEL, SPACES, Position
from agentsim.games.monopoly.events.money import Why
from agentsim.games.monopoly.events.on_board import OnBoard


def _standing(level: int) -> str:
    return "a hotel" if level == HOTEL else "no house" if not level else counted(level, "house")


class DeedMoved(
    OnBoard,
    heading="{position} goes to {taker_name}",
    content=(
        By(
            "why",
            {"purchase": "Bought at the printed price", "auction": "Won at auction", "trade": "Traded"},
            "From the bankrupt",
        ),
        If("mortgaged", ", mortgaged"),
        ".",
    ),
):
    """A deed changed hands (`None` is the bank), as it is: mortgaged or clear."""

    position: Position
    giver: str | None
    taker: str | None
    mortgaged: bool
    why: Why
    taker_name: str


class AuctionOpened(OnBoard, heading="{position} is auctioned", content="Printed price ${price}."):
    """`bidders` are all who are in the game, in turn order; who has not the cash for a bid withdraws unasked."""

    position: Position
    bidders: tuple[str, ...]

    @property
    def price(self) -> int:
        """In dollars."""
        return SPACES[self.position].price


class BidMade(
    OnBoard, kind="bid", heading=If("amount", "{name} bids ${amount}", "{name} withdraws"), content="{position}."
):
    """`amount` 0 withdraws."""

    position: Position
    player: str
    name: str
    amount: int


class AuctionClosed(
    OnBoard,
    heading=If("winner", "{winner_name} wins the auction", "Nobody bids"),
    content=If("winner", "{position} for ${price}.", "The bank keeps {position}."),
):
    position: Position
    winner: str | None
    winner_name: str
    price: int


class _Levelled(OnBoard, content="${amount}; now {after}. {name} has ${cash}."):
    """`before` and `after` are levels, 5 a hotel; `houses` and `hotels` what the bank has left."""

    position: Position
    player: str
    name: str
    amount: int
    before: int
    after: Annotated[int, Worded(_standing)]
    houses: int
    hotels: int
    cash: int


class Built(_Levelled, heading="{name} builds on {position}"): ...


class Sold(_Levelled, heading="{name} sells buildings on {position}"): ...


class _Pledged(OnBoard, content="${amount}; {name} has ${cash}."):
    position: Position
    player: str
    name: str
    amount: int
    cash: int


class Mortgaged(_Pledged, heading="{name} mortgages {position}"): ...


class Lifted(_Pledged, kind="mortgage_lifted", heading="{name} lifts the mortgage on {position}"): ...
