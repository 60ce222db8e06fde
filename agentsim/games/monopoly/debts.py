"""Debts: money is raised and the debt paid, or the debtor is bankrupt, which may cause further debts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import ClassVar, TypeAlias

from agentsim.engine import Options
from agentsim.engine.options import FieldOverride
from agentsim.games.monopoly.board import SPACES, OfPlayer, handed_cards
from agentsim.games.monopoly.building import (
    Funds,
    HouseOrHotel,
    able,
    building_kind,
    carry_out,
    change_estate,
    clear_buildings,
    lists_that_matter,
    open_to,
    razing,
    received,
    why_not_all,
)
from agentsim.games.monopoly.buying import auction
from agentsim.games.monopoly.match import Match, Why
from agentsim.games.monopoly.question import Spoken
from agentsim.games.monopoly.state import BANK, Estate
from agentsim.games.monopoly.trade import Proposal, Proposing, deal
from agentsim.lazy import dataclass


class Bankrupted(
    OfPlayer,
    label="bankruptcy",
    heading="{name} is bankrupt",
    content="Owes {creditor_name} ${owed} and has ${cash}.",
    eliminates=("player",),
):
    """`owed` is the debt that could not be paid; a `creditor` of None is the bank."""

    short = "{name} is bankrupt, owing {creditor_name} ${owed}"
    creditor: str | None
    creditor_name: str
    owed: int
    cash: int


# -- what is asked


class Raise(Funds):
    """A debtor's answer: sales, mortgages, and a trade."""

    trade: Proposal = Proposal()


Raised: TypeAlias = Spoken[Raise]


