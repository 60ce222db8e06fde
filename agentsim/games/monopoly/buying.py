"""Buying: an unowned property is bought at its printed price, or auctioned to the highest bidder.

The player who declined may bid, and so may players in jail.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

from agentsim.engine import Choice, Number, Options
from agentsim.engine.decision import WholeNumber
from agentsim.engine.options import Either, Narrowed
from agentsim.engine.wording import If
from agentsim.games.monopoly.board import SPACES, OnBoard, OnDeed, Position, Space
from agentsim.games.monopoly.building import can_pay
from agentsim.games.monopoly.estate import BANK
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.prompts import group_line, rent_line
from agentsim.games.monopoly.question import MonopolyRequest, Part, Spoken, Word

BID_STEP = 10  # dollars above the highest bid, for a player without a usable answer


# -- at the printed price


class Bought(Spoken[str]):
    """The answer: buy at the printed price, or let the property go to auction."""

    action: Annotated[Word, Choice(("buy", "auction"))]


class BuyOrAuction(MonopolyRequest[Bought]):
    """The question whether to buy an unowned property whose price the player has in cash."""

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
        """Buy if the player has twice the price in cash."""
        return self.silent(action="buy" if self.you.cash >= 2 * SPACES[self.position].price else "auction")


async def offer(match: Match, number: int, space: Space) -> None:
    """Offer an unowned property at its price, and auction it if the player declines.

    A player who does not have or raise the cash is not asked: the property is auctioned at once.
    """
    if await can_pay(match, number, space.position, space.price, bid=False):
        decision = await match.ask(number, BuyOrAuction, position=space.position)
        if decision.action == "buy":
            match.pay(number, BANK, space.price, "purchase", space.position)
            match.give_deed(space.position, number, "purchase")
            return
    await auction(match, space.position, opener=number)


# -- at auction


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
        now, then = self.view.estate().rent(lot.position, 0), space.rents[self.view.houses[lot.position] + 1]
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
        """Bid 10 above the highest bid while that is below the printed price and the player has the price in cash."""
        lot, cash = self.lot, self.you.cash
        bid = min(max(lot.high + BID_STEP, lot.least), cash) if lot.high < lot.price <= cash else 0
        return self.silent(action=StakedBid(bid=bid if bid >= lot.least else 0))


async def auction(match: Match, position: int, *, opener: int) -> None:
    """Auction one deed, from the left of `opener` round to it, and charge the winner.

    A player without the cash for the least bid is not asked. Of equal sealed bids the first in turn order wins.
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
    """Take open bids in turn order until all but one have withdrawn, which is final (S8).

    The last bidder is asked even if there is no other bid.
    """
    leader, high, left = BANK, 0, deque(order)
    while left and (number := left.popleft()) != leader:  # the leader's turn comes only when no other bidder is left
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
    """Take one bid from each player, all at once."""
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
