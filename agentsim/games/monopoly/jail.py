"""Jail: how a player gets there, what it does there, and how it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeAlias

from agentsim.engine import Choice, Options
from agentsim.engine.wording import By
from agentsim.games.monopoly.board import FINE, JAIL, OfPlayer, handed_cards
from agentsim.games.monopoly.building import can_change
from agentsim.games.monopoly.debts import Debt, settle
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.phase import manage
from agentsim.games.monopoly.question import MonopolyRequest, Spoken, Word
from agentsim.games.monopoly.state import BANK

JailedFor: TypeAlias = Literal["space", "card", "third doubles"]
FreedBy: TypeAlias = Literal["fine", "card", "doubles", "third roll"]
ROLLS = 3
"""Rolls for doubles in jail; after the last one fails the fine is due."""
_MANAGED = 2


# -- what is told


class Jailed(
    OfPlayer,
    label="sent to jail",
    heading="{name} goes to jail",
    content=By("why", {"space": "The space says so.", "card": "The card says so."}, "Three doubles in one turn."),
):
    short = "{name} goes to jail"
    why: JailedFor


class Freed(
    OfPlayer,
    label="release from jail",
    heading="{name} leaves jail",
    content=By("how", {"fine": "Paid.", "card": "By a card.", "doubles": "By doubles."}, "Three rolls are all."),
):
    short = "{name} leaves jail ({how})"
    how: FreedBy


class StayedInJail(OfPlayer, heading="{name} stays in jail", content="{failed} of 3 rolls failed."):
    """`failed` counts the failed rolls, 1 or 2."""

    failed: int


# -- what is asked


JailChoice: TypeAlias = Spoken[Word]


class JailAction(MonopolyRequest[JailChoice]):
    """The question how to leave jail; `actions` are the ways that are open now."""

    synonyms: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "pay_fine": ("pay", "pay the fine", "pay $50", "pay 50"),
        "use_card": ("use the card", "use my card", "play the card", "play my card", "use get out of jail free card"),
        "roll_doubles": ("roll", "roll for doubles", "roll the dice", "stay and roll", "try for doubles"),
        "manage": ("manage estate", "manage my estate", "see to my estate"),
    }

    actions: tuple[str, ...]

    def choices(self) -> Options:
        return {"action": Choice(self.actions)}

    def question(self) -> tuple[str, ...]:
        you = self.you
        last = f"; this is the last roll: if it fails you must pay ${FINE} and move"
        card = "one of your Get Out of Jail Free cards" if len(you.cards) > 1 else "your Get Out of Jail Free card"
        words = {
            "pay_fine": f"pay ${FINE} of your ${you.cash} and roll to move",
            "use_card": f"use {card} and roll to move",
            "roll_doubles": f"stay unless you roll doubles{last * (you.failed == ROLLS - 1)}",
            "manage": "see to your estate first, then choose",
        }
        return (
            f"You are in jail; {you.failed} of {ROLLS} rolls have failed. In jail you still collect rent.",
            *(f'- "{action}": {words[action]}' for action in self.actions),
        )

    def fallback(self) -> JailChoice:
        """Pay the fine, else play a card, else roll."""
        order = ("pay_fine", "use_card", "roll_doubles")
        return self.silent(action=next(action for action in order if action in self.actions))


# -- what happens


def imprison(match: Match, number: int, why: JailedFor) -> None:
    """Move a player to jail without passing GO."""
    match.state.put(number, JAIL, jailed=True)
    match.tell(Jailed(*match.who(number), why))


def free(match: Match, number: int, how: FreedBy) -> None:
    """Release a player from jail."""
    match.state.put(number, JAIL)
    match.tell(Freed(*match.who(number), how), by=number)


async def choose_way_out(match: Match, number: int) -> None:
    """Let a player pay, play a card, or decide to roll; managing its estate first is no decision yet."""
    managed = 0
    while True:
        seat = match.seat(number)
        options = ["roll_doubles"]
        if seat.cash >= FINE and not (match.config.official_third_turn and seat.failed == ROLLS - 1):
            options.insert(0, "pay_fine")
        if seat.cards:
            options.insert(-1, "use_card")
        apart = match.config.questions == "separate"  # else the phase before is the place for it
        if apart and managed < _MANAGED and can_change(match.state.estate, number, seat.cash):
            options.append("manage")
        if len(options) == 1:
            return
        decision = await match.ask(number, JailAction, actions=tuple(options))
        match decision.action:
            case "pay_fine":
                match.pay(number, BANK, FINE, "fine", JAIL)
                free(match, number, "fine")
                return
            case "use_card":
                match.give_card(number, BANK, *handed_cards(seat.cards, 1))
                free(match, number, "card")
                return
            case "roll_doubles":
                return
            case "manage":
                managed = managed + 1 if await manage(match, number, "jail") else _MANAGED


async def roll_for_freedom(match: Match, number: int) -> int:
    """Roll for doubles, and return how many spaces the token moves: 0 if it stays or the player is bankrupt.

    Doubles free the player. So does the third failure, after which the fine is due.
    """
    seat = match.seat(number)
    dice = match.roll(number, "jail")
    if dice[0] == dice[1]:
        free(match, number, "doubles")
    elif seat.failed == ROLLS - 1:
        await settle(match, [Debt(number, BANK, FINE, "fine", JAIL)])
        if match.seat(number).bankrupt or match.state.over:
            return 0
        free(match, number, "third roll")
    else:
        failed = seat.failed + 1
        match.state.put(number, JAIL, jailed=True, failed=failed)
        match.tell(StayedInJail(*match.who(number), failed))
        return 0
    return sum(dice)