class RaiseCash(Proposing[Raised]):
    """The question how to raise cash: the player owes more than it has, but not more than everything would bring."""

    particulars: ClassVar[tuple[str, ...]] = ("owed", "may_propose")

    owed: int
    creditor: str
    why: str
    may_propose: bool
    position: int | None = None
    """The space for which the player owes, or None."""
    further: int = 0
    """Dollars that the player owes right after it, to others or for other deeds."""

    def choices(self) -> Options:
        return self.proposals("action.trade")

    def why_not(self, decision: Raised) -> str:
        """Return why the answer is illegal: it must be legal, and sell, mortgage or propose something."""
        raised = decision.action
        if raised.bundle.empty and not (self.may_propose and raised.trade.propose_trade):
            return f"sell or mortgage something{', or propose a trade' * self.may_propose}: you owe."
        return why_not_all(self.view, self.seat, raised.bundle)

    def warning(self, decision: Raised) -> str:
        """Return why the trade would be discarded once the rest is done; "" if it would not, or may not be proposed."""
        estate, seats = self.view.estate(), list(self.view.seats)
        steps = change_estate(estate, self.seat, self.you.cash, decision.action.bundle)
        seats[self.seat] = replace(self.you, cash=self.you.cash + sum(step.gain for step in steps))
        return self.objection_to(decision.action.trade, estate, seats) if self.may_propose else ""

    def question(self) -> tuple[str, ...]:
        cash, estate = self.you.cash, self.view.estate()
        everything = cash + estate.liquidation_value(self.seat)
        what = self.why if self.position is None else f"{self.why}, {self.position} {SPACES[self.position].name}"
        further = f" After that you owe ${self.further} more." if self.further else ""
        by_trade, no_more = ", or propose a trade to one player, by id or number.", ". No more trades can be proposed."
        return (
            f"You owe {self.creditor} ${self.owed} ({what}) and have ${cash}: ${self.owed - cash} short. "
            "You will be asked again until you have it.",
            *open_to(self.view, self.seat, "sell", "mortgage"),
            *self._later(estate),
            f"Selling and mortgaging everything would leave you with ${everything}.{further}",
            f"Sell buildings, mortgage deeds{by_trade if self.may_propose else no_more}",
        )

    def _later(self, estate: Estate) -> Iterator[str]:
        """Yield the deeds that can be mortgaged after the buildings of their groups are sold in the same answer."""
        held = [at for at in estate.held(self.seat) if estate.built_up(at)]
        if held:
            worth = sum(estate.houses[at] * SPACES[at].house_cost // 2 for at in held)
            deeds = ", ".join(f"{at} {SPACES[at].name} ${SPACES[at].mortgage}" for at in held)
            yield f"All your buildings would sell for ${worth}; after that you could also mortgage (you get): {deeds}"

    def on_board(self) -> Iterator[tuple[str, FieldOverride | None]]:
        estate, seats = self.view.estate(), list(self.view.seats)
        yield from lists_that_matter(estate, self.seat)
        if self.may_propose:  # cash that the rest of the answer raises may be offered
            seats[self.seat] = replace(self.you, cash=self.you.cash + estate.liquidation_value(self.seat))
            yield from self.trade_that_can_be("action.trade", seats)
        else:
            yield "action.trade", None

    def fallback(self) -> Raised:
        """Mortgage the cheapest deeds first, then sell buildings evenly, until it is enough."""
        estate, seat = self.view.estate(), self.seat
        deeds = sorted(able(estate, "mortgage", seat), key=lambda position: SPACES[position].mortgage)

        def highest() -> int | None:
            streets = able(estate, "sell", seat)
            return min(streets, key=lambda at: (-estate.houses[at], SPACES[at].house_cost, at), default=None)

        return self.silent(action=raising(estate, seat, self.owed - self.you.cash, deeds, highest))


def raising(
    estate: Estate, seat: int, missing: int, deeds: Iterable[int], next_street: Callable[[], int | None]
) -> Raise:
    """Mortgage `deeds` in order, then sell single buildings on the next streets, until there is enough.

    Changes the estate. If neither brings anything, the bank cannot break down a hotel, and a group is sold out.
    """
    mortgages: list[int] = []
    sells: list[HouseOrHotel] = []
    for position in deeds:
        if missing <= 0:
            break
        mortgages.append(position)
        missing -= SPACES[position].mortgage
    while missing > 0 and (street := next_street()) is not None:
        sells.append(HouseOrHotel(position=street, type=building_kind(estate.houses[street])))
        missing -= estate.change("sell", street)
    return Raise(sells=tuple(sells if sells or mortgages else razing(estate, seat)), mortgages=tuple(mortgages))


# -- what happens


@dataclass(frozen=True, slots=True)
class Debt:
    """A debt that is due now, from one player to another or to the bank."""

    debtor: int
    creditor: int
    amount: int
    why: Why
    position: int | None = None


async def settle(match: Match, debts: Iterable[Debt]) -> None:
    """Pay debts in order; debts that a bankruptcy causes are settled before the next.

    Of several payees the first who cannot be paid in full gets all that is left (S13). A debt from or to a bankrupt
    player lapses.
    """
    queue = deque(debts)
    state = match.state
    while queue and not state.over:
        debt = queue.popleft()
        if not _due(match, debt):
            continue
        further = sum(later.amount for later in queue if later.debtor == debt.debtor and _due(match, later))
        if await _raised(match, debt, further):
            match.pay(debt.debtor, debt.creditor, debt.amount, debt.why, debt.position)
        else:
            queue.extendleft(reversed(await _bankruptcy(match, debt)))


def _due(match: Match, debt: Debt) -> bool:
    gone = debt.creditor != BANK and match.seat(debt.creditor).bankrupt
    return not (gone or match.seat(debt.debtor).bankrupt)


async def _raised(match: Match, debt: Debt, further: int) -> bool:
    """Ask the debtor for cash until it can pay, and return whether it can; `further` is what it owes next."""
    state, proposals = match.state, 0
    while (cash := match.seat(debt.debtor).cash) < debt.amount:
        if cash + state.estate.liquidation_value(debt.debtor) < debt.amount:
            return False  # not even everything would be enough
        may_propose = proposals < match.config.proposals_per_phase
        owes = {"owed": debt.amount, "creditor": match.name(debt.creditor), "why": debt.why, "further": further}
        decision = await match.ask(debt.debtor, RaiseCash, **owes, may_propose=may_propose, position=debt.position)
        carry_out(match, debt.debtor, decision.action.bundle)
        if may_propose and decision.action.trade.propose_trade:
            proposals += 1
            await deal(match, debt.debtor, decision.action.trade)
    return True


async def _bankruptcy(match: Match, debt: Debt) -> list[Debt]:
    """Hand everything over to the creditor, and return the interest that it then owes (S12, S14, S15).

    The bank auctions the deeds that it receives.
    """
    state, debtor, creditor = match.state, debt.debtor, debt.creditor
    seat = match.seat(debtor)
    to_bank = creditor == BANK
    owes = (match.id(creditor), match.name(creditor), debt.amount, seat.cash)
    match.tell(Bankrupted(seat.id, seat.name, *owes), by=debtor)
    clear_buildings(match, debtor, paid=not to_bank)
    match.pay(debtor, creditor, match.seat(debtor).cash, "bankruptcy")
    deeds = state.estate.held(debtor)
    mortgaged = [] if to_bank else [position for position in deeds if state.estate.mortgaged[position]]
    for position in deeds:
        match.give_deed(position, creditor, "bankruptcy")
    for name in handed_cards(seat.cards, len(seat.cards)) if to_bank else seat.cards:
        match.give_card(debtor, creditor, name)
    state.put(debtor, 0, bankrupt=True)
    match.bankrupt_seats.append(debtor)
    if to_bank:
        for position in deeds:
            if not state.over:
                await auction(match, position, opener=debtor)
    elif not state.over:
        mortgaged = list(await received(match, creditor, mortgaged))
    return [Debt(creditor, BANK, SPACES[position].interest, "interest", position) for position in mortgaged]
