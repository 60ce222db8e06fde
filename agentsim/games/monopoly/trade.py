"""Trade: what may change hands between two players, and the change. `dealing` has how it is proposed and answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from agentsim.games.monopoly.actions import Proposal, Side
from agentsim.games.monopoly.board import DEEDS, SPACES
from agentsim.games.monopoly.cards import JAIL_CARDS, DeckName
from agentsim.games.monopoly.estate import BANK, Estate

NOBODY = -1


class Trader(Protocol):
    """What is looked at of a player."""

    @property
    def id(self) -> str: ...
    @property
    def cash(self) -> int: ...
    @property
    def cards(self) -> Sequence[DeckName]: ...
    @property
    def bankrupt(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Terms:
    """Who gives what to whom; seats by number."""

    proposer: int
    target: int
    offer: Side
    request: Side


def terms_of(traders: Sequence[Trader], proposer: int, proposal: Proposal) -> Terms:
    """The terms of a proposal, whatever the case in which it names its target; `NOBODY` where that is no player."""
    named = (proposal.target_player or "").strip().casefold()
    target = next((number for number, trader in enumerate(traders) if trader.id.casefold() == named), NOBODY)
    return Terms(proposer, target, proposal.offer, proposal.request)


def possible(estate: Estate, traders: Sequence[Trader]) -> bool:
    """Whether any player has anything to trade but cash."""
    for position in DEEDS:
        if estate.owner[position] != BANK and not estate.built_up(position):
            return True
    return any(trader.cards for trader in traders)


def interest_on(mortgaged: Sequence[bool], positions: Iterable[int]) -> int:
    """What the receiver of these deeds owes the bank at once: a tenth of every mortgage (S3)."""
    return sum([SPACES[position].interest for position in positions if mortgaged[position]])


def handed_cards(held: Sequence[DeckName], count: int) -> list[DeckName]:
    """Which cards out of jail are handed over, of those that are held: Chance first (S17)."""
    return [name for name in JAIL_CARDS if name in held][:count]


def problem(estate: Estate, traders: Sequence[Trader], terms: Terms) -> str | None:
    """Why this trade cannot be made, in words for the table; None where it can.

    Only cash, deeds without buildings in their groups, and cards out of jail change hands, now; who receives a
    mortgaged deed pays its interest at once, and must have the cash.
    """
    if terms.target == NOBODY:
        others = [trader.id for number, trader in enumerate(traders) if number != terms.proposer]
        return f"there is no player of that id: it may be {' or '.join(others)}"
    if terms.target == terms.proposer:
        return "a trade needs another player"
    if traders[terms.target].bankrupt:
        return "the other player is out of the game"
    if terms.offer.empty and terms.request.empty:
        return "neither side gives anything"
    sides = (("the proposer", terms.proposer, terms.offer), ("the other player", terms.target, terms.request))
    for who, giver, side in sides:
        if wrong := _cannot_give(estate, traders[giver], giver, who, side):
            return wrong
    for (who, taker, gives), (_, _, takes) in (sides, sides[::-1]):
        if traders[taker].cash - gives.cash + takes.cash < interest_on(estate.mortgaged, takes.properties):
            return f"{who} could not pay the interest on the mortgaged deeds"
    return None


def _cannot_give(estate: Estate, trader: Trader, giver: int, who: str, side: Side) -> str | None:
    if min(side.cash, side.jail_cards) < 0:
        return "amounts go from 0 up"
    if side.cash > trader.cash:
        return f"{who} does not have ${side.cash}"
    if side.jail_cards > len(trader.cards):
        return f"{who} does not hold so many cards out of jail"
    if len(set(side.properties)) != len(side.properties):
        return f"{who} gives a deed twice"
    for position in side.properties:
        if position not in DEEDS:
            return f"position {position} is no property"
        if estate.owner[position] != giver:
            return f"{SPACES[position].name} does not belong to {who}"
        if estate.built_up(position):
            return f"there are buildings in the group of {SPACES[position].name}"
    return None
