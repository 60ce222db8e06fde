"""Landing: what a space, or the card drawn on it, does to the player who comes there."""

from __future__ import annotations

from collections.abc import Callable

from agentsim.engine.template import By
from agentsim.games.monopoly.board import SPACES, OfPlayer, Space
from agentsim.games.monopoly.buying import offer
from agentsim.games.monopoly.cards import CARDS, Card, DeckName, destination
from agentsim.games.monopoly.debts import Debt, settle
from agentsim.games.monopoly.estate import BANK
from agentsim.games.monopoly.jail import imprison
from agentsim.games.monopoly.match import Match

RAILROAD_TIMES = 2
UTILITY_DICE_TIMES = 10


class CardDrawn(
    OfPlayer, heading=("{name} draws ", By("deck", {"chance": "Chance"}, "Community Chest")), content="{says.text}"
):
    """`card` is its id; a card that is kept is with the player from now on."""

    deck: str
    card: str

    @property
    def says(self) -> Card:
        """The card."""
        return CARDS[self.card]


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


def _dice(match: Match) -> int:
    assert match.state.roll is not None, "a token has been moved by dice"
    return sum(match.state.roll)


async def _deed(match: Match, number: int, space: Space, rent: Callable[[], int]) -> None:
    """Unowned: to be bought, or auctioned; another's and clear: the rent."""
    owner = match.state.estate.owner[space.position]
    if owner == BANK:
        await offer(match, number, space)
    elif owner != number and not match.state.estate.mortgaged[space.position]:
        await settle(match, [Debt(number, owner, rent(), "rent", space.position)])


async def _draw(match: Match, number: int, deck: DeckName) -> None:
    card, seat = match.state.decks[deck].draw(), match.seat(number)
    if card.effect == "jail_card":
        match.state.give_card(deck, BANK, number)
    match.tell(CardDrawn(seat.id, seat.name, deck, card.id))
    await _follow(match, number, card)
    match.state.decks[deck].resolved()


async def _follow(match: Match, number: int, card: Card) -> None:
    """Do what the card says."""
    match card.effect:
        case "advance" | "nearest_railroad" | "nearest_utility":
            await _advance(match, number, card)
        case "back":
            to = destination(card, match.seat(number).position)
            assert to is not None, "this card has a destination"
            match.move(number, to, "card")
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
    """What is to be paid by the card, fixed when it is drawn: selling buildings does not lower it."""
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
