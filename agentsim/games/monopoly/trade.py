"""Trade: what may change hands between two players, and which trades are legal. How one comes about is `trading`.

Cash, deeds without buildings in their groups, and cards out of jail change hands, now; who receives a mortgaged deed
pays its interest at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from agentsim.engine.decision import WholeNumber
from agentsim.engine.wording import counted
from agentsim.games.monopoly.board import DEEDS, FINE, GROUPS, SPACES, group_name, name_of
from agentsim.games.monopoly.estate import BANK, Estate
from agentsim.games.monopoly.prompts import rent_line
from agentsim.games.monopoly.question import Deeds, Part
from agentsim.games.monopoly.state import Seat, View

NOBODY = -1


class Side(Part):
    """What one side of a trade gives: deeds by position, dollars, cards out of jail."""

    properties: Deeds = ()
    cash: WholeNumber = 0
    jail_cards: WholeNumber = 0

    @property
    def empty(self) -> bool:
        return not (self.properties or self.cash or self.jail_cards)

    @property
    def price(self) -> int:
        """In dollars: cash, deeds at their printed price, mortgaged or not, cards out of jail at the fine they save."""
        return self.cash + sum(SPACES[at].price for at in self.properties) + FINE * self.jail_cards

    def parts(self, in_cash: str = "") -> list[str]:
        parts = [name_of(position) for position in self.properties]
        parts += [f"${self.cash}{in_cash}"] * (self.cash > 0)
        parts += [f"{counted(self.jail_cards, 'card')} out of jail"] * (self.jail_cards > 0)
        return parts or ["nothing"]

    def described(self, estate: Estate) -> Iterator[str]:
        """Every part, with what decides its value."""
        for position in self.properties:
            space = SPACES[position]
            due = f", mortgaged: ${space.interest} interest due at once, ${space.redemption} to lift it"
            price = f"price ${space.price}{due if estate.mortgaged[position] else ''}"
            yield f"{position} {space.name} ({group_name(space.group)}, {price}). {rent_line(position)}"
        if self.cash or self.jail_cards or self.empty:
            yield from self.model_copy(update={"properties": ()}).parts(" in cash")

    def __str__(self) -> str:
        return " + ".join(self.parts())


def _id(value: Any) -> Any:
    """Ids are texts, and those that are numbers are often written as such."""
    return str(value) if type(value) is int else value


class Offered(Part):
    """To whom a trade is offered, and what for what."""

    target_player: Annotated[str | None, BeforeValidator(_id)] = None
    offer: Side = Side()
    request: Side = Side()
    pitch: str = ""


class _Proposing(Part):
    propose_trade: bool = False


class Proposal(Offered, _Proposing):
    """A trade that is proposed, or that none is."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Who gives what to whom; seats by number."""

    proposer: int
    target: int
    offer: Side
    request: Side


def consequences(view: View, terms: Terms, seat: int) -> Iterator[str]:
    """What a trade changes for either side: interest due, and who holds how much of each group; told to one of them."""
    before, after = view.estate(), view.estate()
    sides = ((terms.proposer, terms.request), (terms.target, terms.offer))
    for number, gets in sides:
        for position in gets.properties:
            after.owner[position] = number
    names = {number: "you" if number == seat else view.seats[number].name for number, _ in sides}
    due = {names[number]: interest_on(view.mortgaged, gets.properties) for number, gets in sides}
    if any(due.values()):
        owing = (f"{who} {'pay' if who == 'you' else 'pays'} ${amount}" for who, amount in due.items() if amount)
        yield f"Interest at once, on mortgaged deeds received: {', '.join(owing)}."
    moved = (*terms.offer.properties, *terms.request.properties)
    for group in dict.fromkeys(SPACES[position].group for position in moved):
        counts = (
            f"{name} {sum(before.owner[lot] == number for lot in GROUPS[group])}, then "
            f"{sum(after.owner[lot] == number for lot in GROUPS[group])}"
            for number, name in names.items()
        )
        yield f"Of the {len(GROUPS[group])} {group_name(group)} deeds: {'; '.join(counts)}."
        for number, name in names.items():
            if before.completes(number, group) != (completed := after.completes(number, group)):
                whose = "your" if number == seat else f"{name}'s"
                yield f"The trade {'completes' if completed else 'breaks'} {whose} {group_name(group)} group."


def terms_of(traders: Sequence[Seat], proposer: int, proposal: Offered) -> Terms:
    """The terms of a proposal, whatever the case in which it names its target; `NOBODY` where that is no player."""
    named = (proposal.target_player or "").strip().casefold()
    target = next((number for number, trader in enumerate(traders) if trader.id.casefold() == named), NOBODY)
    return Terms(proposer, target, proposal.offer, proposal.request)


def possible(estate: Estate, traders: Sequence[Seat]) -> bool:
    """Whether any player has anything to trade but cash."""
    for position in DEEDS:
        if estate.owner[position] != BANK and not estate.built_up(position):
            return True
    return any(trader.cards for trader in traders)


def interest_on(mortgaged: Sequence[bool], positions: Iterable[int]) -> int:
    """What the receiver of these deeds owes the bank at once: a tenth of every mortgage (S3)."""
    return sum([SPACES[position].interest for position in positions if mortgaged[position]])


def why_not(estate: Estate, traders: Sequence[Seat], terms: Terms) -> str:
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
        if wrong := next(_wrongs(estate, traders[giver], giver, who, side), ""):
            return wrong
    for (who, taker, gives), (_, _, takes) in (sides, sides[::-1]):
        if traders[taker].cash - gives.cash + takes.cash < interest_on(estate.mortgaged, takes.properties):
            return f"{who} could not pay the interest on the mortgaged deeds"
    return ""


def _wrongs(estate: Estate, trader: Seat, giver: int, who: str, side: Side) -> Iterator[str]:
    """Why a player cannot give what stands on its side."""
    if min(side.cash, side.jail_cards) < 0:
        yield "amounts go from 0 up"
    if side.cash > trader.cash:
        yield f"{who} does not have ${side.cash}"
    if side.jail_cards > len(trader.cards):
        yield f"{who} does not hold so many cards out of jail"
    if len(set(side.properties)) != len(side.properties):
        yield f"{who} gives a deed twice"
    for position in side.properties:
        if position not in DEEDS:
            yield f"position {position} is no property"
        elif estate.owner[position] != giver:
            yield f"{SPACES[position].name} does not belong to {who}"
        elif estate.built_up(position):
            yield f"there are buildings in the group of {SPACES[position].name}"
