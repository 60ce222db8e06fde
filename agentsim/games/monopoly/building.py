"""Building and mortgaging: how a player manages its estate, and raises cash before a purchase or a bid.

Only players with the cash are asked to buy or to bid, so they may raise it from the bank before. `bundle` decides what
is legal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from agentsim.engine import Choice, Options, Subset
from agentsim.engine.options import Narrowed, Record, Several
from agentsim.engine.wording import Worded, counted
from agentsim.games.monopoly import bundle
from agentsim.games.monopoly.board import HOTEL, SPACES, STREETS, OnDeed
from agentsim.games.monopoly.bundle import Bundle, Funds, Step
from agentsim.games.monopoly.estate import BANK, Estate, Kind, amount
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.prompts import deed, group_line, rent_line
from agentsim.games.monopoly.question import Deeds, MonopolyRequest, Spoken
from agentsim.games.monopoly.state import View

When: TypeAlias = Literal["before", "after", "jail", "jailed", "between"]
"""Before or after the player's roll, before it leaves jail, just sent there, or when another player's roll is done."""
DEEDS_IN_WORDS = "names or numbers, commas between; nothing for none"
_OPEN: Mapping[Kind, str] = {
    "sell": "May be sold next (you get)",
    "mortgage": "May be mortgaged (you get)",
    "unmortgage": "May be lifted (you pay)",
    "build": "May be built on next (you pay; rent now, then)",
}
_BUILDINGS_IN_WORDS = "name or number, then house or hotel; commas between; nothing for none"


# -- what is told


def _houses_in_words(houses: int) -> str:
    return "a hotel" if houses == HOTEL else "no house" if not houses else counted(houses, "house")


class _BuildingsChanged(OnDeed, content="${amount}; now {after}. {name} has ${cash}.", base=True):
    """`before` and `after` are numbers of houses, 5 for a hotel; `houses` and `hotels` are the bank's stock."""

    before: int
    after: Annotated[int, Worded(_houses_in_words)]
    houses: int
    hotels: int
    cash: int


class Built(_BuildingsChanged, heading="{name} builds on {position}"):
    short = "{name} builds up to: {position} {after}"


class Sold(_BuildingsChanged, heading="{name} sells buildings on {position}"):
    short = "{name} sells down to: {position} {after}"


class _Pledged(OnDeed, content="${amount}; {name} has ${cash}.", base=True):
    cash: int


class Mortgaged(_Pledged, heading="{name} mortgages {position}"):
    short = "{name} mortgages: {position}"


class Unmortgaged(_Pledged, kind="mortgage_lifted", heading="{name} lifts the mortgage on {position}"):
    short = "{name} lifts mortgages: {position}"


# -- what is asked


Managed: TypeAlias = Spoken[Bundle]


class ManageEstate(MonopolyRequest[Managed]):
    """The question of managing an estate: sell, mortgage, unmortgage and build in one bundle, all or nothing."""

    empty: ClassVar[Mapping[str, Any]] = {"action": {}}
    particulars: ClassVar[tuple[str, ...]] = ("when",)

    when: When
    again: bool = False
    """Whether doubles give another roll after this."""

    def why_not(self, decision: Managed) -> str:
        return bundle.why_not(self.view, self.seat, decision.action)

    def question(self) -> tuple[str, ...]:
        return (
            f"You may see to your estate {moment(self.when, again=self.again)}; you have ${self.you.cash}.",
            *open_to(self.view, self.seat, "sell", "mortgage", "unmortgage", "build"),
            "All of the lists are carried out, in their order, or nothing is. An entry is one building, a lot's fifth "
            "its hotel. Empty lists do nothing.",
        )

    def on_board(self) -> Iterator[tuple[str, Narrowed | None]]:
        return lists_that_matter(self.view.estate(), self.seat)


def moment(when: str, *, again: bool) -> str:
    """Describe when in a turn a question is asked; `again` says that doubles give another roll."""
    after = "after your roll; it was doubles, so you roll again" if again else "after your roll"
    jail = {"jail": "before you choose how to leave jail", "jailed": "now that you have been sent to jail"}
    return {"before": "before your roll", "after": after, "between": "before the next roll", **jail}[when]


def open_to(view: View, seat: int, *kinds: Kind) -> Iterator[str]:
    """Yield a line for each kind of change that is legal now, with the properties and amounts."""
    estate = view.estate()
    for kind in kinds:
        found = []
        for position in estate.able(kind, seat):
            space = SPACES[position]
            called = deed(estate, position) if kind in {"sell", "build"} else f"{position} {space.name}"
            rents = ""
            if kind == "build":
                rents = f" ({estate.rent(position, 0)}, {space.rents[estate.houses[position] + 1]})"
            found.append(f"{called} ${amount(kind, position)}{rents}")
        if found:
            yield f"{_OPEN[kind]}: {', '.join(found)}"


