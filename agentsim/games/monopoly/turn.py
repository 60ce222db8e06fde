"""Turn: one player's turn: jail, before the roll, the roll, the landing, after the roll; doubles begin again."""

from __future__ import annotations

from typing import Literal

from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.building import manage
from agentsim.games.monopoly.jail import choose_way_out, imprison, roll_for_freedom
from agentsim.games.monopoly.landing import land
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.trading import propose

MOST_DOUBLES = 3


async def play_turn(match: Match, number: int) -> None:
    """The whole turn of a player."""
    match.proposals = 0
    doubles = 0
    while True:
        if match.seat(number).jailed:
            await choose_way_out(match, number)
        await _phase(match, number, "before")
        if match.seat(number).jailed:
            if steps := await roll_for_freedom(match, number):
                await _walk(match, number, steps, again=False)
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
    await propose(match, number, when, again=again)
    await manage(match, number, when, again=again)
