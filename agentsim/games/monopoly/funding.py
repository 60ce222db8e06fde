"""Funding: what is short of a price, or of a bid, is raised from the bank before it is needed.

Buying and bidding are asked of who has the cash; this is the question before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

from agentsim.games.monopoly import bundle
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.building import carry_out, lists_that_matter, open_to
from agentsim.games.monopoly.bundle import Funds
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.prompts import group_line, rent_line
from agentsim.games.monopoly.question import MonopolyRequest, Spoken

Funded: TypeAlias = Spoken[Funds]


class RaiseFirst(MonopolyRequest[Funded]):
    """The player is short of the price, or of the least bid, and could raise it from the bank before it is asked."""

    empty: ClassVar[Mapping[str, Any]] = {"action": {}}
    particulars: ClassVar[tuple[str, ...]] = ("position", "needed")

    position: int
    needed: int
    bid: bool

    def why_not(self, decision: Funded) -> str:
        return bundle.why_not(self.view, self.seat, decision.action.bundle)

    def question(self) -> tuple[str, ...]:
        space, cash = SPACES[self.position], self.you.cash
        bid = f"least bid for {space.position} {space.name} is ${self.needed} (printed price ${space.price})"
        price = f"price of {space.position} {space.name} is ${self.needed}"
        asked, passed = "you are asked for a bid; with less you withdraw.", "you may buy; with less it is auctioned."
        then = asked if self.bid else passed
        return (
            f"The {bid if self.bid else price}; you have ${cash}: ${self.needed - cash} short. "
            f"{rent_line(space.position)}",
            group_line(self.view, self.seat, self.position),
            *open_to(self.view, self.seat, "sell", "mortgage"),
            f"You may sell buildings and mortgage deeds first. With ${self.needed} {then}",
        )

    def asked_of(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        return lists_that_matter(action, self.view.estate(), self.seat)


async def can_pay(match: Match, number: int, position: int, needed: int, *, bid: bool) -> bool:
    """Whether a player has what it needs to buy or to bid, once it has raised it from the bank, where it may."""
    seat = match.seat(number)
    short = seat.cash < needed <= seat.cash + match.state.estate.liquid(number)
    if short and match.config.raise_first:
        funded = await match.ask(number, RaiseFirst, position=position, needed=needed, bid=bid)
        carry_out(match, number, funded.action.bundle)
    return seat.cash >= needed
