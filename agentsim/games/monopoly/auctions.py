"""Auctions: a deed that was not bought goes to the highest bidder; the decliner and the jailed may bid."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from agentsim.games.monopoly.estate import BANK
from agentsim.games.monopoly.events import AuctionClosed, AuctionOpened, BidMade
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.requests import AuctionBid
from agentsim.games.monopoly.view import AuctionLot


async def auction(match: Match, position: int, *, opener: int) -> None:
    """Sell one deed, from the left of the `opener` round to itself, where it is still in the game.

    A player without the cash for the least bid is out of it unasked.
    """
    order = match.state.after(opener)
    match.tell(AuctionOpened(position, tuple(match.seat(number).id for number in order)))
    ways = {"open": _ascending, "sealed": _sealed}
    winner, price = await ways[match.config.auction](match, position, order)
    name = match.name(winner) if winner != BANK else ""
    match.tell(AuctionClosed(position, match.id(winner), name, price))
    if winner != BANK:
        match.pay(winner, BANK, price, "auction", position)
        match.give_deed(position, winner, "auction")


async def _ascending(match: Match, position: int, order: Sequence[int]) -> tuple[int, int]:
    """Open bids in turn order until all but one have withdrawn, which is final; the last one left is asked too (S8)."""
    leader, high = BANK, 0
    left = deque(order)
    while left:
        number = left.popleft()
        if number == leader:  # it comes round only when no other bidder is left
            break
        least, bid = high + match.config.auction_min_step, 0
        if match.seat(number).cash >= least:
            rivals = tuple(match.name(other) for other in left)
            lot = AuctionLot(position, high, match.name(leader) if leader != BANK else "", least, rivals, sealed=False)
            decision = await match.ask(number, AuctionBid, lot=lot)
            bid = decision.action.bid
        _heard(match, position, number, bid)
        if bid:
            leader, high = number, bid
            left.append(number)
    return leader, high


async def _sealed(match: Match, position: int, order: Sequence[int]) -> tuple[int, int]:
    """One bid each, all at once; of equal bids the first in turn order wins."""
    least = match.config.auction_min_step
    able = [number for number in order if match.seat(number).cash >= least]
    names = [match.name(number) for number in able]
    requests = []
    for place, number in enumerate(able):
        ahead, behind = tuple(names[:place]), tuple(names[place + 1 :])
        lot = AuctionLot(position, 0, "", least, (*ahead, *behind), sealed=True, ahead=ahead)
        requests.append(match.request(number, AuctionBid, lot=lot))
    decisions = dict(zip(able, await match.table.ask_all(requests), strict=True))
    leader, high = BANK, 0
    for number in order:
        bid = 0
        if decision := decisions.get(number):
            match.voice(number, decision)
            bid = decision.action.bid
        _heard(match, position, number, bid)
        if bid > high:
            leader, high = number, bid
    return leader, high


def _heard(match: Match, position: int, number: int, bid: int) -> None:
    seat = match.seat(number)
    match.tell(BidMade(position, seat.id, seat.name, bid), by=number)
