"""Shortage: the last houses and hotels, which several players could build, go to the highest bidder, one by one (S10).

Who builds opens with the printed price; those who could build too may bid more, and the winner builds for its bid.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from agentsim.games.monopoly import bundle
from agentsim.games.monopoly.board import SPACES, OnBoard
from agentsim.games.monopoly.building import build, carry_out
from agentsim.games.monopoly.bundle import Building, Bundle, Step, building
from agentsim.games.monopoly.buying import AuctionBid, AuctionLot, BidMade
from agentsim.games.monopoly.estate import Estate
from agentsim.games.monopoly.match import Match


class BuildingShort(
    OnBoard,
    heading="{name} builds while others could: the bank has {stock} {building} left",
    content="Each goes to the highest bidder, from ${price} up.",
):
    """`bidders` could build too; `price` is the printed one, with which the builder opens."""

    short = "{name} builds, {stock} {building} left: each goes to the highest bidder"
    name: str
    building: str
    stock: int
    price: int
    bidders: tuple[str, ...]


# -- what happens


async def build_out(match: Match, number: int, changes: Bundle) -> None:
    """As `carry_out`; but a building goes to auction where there is not one left for each who could build one now."""
    estate = match.state.estate
    steps = bundle.carry_out(estate.copy(), number, match.seat(number).cash, changes) if changes.builds else []
    carry_out(match, number, changes.model_copy(update={"builds": ()}))
    told, out = set[str](), set[int]()
    for step in (step for step in steps if step.kind == "build"):
        if estate.why_not("build", number, step.position) or match.seat(number).cash < step.amount:
            continue  # what it counted on has gone to another player
        kind = building(step.after)
        rivals = [] if match.config.house_shortage == "seat_order" else _rivals(match, number, step)
        stock = estate.hotels if kind == "hotel" else estate.houses
        if len(rivals) < stock:
            build(match, number, step.position, step.amount)
            continue
        if kind not in told:
            told.add(kind)
            ids = tuple(match.seat(other).id for other in rivals)
            match.tell(BuildingShort(match.name(number), kind, stock, step.amount, ids), by=number)
        await _auctioned(match, number, step, [other for other in rivals if other not in out], out)


def _rivals(match: Match, builder: int, step: Step) -> list[int]:
    """From the builder's left, the others who could build one too, and have the cash to bid for it."""
    least, others = step.amount + match.config.auction_min_step, match.state.after(builder)[:-1]
    rich = [other for other in others if match.seat(other).cash >= least]
    return [other for other in rich if _lots(match.state.estate, other, building(step.after))]


def _lots(estate: Estate, number: int, kind: Building) -> list[int]:
    """Those on which a player may build this next."""
    return [lot for lot in estate.able("build", number) if building(estate.level[lot] + 1) == kind]


async def _auctioned(match: Match, builder: int, step: Step, bidders: Sequence[int], out: set[int]) -> None:
    """One building: the builder opens, the others may bid more; who withdraws is `out` of the rest as well."""
    kind = building(step.after)
    leader, high, left = builder, step.amount, deque((*bidders, builder))
    while (number := left.popleft()) != leader:
        place, bid = _place(match, number, step, own=number == builder), 0
        least = high + match.config.auction_min_step
        if match.seat(number).cash >= least:
            names = (match.name(leader), least, tuple(map(match.name, left)))
            lot = AuctionLot(place, high, *names, sealed=False, building=kind)
            bid = (await match.ask(number, AuctionBid, lot=lot)).action.bid
            match.tell(BidMade(place, *match.who(number), bid), by=number)
        if bid:
            leader, high = number, bid
            left.append(number)
        elif number != builder:
            out.add(number)
    build(match, leader, _place(match, leader, step, own=leader == builder), high)


def _place(match: Match, number: int, step: Step, *, own: bool) -> int:
    """Where the bidder would build: where the builder wanted to, or where its rent would be highest."""
    lots, level = _lots(match.state.estate, number, building(step.after)), match.state.estate.level
    return step.position if own else max(lots, key=lambda lot: SPACES[lot].rents[level[lot] + 1])