def lists_that_matter(estate: Estate, seat: int) -> Iterator[tuple[str, Narrowed | None]]:
    """Yield the bundle's lists by path: what they may hold now or after the lists before them, or None for nothing.

    They depend on deeds and buildings alone, because a provider's prompt cache ends when a schema changes.
    """
    held, house = estate.held(seat), Choice(("house", "hotel"))
    streets = [at for at in held if at in STREETS and estate.has_monopoly(seat, SPACES[at].group)]
    built = [position for position in streets if estate.houses[position]]

    def listed(positions: Sequence[int], *, buildings: bool = False) -> Narrowed:
        place, most = Choice(tuple(positions)), len(positions)
        if not buildings:
            return Narrowed(DEEDS_IN_WORDS, for_models=Several(place, upto=most))
        item = Record({"position": place, "type": house})
        return Narrowed(_BUILDINGS_IN_WORDS, for_models=Several(item, upto=HOTEL * most))

    yield "action.sells", listed(built, buildings=True) if built else None
    yield "action.mortgages", listed(held) if any(not estate.mortgaged[position] for position in held) else None
    yield "action.unmortgages", listed(held) if any(estate.mortgaged[position] for position in held) else None
    yield "action.builds", listed(streets, buildings=True) if streets else None


# -- what happens


def carry_out(match: Match, number: int, changes: Bundle) -> None:
    """Carry out a bundle of estate changes and announce each. Raises `IllegalDecision` if it is illegal."""
    if not changes.empty:
        for step in bundle.carry_out(match.state.estate, number, match.seat(number).cash, changes):
            _book(match, number, step)


def build(match: Match, number: int, position: int, price: int) -> None:
    """Add one building for this price. The caller checks that it is legal."""
    before = match.state.estate.houses[position]
    match.state.estate.change("build", position)
    _book(match, number, Step("build", position, price, before, before + 1))


def _book(match: Match, number: int, step: Step) -> None:
    payer, payee = (BANK, number) if step.gain > 0 else (number, BANK)
    match.state.move_cash(payer, payee, step.amount)
    seat, estate, what = match.seat(number), match.state.estate, (step.position, *match.who(number), step.amount)
    if step.kind in {"mortgage", "unmortgage"}:
        match.tell((Mortgaged if step.kind == "mortgage" else Unmortgaged)(*what, seat.cash), by=number)
    else:
        counts = (step.before, step.after, estate.bank_houses, estate.bank_hotels)
        match.tell((Built if step.kind == "build" else Sold)(*what, *counts, seat.cash), by=number)


def clear_buildings(match: Match, number: int, *, paid: bool) -> None:
    """Return all buildings of a player to the bank, for half their cost if `paid`, else for nothing."""
    state = match.state
    for position in state.estate.held(number):
        if before := state.estate.houses[position]:
            brought = state.estate.raze(position)
            _book(match, number, Step("sell", position, brought if paid else 0, before, 0))


# -- before a price or a bid: what is missing is raised


Funded: TypeAlias = Spoken[Funds]


class RaiseFirst(MonopolyRequest[Funded]):
    """The question of raising cash: the player is short of a price or of the least bid, and could raise it."""

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

    def on_board(self) -> Iterator[tuple[str, Narrowed | None]]:
        return lists_that_matter(self.view.estate(), self.seat)


async def can_pay(match: Match, number: int, position: int, needed: int, *, bid: bool) -> bool:
    """Return whether a player has `needed` in cash, after letting it raise what is missing if the config allows it."""
    seat = match.seat(number)
    short = seat.cash < needed <= seat.cash + match.state.estate.liquidation_value(number)
    if short and match.config.raise_first:
        funded = await match.ask(number, RaiseFirst, position=position, needed=needed, bid=bid)
        carry_out(match, number, funded.action.bundle)
    return match.seat(number).cash >= needed


# -- on receipt of mortgaged deeds


LiftedOnReceipt: TypeAlias = Spoken[Deeds]


class LiftOnReceipt(MonopolyRequest[LiftedOnReceipt]):
    """The question which received deeds to unmortgage at once, with the interest paid once."""

    particulars: ClassVar[tuple[str, ...]] = ("received",)

    received: tuple[int, ...]

    def choices(self) -> Options:
        return {"action": Subset(self.received)}

    def why_not(self, decision: LiftedOnReceipt) -> str:
        due = cost(self.received, decision.action)
        return f"That and the interest on the others come to ${due}." if due > self.you.cash else ""

    def question(self) -> tuple[str, ...]:
        spaces = [SPACES[position] for position in self.received]
        return (
            f"You have received mortgaged deeds, and have ${self.you.cash}. For each you pay now either the price of "
            "lifting the mortgage, or the interest; then lifting it later costs that price still:",
            *(
                f"- {space.position} {space.name}: ${space.redemption} to lift, ${space.interest} interest. "
                f"{rent_line(space.position)}"
                for space in spaces
            ),
            "Which mortgages do you lift now? An empty list lifts none.",
        )

    def fallback(self) -> LiftedOnReceipt:
        return self.silent(action=())


def cost(received: Sequence[int], unmortgages: Sequence[int]) -> int:
    """Return the dollars due at once for received deeds: redemption if unmortgaged, else interest."""
    return sum(SPACES[at].redemption if at in unmortgages else SPACES[at].interest for at in received)


async def received(match: Match, number: int, mortgaged: Sequence[int]) -> Sequence[int]:
    """Let a player unmortgage received deeds if it has the cash for any; return the deeds that still owe interest."""
    cash = match.seat(number).cash
    if not match.config.lift_on_receipt or all(cost(mortgaged, [at]) > cash for at in mortgaged):
        return mortgaged
    unmortgages = (await match.ask(number, LiftOnReceipt, received=tuple(mortgaged))).action
    carry_out(match, number, Bundle(unmortgages=unmortgages))
    return [at for at in mortgaged if at not in unmortgages]
