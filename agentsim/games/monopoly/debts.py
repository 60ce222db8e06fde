"""Debts: every debt goes through here: money is raised, paid, or a player is bankrupt, and that cascades."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from agentsim.games.monopoly.auctions import auction
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.dealing import deal
from agentsim.games.monopoly.estate import BANK
from agentsim.games.monopoly.events import Bankrupted, Sold, Why
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.requests import RaiseCash


@dataclass(frozen=True, slots=True)
class Debt:
    """What one player owes another, or the bank, at this moment."""

    debtor: int
    creditor: int
    amount: int
    why: Why
    position: int | None = None


async def settle(match: Match, debts: Iterable[Debt]) -> None:
    """Pay them in their order; what a bankruptcy brings about is settled before the next.

    Of several payees the first who cannot be paid takes all that is left (S13). A debt to a player who is out by then
    lapses.
    """
    queue = deque(debts)
    state = match.state
    while queue and not state.over:
        debt = queue.popleft()
        gone = debt.creditor != BANK and match.seat(debt.creditor).bankrupt
        if gone or match.seat(debt.debtor).bankrupt:
            continue
        if await _raised(match, debt):
            match.pay(debt.debtor, debt.creditor, debt.amount, debt.why, debt.position)
        else:
            queue.extendleft(reversed(await _bankruptcy(match, debt)))


async def _raised(match: Match, debt: Debt) -> bool:
    """Have the debtor raise what is missing; whether it is there."""
    state, seat, proposals = match.state, match.seat(debt.debtor), 0
    while seat.cash < debt.amount:
        if seat.cash + state.estate.liquid(debt.debtor) < debt.amount:
            return False  # nothing the bank gives would be enough
        may_propose = proposals < match.config.proposals_per_phase
        decision = await match.ask(
            debt.debtor,
            RaiseCash,
            owed=debt.amount,
            creditor=match.name(debt.creditor),
            why=debt.why,
            may_propose=may_propose,
        )
        match.carry_out(debt.debtor, decision.action.bundle)
        if may_propose and decision.action.trade.propose_trade:
            proposals += 1
            await deal(match, debt.debtor, decision.action.trade)
    return True


async def _bankruptcy(match: Match, debt: Debt) -> list[Debt]:
    """Everything goes to the creditor; what that one then owes the bank for it, at once (S12, S14, S15)."""
    state, debtor, creditor = match.state, debt.debtor, debt.creditor
    seat = match.seat(debtor)
    to_bank = creditor == BANK
    match.tell(
        Bankrupted(seat.id, seat.name, match.id(creditor), match.name(creditor), debt.amount, seat.cash), by=debtor
    )
    _clear_lots(match, debtor, paid=not to_bank)
    match.pay(debtor, creditor, seat.cash, "bankruptcy")
    deeds = state.estate.held(debtor)
    due: list[Debt] = []
    for position in deeds:
        mortgaged = state.estate.mortgaged[position]
        match.give_deed(position, creditor, "bankruptcy")
        if mortgaged and not to_bank:
            due.append(Debt(creditor, BANK, SPACES[position].interest, "interest", position))
    while seat.cards:
        if to_bank:
            match.return_card(debtor)
        else:
            match.hand_card(debtor, creditor, seat.cards[0])
    state.retire(debtor)
    match.fallen.append(debtor)
    if to_bank:
        for position in deeds:
            if not state.over:
                await auction(match, position, opener=debtor)
    return due


def _clear_lots(match: Match, debtor: int, *, paid: bool) -> None:
    """All buildings go back to the bank, for half their cost where another player is the creditor."""
    state, seat = match.state, match.seat(debtor)
    for lot in state.estate.held(debtor):
        before = state.estate.level[lot]
        if not before:
            continue
        brought = state.estate.raze(lot)
        amount = brought if paid else 0
        state.move_cash(BANK, debtor, amount)
        estate = state.estate
        match.tell(Sold(lot, seat.id, seat.name, amount, before, 0, estate.houses, estate.hotels, seat.cash), by=debtor)
