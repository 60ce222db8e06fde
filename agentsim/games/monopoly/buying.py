"""Buying: an unowned property is bought at its printed price, or auctioned to the highest bidder.

The player who declined may bid, and so may players in jail.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeAlias

from agentsim.engine import Choice
from agentsim.engine.options import FieldOverride
from agentsim.games.monopoly.auctions import AuctionBid, AuctionClosed, AuctionLot, AuctionOpened, BidMade
from agentsim.games.monopoly.board import SPACES, Space
from agentsim.games.monopoly.building import Funds, carry_out, lists_that_matter, open_to, why_not_all
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.question import MonopolyRequest, Spoken, Word
from agentsim.games.monopoly.rules_text import group_line, rent_line
from agentsim.games.monopoly.state import BANK

# -- before a price or a bid: what is missing is raised


Funded: TypeAlias = Spoken[Funds]


class RaiseFirst(MonopolyRequest[Funded]):
    """The question of raising cash: the player is short of a price or of the least bid, and could raise it."""

    null_objects: ClassVar[Mapping[str, Any]] = {"action": {}}
    particulars: ClassVar[tuple[str, ...]] = ("position", "needed")

    position: int
    needed: int
    bid: bool

    def why_not(self, decision: Funded) -> str:
        return why_not_all(self.view, self.seat, decision.action.bundle)

    def question(self) -> tuple[str, ...]:
        space, cash = SPACES[self.position], self.you.cash
        bid = f"least bid for {space.position} {space.name} is ${self.needed} (printed price ${space.price})"
        price = f"price of {space.position} {space.name} is ${self.needed}"
        asked, passed = "you are asked for a bid; with less you withdraw.", "you may buy it; with less it is auctioned."
        then = asked if self.bid else passed
        return (
            f"The {bid if self.bid else price}; you have ${cash}: ${self.needed - cash} short. "
            f"{rent_line(space.position)}",
            group_line(self.view, self.seat, self.position),
            *open_to(self.view, self.seat, "sell", "mortgage"),
            f"You may sell buildings and mortgage deeds first. With ${self.needed} {then}",
        )

    def on_board(self) -> Iterator[tuple[str, FieldOverride | None]]:
        return lists_that_matter(self.view.estate(), self.seat)


async def can_pay(match: Match, number: int, position: int, needed: int, *, bid: bool) -> bool:
    """Return whether a player has `needed` in cash, after letting it raise what is missing if the config allows it."""
    seat = match.seat(number)
    short = seat.cash < needed <= seat.cash + match.state.estate.liquidation_value(number)
    if short and match.config.raise_first:
        funded = await match.ask(number, RaiseFirst, position=position, needed=needed, bid=bid)
        carry_out(match, number, funded.action.bundle)
    return match.seat(number).cash >= needed


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
            f"You landed on {self.position} {space.name}, which is unowned. Its price is ${space.price}; you have "
            f"${self.you.cash}. {rent_line(self.position)}",
            group_line(self.view, self.seat, self.position),
            "Do you buy it, or let it be auctioned?",
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
    for index, number in enumerate(able):
        ahead, behind = names[:index], names[index + 1 :]
        lot = AuctionLot(position, 0, "", least, (*ahead, *behind), sealed=True, ahead=ahead)
        requests.append(match.request(number, AuctionBid, lot=lot))
    decisions = dict(zip(able, await match.table.ask_all(requests), strict=True))
    bids = {}
    for number in order:
        if decision := decisions.get(number):
            match.voice(number, decision, AuctionBid.kind)
        bids[number] = decision.action.bid if decision else 0
        match.tell(BidMade(position, *match.who(number), bids[number]), by=number)
    leader = max(order, key=bids.__getitem__)
    return (leader, bids[leader]) if bids[leader] else (BANK, 0)
