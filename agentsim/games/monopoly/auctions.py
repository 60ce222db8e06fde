"""Auctions: how bids for a property or a building are asked for and told; `buying` and `building` hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeAlias

from agentsim.engine import Choice, Number, Options
from agentsim.engine.decision import WholeNumber
from agentsim.engine.options import Either, FieldOverride
from agentsim.engine.wording import If
from agentsim.games.monopoly.board import SPACES, OnBoard, OnDeed, Position
from agentsim.games.monopoly.question import MonopolyRequest, Part, Spoken
from agentsim.games.monopoly.rules_text import group_line, rent_line
from agentsim.lazy import dataclass

BID_STEP = 10  # dollars above the highest bid, for a player without a usable answer


class AuctionOpened(OnBoard, heading="{position} is auctioned", content="Printed price ${price}."):
    """`bidders` are all players in the game, in turn order; those without the cash for a bid withdraw unasked."""

    position: Position
    bidders: tuple[str, ...]

    @property
    def price(self) -> int:
        return SPACES[self.position].price


class BidMade(
    OnDeed, kind="bid", heading=If("amount", "{name} bids ${amount}", "{name} withdraws"), content="{position}."
):
    """A bid; an `amount` of 0 withdraws."""


class AuctionClosed(
    OnBoard,
    label="auction result",
    heading=If("winner", "{winner_name} wins the auction", "Nobody bids"),
    content=If("winner", "{position} for ${price}.", "The bank keeps {position}."),
):
    short = If("winner", "{winner_name} wins {position} at auction for ${price}", "{position} is auctioned; no bids")
    position: Position
    winner: str | None
    winner_name: str
    price: int


class StakedBid(Part):
    """A bid in dollars; 0 withdraws."""

    bid: WholeNumber


Bid: TypeAlias = Spoken[StakedBid]


@dataclass(frozen=True, slots=True)
class AuctionLot:
    """A property at auction: the highest bid (0 for none), its bidder, the least valid bid, and who still bids.

    `ahead` are the `rivals` whose equal sealed bid would win.
    """

    position: int
    high: int
    leader: str
    least: int
    rivals: tuple[str, ...]
    sealed: bool
    ahead: tuple[str, ...] = ()
    building: str = ""
    """The house or hotel that is auctioned to be built here, or "" if the deed is auctioned."""

    @property
    def price(self) -> int:
        space = SPACES[self.position]
        return space.house_cost if self.building else space.price


class AuctionBid(MonopolyRequest[Bid]):
    null_objects: ClassVar[Mapping[str, Any]] = {"action": {"bid": 0}}
    particulars: ClassVar[tuple[str, ...]] = ("lot.position", "lot.high", "lot.least")

    lot: AuctionLot

    def choices(self) -> Options:
        return {"action.bid": Number(0, self.you.cash, if_null=0)}

    @property
    def bids(self) -> str:
        return f"{self.lot.least} to {self.you.cash}"

    def why_not(self, decision: Bid) -> str:
        return f"action.bid must be 0, or from {self.bids}." if 0 < decision.action.bid < self.lot.least else ""

    def question(self) -> tuple[str, ...]:
        lot = self.lot
        how = f"The highest bid is ${lot.high} by {lot.leader}." if lot.leader else "There is no bid yet."
        how += " A withdrawal is final."
        if lot.sealed:
            ahead = (
                f"and among equal bids that of {', '.join(lot.ahead)} before yours." if lot.ahead else "yours if equal."
            )
            how = f"Each player makes one sealed bid; the highest bid wins and is paid, {ahead}"
        return (
            f"{self._what()} is auctioned. Printed price ${lot.price}; you have ${self.you.cash}. "
            f"{rent_line(lot.position)}",
            *([] if lot.building else [group_line(self.view, self.seat, lot.position)]),
            f"{how} Other players still bidding: {', '.join(lot.rivals) or 'none'}.",
            f"How much do you bid: a whole number from {self.bids}, or 0 to withdraw?",
        )

    def _what(self) -> str:
        lot, space = self.lot, SPACES[self.lot.position]
        if not lot.building:
            return f"{space.position} {space.name}"
        now, then = self.view.estate().rent(lot.position, 0), space.rents[self.view.houses[lot.position] + 1]
        return (
            f"The bank is short of {lot.building}s: the next one, which you would build at once on {space.position} "
            f"{space.name} (rent {now}, then {then}),"
        )

    def fingerprint_fields(self) -> Mapping[str, Any]:
        building = {"building": self.lot.building} if self.lot.building else {}
        return {**super().fingerprint_fields(), **building}

    def on_board(self) -> Iterable[tuple[str, FieldOverride | None]]:
        legal = Either((Choice((0,)), Number(self.lot.least, self.you.cash)))
        return [("action.bid", FieldOverride(f"{self.bids}, or 0 to withdraw", for_models=legal))]

    def fallback(self) -> Bid:
        """Bid 10 above the highest bid while that is below the printed price and the player has the price in cash."""
        lot, cash = self.lot, self.you.cash
        bid = min(max(lot.high + BID_STEP, lot.least), cash) if lot.high < lot.price <= cash else 0
        return self.silent(action=StakedBid(bid=bid if bid >= lot.least else 0))
