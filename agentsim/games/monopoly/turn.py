"""Turns: jail, the phase before the roll, the roll, the landing and the phase after it; doubles begin again.

The effects of spaces and cards are here too, and the events with which a game begins and ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentsim.engine.event import Event
from agentsim.engine.wording import By, Rows, first_place
from agentsim.games.monopoly.board import (
    CARDS,
    RAILROAD_TIMES,
    SPACES,
    UTILITY_DICE_TIMES,
    Card,
    DeckName,
    OfPlayer,
    Space,
    destination,
)
from agentsim.games.monopoly.building import able
from agentsim.games.monopoly.buying import offer
from agentsim.games.monopoly.debts import Debt, settle
from agentsim.games.monopoly.estate import BANK
from agentsim.games.monopoly.jail import choose_way_out, imprison, roll_for_freedom
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.phase import act

MOST_DOUBLES = 3


# -- what is told


class GameBegan(Event, heading="The game begins", content="{players} start on GO with ${cash} each."):
    """`names` are by id, in the order of play; `cash` is what each player begins with."""

    names: dict[str, str]
    cash: int
    max_turns: int

    @property
    def players(self) -> tuple[str, ...]:
        return tuple(self.names.values())


class CardDrawn(
    OfPlayer, heading=("{name} draws ", By("deck", {"chance": "Chance"}, "Community Chest")), content="{says.text}"
):
    """`card` is its id; from now on the player has a card that is kept."""

    short = "{name} draws: {says.text}"
    deck: str
    card: str

    @property
    def says(self) -> Card:
        return CARDS[self.card]


@dataclass(frozen=True)
class Result:
    player: str
    name: str
    rank: int
    net_worth: int
    cash: int
    deeds: int


class GameEnded(Event, content=Rows("results", "{rank}. {name}: net worth ${net_worth}, ${cash} of it cash")):
    """`results` are in rank order."""

    turns: int
    results: tuple[Result, ...]

    @property
    def heading(self) -> str:
        return first_place([result.name for result in self.results if result.rank == 1])


# -- a turn


async def play_turn(match: Match, number: int) -> None:
    match.proposals.clear()
    for doubles in range(MOST_DOUBLES):
        before = [_wealth(match, other) for other in range(len(match.state.seats))]
        again = await _roll(match, number, doubles)
        await _between(match, number, before)
        if not again:
            return


async def _roll(match: Match, number: int, doubles: int) -> bool:
    """Play one roll with the phases before and after it, and return whether another roll follows."""
    jailed, together = match.seat(number).jailed, match.config.questions == "together"
    if jailed and not together:
        await choose_way_out(match, number)
    await act(match, number, "jail" if jailed and together else "before")
    if jailed and together:
        await choose_way_out(match, number)
    if match.seat(number).jailed:
        if steps := await roll_for_freedom(match, number):
            await _walk(match, number, steps, again=False)
        return False
    dice = match.roll(number, "move")
    double = dice[0] == dice[1]
    if double and doubles == MOST_DOUBLES - 1:
        imprison(match, number, "third doubles")
        return False
    await _walk(match, number, sum(dice), again=double)
    return double and _goes_on(match, number)


async def _between(match: Match, number: int, before: Sequence[tuple[int, int]]) -> None:
    """Let a player just sent to jail act, and then the others: all, or those with new means to build."""
    state, when = match.state, match.config.between_turns
    if when == "never" or state.over:
        return
    seat = match.seat(number)
    if seat.jailed and not seat.failed:
        await act(match, number, "jailed")
    for other in state.after(number):
        if other != number and (when == "after_every_roll" or _can_newly_build(match, other, before[other])):
            await act(match, other, "between")


def _can_newly_build(match: Match, number: int, before: tuple[int, int]) -> bool:
    """Return whether a player has gained a deed, or the price of a building, and may build for what it gained."""
    cash, deeds = _wealth(match, number)
    gained = cash if deeds > before[1] else cash - before[0]
    return gained > 0 and any(SPACES[at].house_cost <= gained for at in able(match.state.estate, "build", number))


def _wealth(match: Match, number: int) -> tuple[int, int]:
    return match.seat(number).cash, match.state.estate.owner.count(number)


def _goes_on(match: Match, number: int) -> bool:
    seat = match.seat(number)
    return not (seat.bankrupt or seat.jailed or match.state.over)


async def _walk(match: Match, number: int, steps: int, *, again: bool) -> None:
    """Move, land, and play the phase after the roll, unless the turn has ended by then."""
    match.advance(number, (match.seat(number).position + steps) % len(SPACES), "dice")
    await land(match, number)
    if _goes_on(match, number):
        await act(match, number, "after", again=again)


# -- a landing


async def land(match: Match, number: int) -> None:
    """Resolve the space on which the player's token stands; this may end in jail or in bankruptcy."""
    space = SPACES[match.seat(number).position]
    match space.kind:
        case "street" | "railroad" | "utility":
            await _deed(match, number, space, lambda: match.state.estate.rent(space.position, _dice(match)))
        case "tax":
            await settle(match, [Debt(number, BANK, space.tax, "tax", space.position)])
        case "chance" | "community_chest":
            await _draw(match, number, space.kind)
        case "go_to_jail":
            imprison(match, number, "space")
        case "go" | "jail" | "free_parking":
            pass


