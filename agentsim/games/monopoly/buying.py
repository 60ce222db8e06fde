"""Buying: a deed that no player owns is bought at its price, or goes to the highest bidder.

The decliner and the jailed may bid.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

from agentsim.engine import Choice, Number, Options
from agentsim.engine.decision import WholeNumber
from agentsim.engine.options import Either
from agentsim.engine.schema import Narrowed
from agentsim.engine.wording import If
from agentsim.games.monopoly.board import SPACES, OnBoard, OnDeed, Position, Space
from agentsim.games.monopoly.building import can_pay
from agentsim.games.monopoly.estate import BANK
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.prompts import group_line, rent_line
from agentsim.games.monopoly.question import MonopolyRequest, Part, Spoken, Word

BID_STEP = 10  # of a player that could not be asked


# -- at the printed price


class Bought(Spoken[str]):
    """Buy at the printed price, or let it go to auction."""

    action: Annotated[Word, Choice(("buy", "auction"))]


class BuyOrAuction(MonopolyRequest[Bought]):
    """The space is unowned and the player has its price."""

    synonyms: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "buy": ("buy it", "purchase", "purchase it", "yes", "买", "买下", "kaufen", "acheter", "comprar", "kupuje"),
        "auction": ("let it go to auction", "send it to auction", "put it up for auction", "decline", "no", "拍卖"),
    }

    position: int

    def question(self) -> tuple[str, ...]:
        space = SPACES[self.position]
        return (
            f"You stand on {self.position} {space.name}, unowned. Price ${space.price}; you have "
            f"${self.you.cash}. {rent_line(self.position)}",
            group_line(self.view, self.seat, self.position),
            "Buy it, or auction it?",
        )

    def fallback(self) -> Bought:
        """Buy with twice the price in cash."""
        return self.silent(action="buy" if self.you.cash >= 2 * SPACES[self.position].price else "auction")


async def offer(match: Match, number: int, space: Space) -> None:
    """A player who has not the price in cash, and does not raise it, is not asked: it is auctioned at once."""
    if await can_pay(match, number, space.position, space.price, bid=False):
        decision = await match.ask(number, BuyOrAuction, position=space.position)
        if decision.action == "buy":
            match.pay(number, BANK, space.price, "purchase", space.position)
            match.give_deed(space.position, number, "purchase")
            return
    await auction(match, space.position, opener=number)


# -- at auction


class AuctionOpened(OnBoard, heading="{position} is auctioned", content="Printed price ${price}."):
    """`bidders` are all who are in the game, in turn order; who has not the cash for a bid withdraws unasked."""

    position: Position
    bidders: tuple[str, ...]

    @property
    def price(self) -> int:
        return SPACES[self.position].price


class BidMade(
    OnDeed, kind="bid", heading=If("amount", "{name} bids ${amount}", "{name} withdraws"), content="{position}."
):
    """`amount` 0 withdraws."""


class AuctionClosed(
    OnBoard,
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
    """A deed under the hammer: the highest bid (0 for none) and whose it is, the lowest that counts, who still bids.

    `ahead` are those of the `rivals` whose equal sealed bid would win.
    """

    position: int
    high: int
    leader: str
    least: int
    rivals: tuple[str, ...]
    sealed: bool
    ahead: tuple[str, ...] = ()
    building: str = ""
    """A house or a hotel for this lot in place of the deed."""

    @property
    def price(self) -> int:
        space = SPACES[self.position]
        return space.house_cost if self.building else space.price


class AuctionBid(MonopolyRequest[Bid]):
    empty: ClassVar[Mapping[str, Any]] = {"action": {"bid": 0}}
    particulars: ClassVar[tuple[str, ...]] = ("lot.position", "lot.high", "lot.least")

    lot: AuctionLot

    def choices(self) -> Options:
        return {"action.bid": Number(0, self.you.cash, nothing=0)}

    @property
    def bids(self) -> str:
        return f"{self.lot.least} to {self.you.cash}"

    def why_not(self, decision: Bid) -> str:
        return f"action.bid must be 0, or from {self.bids}." if 0 < decision.action.bid < self.lot.least else ""

    def question(self) -> tuple[str, ...]:
        lot = self.lot
        how = f"The highest bid is ${lot.high} by {lot.leader}." if lot.leader else "There is no bid yet."
        how += " To withdraw is final."
        if lot.sealed:
            ahead = (
                f"and of equal ones that of {', '.join(lot.ahead)} before yours." if lot.ahead else "yours if equal."
            )
            how = f"All bid once, unseen by the others; the highest bid wins and is paid, {ahead}"
        return (
            f"{self._what()} is auctioned. Printed price ${lot.price}; you have ${self.you.cash}. "
            f"{rent_line(lot.position)}",
            *([] if lot.building else [group_line(self.view, self.seat, lot.position)]),
            f"{how} Still bidding besides you: {', '.join(lot.rivals) or 'none'}.",
            f"How much do you bid: a whole number from {self.bids}, or 0 to withdraw?",
        )

    def _what(self) -> str:
        lot, space = self.lot, SPACES[self.lot.position]
        if not lot.building:
            return f"{space.position} {space.name}"
        now, then = self.view.estate().rent(lot.position, 0), space.rents[self.view.level[lot.position] + 1]
        return (
            f"The bank is short of {lot.building}s: the next one, which you would build at once on {space.position} "
            f"{space.name} (rent {now}, then {then}),"
        )

    def fingerprint_fields(self) -> Mapping[str, Any]:
        building = {"building": self.lot.building} if self.lot.building else {}
        return {**super().fingerprint_fields(), **building}

    def on_board(self) -> Iterable[tuple[str, Narrowed | None]]:
        legal = Either((Choice((0,)), Number(self.lot.least, self.you.cash)))
        return [("action.bid", Narrowed(f"{self.bids}, or 0 to withdraw", for_models=legal))]

    def fallback(self) -> Bid:
        """Ten more than the highest, as far as the cash goes, while that is below the printed price."""
        lot, cash = self.lot, self.you.cash
        bid = min(max(lot.high + BID_STEP, lot.least), cash) if lot.high < lot.price <= cash else 0
        return self.silent(action=StakedBid(bid=bid if bid >= lot.least else 0))


async def auction(match: Match, position: int, *, opener: int) -> None:
    """Sell one deed, from the left of the `opener` round to itself, where it is still in the game.

    A player without the cash for the least bid is out of it unasked; of equal bids the first in turn order wins.
    """
    order = match.state.after(opener)
    match.tell(AuctionOpened(position, tuple(match.seat(number).id for number in order)))
    winner, price = await (_sealed if match.config.auction == "sealed" else _ascending)(match, position, order)
    name = match.name(winner) if winner != BANK else ""
    match.tell(AuctionClosed(position, match.id(winner), name, price))
    if winner != BANK:
        match.pay(winner, BANK, price, "auction", position)
        match.give_deed(position, winner, "auction")


async def _ascending(match: Match, position: int, order: Sequence[int]) -> tuple[int, int]:
    """Open bids in turn order until all but one have withdrawn, which is final; the last one left is asked too (S8)."""
    leader, high, left = BANK, 0, deque(order)
    while left and (number := left.popleft()) != leader:  # it comes round only when no other bidder is left
        least, bid = high + match.config.auction_min_step, 0
        if await can_pay(match, number, position, least, bid=True):
            rivals = tuple(map(match.name, left))
            lot = AuctionLot(position, high, match.name(leader) if leader != BANK else "", least, rivals, sealed=False)
            bid = (await match.ask(number, AuctionBid, lot=lot)).action.bid
        match.tell(BidMade(position, *match.who(number), bid), by=number)
        if bid:
            leader, high = number, bid
            left.append(number)
    return leader, high


async def _sealed(match: Match, position: int, order: Sequence[int]) -> tuple[int, int]:
    """One bid each, all at once."""
    least = match.config.auction_min_step
    able = [number for number in order if await can_pay(match, number, position, least, bid=True)]
    names = tuple(map(match.name, able))
    requests = []
    for place, number in enumerate(able):
        ahead, behind = names[:place], names[place + 1 :]
        lot = AuctionLot(position, 0, "", least, (*ahead, *behind), sealed=True, ahead=ahead)
        requests.append(match.request(number, AuctionBid, lot=lot))
    decisions = dict(zip(able, await match.table.ask_all(requests), strict=True))
    bids = {}
    for number in order:
        if decision := decisions.get(number):
            match.voice(number, decision)
        bids[number] = decision.action.bid if decision else 0
        match.tell(BidMade(position, *match.who(number), bids[number]), by=number)
    leader = max(order, key=bids.__getitem__)
    return (leader, bids[leader]) if bids[leader] else (BANK, 0)
