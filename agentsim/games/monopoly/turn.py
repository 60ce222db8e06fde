"""Turn: one player's turn: jail, before the roll, the roll, the landing, after the roll; doubles begin again."""

from __future__ import annotations

from typing import Literal

from agentsim.games.monopoly import bundle, trade
from agentsim.games.monopoly.board import FINE, JAIL, SPACES
from agentsim.games.monopoly.dealing import deal
from agentsim.games.monopoly.debts import Debt, settle
from agentsim.games.monopoly.estate import BANK
from agentsim.games.monopoly.events import StayedInJail
from agentsim.games.monopoly.landing import imprison, land
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.requests import JailAction, ManageEstate, ProposeTrade

ROLLS = 3
"""Rolls for doubles in jail; after the last one the fine is due."""
MOST_DOUBLES = 3
_MANAGED_IN_JAIL = 2


async def play_turn(match: Match, number: int) -> None:
    """The whole turn of a player."""
    match.proposals = 0
    doubles = 0
    while True:
        if match.seat(number).jailed:
            await _choose_in_jail(match, number)
        await _phase(match, number, "before")
        if match.seat(number).jailed:
            await _roll_in_jail(match, number)
            return
        dice = match.roll(number, "move")
        double = dice[0] == dice[1]
        doubles += double
        if doubles == MOST_DOUBLES:
            imprison(match, number, "third doubles")
            return
        await _walk(match, number, sum(dice), again=double)
        if not _goes_on(match, number) or not double:
            return


def _goes_on(match: Match, number: int) -> bool:
    seat = match.seat(number)
    return not (seat.bankrupt or seat.jailed or match.state.over)


async def _walk(match: Match, number: int, steps: int, *, again: bool) -> None:
    """Move, land, and do what is done after the roll, unless the turn has ended by then."""
    match.advance(number, (match.seat(number).position + steps) % len(SPACES), "dice")
    await land(match, number)
    if _goes_on(match, number):
        await _phase(match, number, "after", again=again)


async def _phase(match: Match, number: int, when: Literal["before", "after"], *, again: bool = False) -> None:
    """Propose trades, then see to the estate; both only where there is something to choose."""
    state, config = match.state, match.config
    for made in range(config.proposals_per_phase):
        left = min(config.proposals_per_phase - made, config.proposals_per_turn - match.proposals)
        if left <= 0 or not trade.possible(state.estate, state.seats):
            break
        decision = await match.ask(number, ProposeTrade, when=when, made=made, left=left, again=again)
        if not decision.action.propose_trade:
            break
        match.proposals += 1
        await deal(match, number, decision.action)
    await _manage(match, number, when, again=again)


async def _manage(match: Match, number: int, when: Literal["before", "after", "jail"], *, again: bool = False) -> bool:
    """Let the player see to its estate; whether it did anything."""
    if not bundle.possible(match.state.estate, number, match.seat(number).cash):
        return False
    decision = await match.ask(number, ManageEstate, when=when, again=again)
    match.carry_out(number, decision.action)
    return not decision.action.empty


async def _choose_in_jail(match: Match, number: int) -> None:
    """Pay, play a card, or roll; raising the fine first counts as no choice yet."""
    managed = 0
    while True:
        seat = match.seat(number)
        options = ["roll_doubles"]
        if seat.cash >= FINE and not (match.config.official_third_turn and seat.failed == ROLLS - 1):
            options.insert(0, "pay_fine")
        if seat.cards:
            options.insert(-1, "use_card")
        if managed < _MANAGED_IN_JAIL and bundle.possible(match.state.estate, number, seat.cash):
            options.append("manage")
        if len(options) == 1:
            return
        decision = await match.ask(number, JailAction, actions=tuple(options))
        match decision.action:
            case "pay_fine":
                match.pay(number, BANK, FINE, "fine", JAIL)
                match.free(number, "fine")
                return
            case "use_card":
                match.return_card(number)
                match.free(number, "card")
                return
            case "roll_doubles":
                return
            case "manage":
                managed = managed + 1 if await _manage(match, number, "jail") else _MANAGED_IN_JAIL


async def _roll_in_jail(match: Match, number: int) -> None:
    """Doubles free and move, without another roll; the third failure costs the fine, and moves."""
    seat = match.seat(number)
    dice = match.roll(number, "jail")
    if dice[0] == dice[1]:
        match.free(number, "doubles")
    elif seat.failed == ROLLS - 1:
        await settle(match, [Debt(number, BANK, FINE, "fine", JAIL)])
        if not _goes_on_from_jail(match, number):
            return
        match.free(number, "third roll")
    else:
        match.state.fail(number)
        match.tell(StayedInJail(seat.id, seat.name, seat.failed))
        return
    await _walk(match, number, sum(dice), again=False)


def _goes_on_from_jail(match: Match, number: int) -> bool:
    return not (match.seat(number).bankrupt or match.state.over)
