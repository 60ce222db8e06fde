"""Landing: what a space, or the card drawn on it, does to the player who comes there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agentsim.games.monopoly.auctions import auction
from agentsim.games.monopoly.board import SPACES, Space
from agentsim.games.monopoly.cards import Card, DeckName, destination
from agentsim.games.monopoly.debts import Debt, settle
from agentsim.games.monopoly.estate import BANK
from agentsim.games.monopoly.events import CardDrawn, Jailed, JailedFor
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.requests import BuyOrAuction

RAILROAD_TIMES = 2
UTILITY_DICE_TIMES = 10


async def land(match: Match, number: int) -> None:
    """Resolve the space on which the player's token stands now; it may end in jail, or out of the game."""
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


def imprison(match: Match, number: int, why: JailedFor) -> None:
    """To jail, past nothing, and the turn is over."""
    match.state.lock_up(number)
    seat = match.seat(number)
    match.tell(Jailed(seat.id, seat.name, why))


def _dice(match: Match) -> int:
    assert match.state.roll is not None, "a token has been moved by dice"
    return sum(match.state.roll)


async def _deed(match: Match, number: int, space: Space, rent: Callable[[], int]) -> None:
    """Unowned: to be bought, or auctioned; another's and clear: the rent."""
    owner = match.state.estate.owner[space.position]
    if owner == BANK:
        await _offer(match, number, space)
    elif owner != number and not match.state.estate.mortgaged[space.position]:
        await settle(match, [Debt(number, owner, rent(), "rent", space.position)])


async def _offer(match: Match, number: int, space: Space) -> None:
    """A player who cannot pay the price in cash is not asked: it is auctioned at once."""
    if match.seat(number).cash >= space.price:
        decision = await match.ask(number, BuyOrAuction, position=space.position)
        if decision.action == "buy":
            match.pay(number, BANK, space.price, "purchase", space.position)
            match.give_deed(space.position, number, "purchase")
            return
    await auction(match, space.position, opener=number)


async def _draw(match: Match, number: int, deck: DeckName) -> None:
    card, seat = match.state.decks[deck].draw(), match.seat(number)
    if card.effect == "jail_card":
        match.state.keep_card(number, deck)
    match.tell(CardDrawn(seat.id, seat.name, deck, card.id))
    await _EFFECTS[card.effect](match, number, card)
    match.state.decks[deck].resolved()


async def _advance(match: Match, number: int, card: Card) -> None:
    to = destination(card, match.seat(number).position)
    assert to is not None, "this card has a destination"
    match.advance(number, to, "card")
    space, estate = SPACES[to], match.state.estate
    if card.effect == "nearest_railroad":
        await _deed(match, number, space, lambda: RAILROAD_TIMES * estate.rent(to, 0))
    elif card.effect == "nearest_utility":
        # A throw for the rent alone, and only where there is rent to pay (S6).
        await _deed(match, number, space, lambda: UTILITY_DICE_TIMES * sum(match.roll(number, "rent")))
    else:
        await land(match, number)


async def _back(match: Match, number: int, card: Card) -> None:
    to = destination(card, match.seat(number).position)
    assert to is not None, "this card has a destination"
    match.move(number, to, "card")
    await land(match, number)


async def _go_to_jail(match: Match, number: int, card: Card) -> None:
    imprison(match, number, "card")


async def _receive(match: Match, number: int, card: Card) -> None:
    match.pay(BANK, number, card.amount, "card")


async def _pay(match: Match, number: int, card: Card) -> None:
    await settle(match, [Debt(number, BANK, card.amount, "card")])


async def _receive_each(match: Match, number: int, card: Card) -> None:
    others = [other for other in match.state.after(number) if other != number]
    await settle(match, [Debt(other, number, card.amount, "card") for other in others])


async def _pay_each(match: Match, number: int, card: Card) -> None:
    others = [other for other in match.state.after(number) if other != number]
    await settle(match, [Debt(number, other, card.amount, "card") for other in others])


async def _repairs(match: Match, number: int, card: Card) -> None:
    """Fixed when drawn: selling buildings does not lower it."""
    houses, hotels = match.state.estate.buildings(number)
    if due := houses * card.amount + hotels * card.per_hotel:
        await settle(match, [Debt(number, BANK, due, "card")])


async def _keep(match: Match, number: int, card: Card) -> None:
    """It is with the player already."""


_EFFECTS: dict[str, Callable[[Match, int, Card], Awaitable[None]]] = {
    "advance": _advance,
    "nearest_railroad": _advance,
    "nearest_utility": _advance,
    "back": _back,
    "go_to_jail": _go_to_jail,
    "receive": _receive,
    "pay": _pay,
    "receive_each": _receive_each,
    "pay_each": _pay_each,
    "repairs": _repairs,
    "jail_card": _keep,
}