def _dice(match: Match) -> int:
    assert match.state.roll is not None, "a token has been moved by dice"
    return sum(match.state.roll)


async def _deed(match: Match, number: int, space: Space, rent: Callable[[], int]) -> None:
    """Offer or auction an unowned property, or collect the rent of another player's clear one."""
    owner = match.state.estate.owner[space.position]
    if owner == BANK:
        await offer(match, number, space)
    elif owner != number and not match.state.estate.mortgaged[space.position]:
        await settle(match, [Debt(number, owner, rent(), "rent", space.position)])


# -- a card


async def _draw(match: Match, number: int, deck: DeckName) -> None:
    card = match.state.decks[deck].draw()
    if card.effect == "jail_card":
        match.state.give_card(deck, BANK, number)
    match.tell(CardDrawn(*match.who(number), deck, card.id))
    await _follow(match, number, card)
    match.state.decks[deck].resolved()


async def _follow(match: Match, number: int, card: Card) -> None:
    to, estate = destination(card, match.seat(number).position), match.state.estate
    match card.effect:
        case "back" if to is not None:
            match.move(number, to, "card")
            await land(match, number)
        case "advance" | "nearest_railroad" | "nearest_utility" if to is not None:
            match.advance(number, to, "card")
            if card.effect == "nearest_railroad":
                await _deed(match, number, SPACES[to], lambda: RAILROAD_TIMES * estate.rent(to, 0))
            elif card.effect == "nearest_utility":
                # This roll sets the rent alone, and is made only if there is rent to pay (S6).
                await _deed(match, number, SPACES[to], lambda: UTILITY_DICE_TIMES * sum(match.roll(number, "rent")))
            else:
                await land(match, number)
        case "go_to_jail":
            imprison(match, number, "card")
        case "receive":
            match.pay(BANK, number, card.amount, "card")
        case "pay" | "repairs" | "receive_each" | "pay_each":
            await settle(match, _debts(match, number, card))
        case "jail_card":
            pass  # it is with the player already


def _debts(match: Match, number: int, card: Card) -> list[Debt]:
    """Return the debts of a card, fixed when it is drawn: selling buildings does not lower them."""
    others = [other for other in match.state.after(number) if other != number]
    match card.effect:
        case "receive_each":
            return [Debt(other, number, card.amount, "card") for other in others]
        case "pay_each":
            return [Debt(number, other, card.amount, "card") for other in others]
        case "repairs":
            houses, hotels = match.state.estate.buildings(number)
            due = houses * card.amount + hotels * card.per_hotel
            return [Debt(number, BANK, due, "card")] if due else []
    return [Debt(number, BANK, card.amount, "card")]
