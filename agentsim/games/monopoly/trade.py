"""Trade: what may change hands between two players, and what is told of it. `trading` has who is asked, and the change.

Cash, deeds without buildings in their groups, and cards out of jail change hands, now; who receives a mortgaged deed
pays its interest at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator

from agentsim.engine.event import AGAINST, FOR, Deed, Event, Interaction, Past
from agentsim.engine.number import WholeNumber
from agentsim.engine.template import Worded
from agentsim.engine.wording import counted, sentence
from agentsim.games.monopoly.answers import Deeds, Part
from agentsim.games.monopoly.board import DEEDS, FINE, SPACES, name_of
from agentsim.games.monopoly.cards import JAIL_CARDS, DeckName
from agentsim.games.monopoly.estate import BANK, Estate
from agentsim.games.monopoly.state import Seat
from agentsim.games.monopoly.view import SeatView

NOBODY = -1
Trader: TypeAlias = Seat | SeatView


def _id(value: Any) -> Any:
    """Ids are texts, and those that are numbers are often written as such."""
    return str(value) if type(value) is int else value


class Side(Part):
    """What one side of a trade gives: deeds by position, dollars, cards out of jail."""

    properties: Deeds = ()
    cash: WholeNumber = 0
    jail_cards: WholeNumber = 0

    @property
    def empty(self) -> bool:
        """Whether it gives nothing."""
        return not (self.properties or self.cash or self.jail_cards)

    @property
    def price(self) -> int:
        """In dollars: cash, deeds at their printed price, mortgaged or not, cards out of jail at the fine they save."""
        return self.cash + sum(SPACES[at].price for at in self.properties) + FINE * self.jail_cards

    def parts(self, in_cash: str = "") -> list[str]:
        """Every part, by name."""
        parts = [name_of(position) for position in self.properties]
        parts += [f"${self.cash}{in_cash}"] * (self.cash > 0)
        parts += [f"{counted(self.jail_cards, 'card')} out of jail"] * (self.jail_cards > 0)
        return parts or ["nothing"]

    def __str__(self) -> str:
        return " + ".join(self.parts())


class Proposal(Part):
    """A trade that is proposed, or that none is."""

    propose_trade: bool = False
    target_player: Annotated[str | None, BeforeValidator(_id)] = None
    offer: Side = Side()
    request: Side = Side()
    pitch: str = ""


# -- what is told


class TradeProposed(
    Event,
    heading="{proposer_name} offers {target_name} {offer} for {request}",
    words="pitch",
    deeds=(Deed("proposer", "target", "proposed a trade"),),
):
    """`pitch` is the proposer's own words."""

    number: int
    proposer: str
    target: str
    proposer_name: str
    target_name: str
    offer: Side
    request: Side
    pitch: str


class TradeDiscarded(Event, heading="{name}'s proposal is discarded", content="{problem}", private=("proposer",)):
    """A proposal that cannot be; it counts as one, and only its proposer hears why."""

    proposer: str
    name: str
    problem: Annotated[str, Worded(sentence)]

    @property
    def turned_away(self) -> bool:
        return True


class _TradeAnswered(Event):
    """`number` is that of the proposal; the terms stand there."""

    number: int
    proposer: str
    target: str
    proposer_name: str
    target_name: str


class TradeAccepted(
    _TradeAnswered, heading="{target_name} accepts {proposer_name}'s trade", content="It is carried out."
):
    def interactions(self, past: Past) -> Iterator[Interaction]:
        """Both get something by it, the one what it asked for."""
        terms = past.last(TradeProposed, number=self.number)
        yield Interaction(self.target, self.proposer, "accepted a trade", FOR, terms.request.price if terms else None)
        if terms is not None and terms.offer.price:
            yield Interaction(self.proposer, self.target, "gave in a trade", FOR, terms.offer.price)


class TradeRejected(
    _TradeAnswered,
    heading="{target_name} rejects {proposer_name}'s trade",
    content="Nothing changes hands.",
    deeds=(Deed("target", "proposer", "rejected a trade", AGAINST),),
): ...


# -- what is legal


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


def why_not(estate: Estate, traders: Sequence[Trader], terms: Terms) -> str:
    """Why this trade cannot be made, in words for the table; "" where it can."""
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
    return ""


def _cannot_give(estate: Estate, trader: Trader, giver: int, who: str, side: Side) -> str:
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
    return ""
