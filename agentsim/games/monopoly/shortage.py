"""Shortage: the last houses and hotels, which several players could build, go to the highest bidder, one by one (S10).

Who builds opens with the printed price; those who could build too may bid more, and the winner builds for its bid.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from agentsim.engine.request import Choice, Number, Options
from agentsim.engine.schema import said
from agentsim.engine.template import If
from agentsim.games.monopoly import bundle
from agentsim.games.monopoly.board import SPACES, OfPlayer, OnBoard
from agentsim.games.monopoly.building import build, carry_out
from agentsim.games.monopoly.bundle import Building, Bundle, Step, building
from agentsim.games.monopoly.buying import BID_STEP, StakedBid
from agentsim.games.monopoly.estate import Estate
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.prompts import deed
from agentsim.games.monopoly.question import MonopolyRequest, Place, Spoken


class BuildingShort(
    OnBoard,
    heading="{name} builds while others could: the bank has {stock} {building} left",
    content="Each goes to the highest bidder, from ${price} up.",
):
    """`bidders` could build too; `price` is the printed one, with which the builder opens."""

    name: str
    building: str
    stock: int
    price: int
    bidders: tuple[str, ...]


class BuildingBid(
    OfPlayer, heading=If("amount", "{name} bids ${amount}", "{name} withdraws"), content="The {building}."
):
    """`amount` 0 withdraws."""

    building: str
    amount: int


class BuildingStake(StakedBid):
    """A bid for a building in dollars, 0 withdraws; and the lot that it is for."""

    position: Place | None = None


class BuildingBidden(Spoken):
    """A bid, or 0."""

    action: BuildingStake


@dataclass(frozen=True, slots=True)
class BuildingLot:
    """A house or hotel under the hammer: the highest bid and whose it is, the lowest that counts, who still bids."""

    building: Building
    high: int
    leader: str
    least: int
    rivals: tuple[str, ...]
    lots: tuple[int, ...]
    """Where the bidder may build it."""


class BidForBuilding(MonopolyRequest[BuildingBidden]):
    """A bid for one of the last houses or hotels, or 0."""

    empty: ClassVar[Mapping[str, Any]] = {"action": {"bid": 0}}
    particulars: ClassVar[tuple[str, ...]] = ("lot.building", "lot.high", "lot.least")

    lot: BuildingLot

    def choices(self) -> Options:
        lots = Choice((None, *self.lot.lots))
        return {"action.bid": Number(0, self.you.cash, nothing=0), "action.position": lots}

    @property
    def bids(self) -> str:
        """The amounts that count."""
        return f"{self.lot.least} to {self.you.cash}"

    def why_not(self, decision: BuildingBidden) -> str:
        return f"action.bid must be 0, or from {self.bids}." if 0 < decision.action.bid < self.lot.least else ""

    def question(self) -> tuple[str, ...]:
        lot, estate = self.lot, self.view.estate()
        lots = (
            f"{deed(estate, at)} (printed price ${SPACES[at].house_cost}; rent {SPACES[at].rents[estate.level[at]]}, "
            f"then {SPACES[at].rents[estate.level[at] + 1]})"
            for at in lot.lots
        )
        return (
            f"The bank is short of {lot.building}s, so the next {lot.building} is auctioned; the winner pays its bid "
            f"and builds it. You have ${self.you.cash}. You could build on: {', '.join(lots)}.",
            f"The highest bid is ${lot.high} by {lot.leader}. Whoever withdraws is out of it. Still bidding besides "
            f"you: {', '.join(lot.rivals) or 'nobody'}.",
            f"How much do you bid: a whole number from {self.bids} with the position of your lot, or 0 to withdraw?",
        )

    def asked_of(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        action = said(action, "bid", description=f"{self.bids}, or 0 to withdraw")
        return said(action, "position", enum=list(self.lot.lots), default=self.lot.lots[0])

    def fallback(self) -> BuildingBidden:
        """Ten more than the highest while that is below twice the printed price, as far as the cash goes."""
        lot, cash = self.lot, self.you.cash
        bid = min(max(lot.high + BID_STEP, lot.least), cash)
        wise = lot.least <= bid < 2 * SPACES[lot.lots[0]].house_cost
        return self.silent(action=BuildingStake(bid=bid if wise else 0, position=lot.lots[0]))


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


def _lots(estate: Estate, number: int, kind: Building) -> tuple[int, ...]:
    """The lots on which a player may build this next."""
    able = [lot for lot in estate.able("build", number) if building(estate.level[lot] + 1) == kind]
    return tuple(able)


async def _auctioned(match: Match, builder: int, step: Step, bidders: Sequence[int], out: set[int]) -> None:
    """One building: the builder opens, the others may bid more; who withdraws is `out` of the rest as well."""
    kind, place = building(step.after), {builder: step.position}
    leader, high, left = builder, step.amount, deque((*bidders, builder))
    while (number := left.popleft()) != leader:
        least, bid = high + match.config.auction_min_step, 0
        seat, lots = match.seat(number), _lots(match.state.estate, number, kind)
        if seat.cash >= least:
            lot = BuildingLot(kind, high, match.name(leader), least, tuple(map(match.name, left)), lots)
            stake = (await match.ask(number, BidForBuilding, lot=lot)).action
            bid, place[number] = stake.bid, lots[0] if stake.position is None else stake.position
            match.tell(BuildingBid(seat.id, seat.name, kind, bid), by=number)
        if bid:
            leader, high = number, bid
            left.append(number)
        elif number != builder:
            out.add(number)
    build(match, leader, place[leader], high)
