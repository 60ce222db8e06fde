"""Cards: the two decks as data, and a deck as a thing to draw from. What a card does to a game is `landing`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentsim.games.monopoly.board import GROUPS, SPACES

DeckName: TypeAlias = Literal["chance", "community_chest"]
Moves: TypeAlias = Literal["advance", "nearest_railroad", "nearest_utility", "back", "go_to_jail"]
Effect: TypeAlias = Moves | Literal["receive", "pay", "receive_each", "pay_each", "repairs", "jail_card"]


@dataclass(frozen=True, slots=True)
class Card:
    """One card; `amount` is dollars (of repairs, dollars a house), or the spaces that a token goes back."""

    id: str
    effect: Effect
    text: str
    amount: int = 0
    per_hotel: int = 0
    target: int = -1


CHANCE: tuple[Card, ...] = (
    Card("C01", "advance", "Advance to Boardwalk.", target=39),
    Card("C02", "advance", "Advance to GO and collect $200.", target=0),
    Card("C03", "advance", "Advance to Illinois Avenue.", target=24),
    Card("C04", "advance", "Advance to St. Charles Place.", target=11),
    Card("C05", "nearest_railroad", "Advance to the next railroad; its owner gets twice the rent."),
    Card("C06", "nearest_railroad", "Advance to the next railroad; its owner gets twice the rent."),
    Card("C07", "nearest_utility", "Advance to the next utility; its owner gets ten times a fresh throw."),
    Card("C08", "receive", "The bank pays a dividend of $50.", amount=50),
    Card("C09", "jail_card", "Out of jail free: keep this card until it is used or traded."),
    Card("C10", "back", "Go back three spaces.", amount=3),
    Card("C11", "go_to_jail", "Go to jail."),
    Card("C12", "repairs", "Repairs: $25 for each house, $100 for each hotel.", amount=25, per_hotel=100),
    Card("C13", "pay", "Speeding fine of $15.", amount=15),
    Card("C14", "advance", "Advance to Reading Railroad.", target=5),
    Card("C15", "pay_each", "Elected to the chair: pay every player $50.", amount=50),
    Card("C16", "receive", "A building loan matures: collect $150.", amount=150),
)
COMMUNITY_CHEST: tuple[Card, ...] = (
    Card("H01", "advance", "Advance to GO and collect $200.", target=0),
    Card("H02", "receive", "Bank error in your favour: collect $200.", amount=200),
    Card("H03", "pay", "Doctor's fee of $50.", amount=50),
    Card("H04", "receive", "Stock is sold: collect $50.", amount=50),
    Card("H05", "jail_card", "Out of jail free: keep this card until it is used or traded."),
    Card("H06", "go_to_jail", "Go to jail."),
    Card("H07", "receive", "A holiday fund matures: collect $100.", amount=100),
    Card("H08", "receive", "Tax refund of $20.", amount=20),
    Card("H09", "receive_each", "Your birthday: collect $10 from every player.", amount=10),
    Card("H10", "receive", "Life insurance matures: collect $100.", amount=100),
    Card("H11", "pay", "Hospital fee of $100.", amount=100),
    Card("H12", "pay", "School fees of $50.", amount=50),
    Card("H13", "receive", "Consultancy fee: collect $25.", amount=25),
    Card("H14", "repairs", "Street repairs: $40 for each house, $115 for each hotel.", amount=40, per_hotel=115),
    Card("H15", "receive", "Second prize in a beauty contest: collect $10.", amount=10),
    Card("H16", "receive", "An inheritance: collect $100.", amount=100),
)
DECKS: dict[DeckName, tuple[Card, ...]] = {"chance": CHANCE, "community_chest": COMMUNITY_CHEST}
CARDS: dict[str, Card] = {card.id: card for deck in DECKS.values() for card in deck}
JAIL_CARDS: dict[DeckName, str] = {"chance": "C09", "community_chest": "H05"}
"""The cards that are kept until they are used; played, traded and taken in this order where one player holds both."""


def ids(deck: DeckName) -> list[str]:
    """The cards of a deck, in the order of their numbers."""
    return [card.id for card in DECKS[deck]]


def handed_cards(held: Sequence[DeckName], count: int) -> list[DeckName]:
    """Which cards out of jail are handed over, of those that are held: Chance first (S17)."""
    return [name for name in JAIL_CARDS if name in held][:count]


def destination(card: Card, position: int) -> int | None:
    """Where the card sends a token from here; None where it sends it nowhere, or to jail."""
    match card.effect:
        case "advance":
            return card.target
        case "back":
            return (position - card.amount) % len(SPACES)
        case "nearest_railroad" | "nearest_utility":
            group = GROUPS[card.effect.removeprefix("nearest_")]
            return next((place for place in group if place > position), group[0])
        case _:
            return None


class Deck:
    """Shuffled once; drawn from the top, put back at the bottom, never shuffled again."""

    def __init__(self, order: Iterable[str]) -> None:
        self._cards = deque(order)
        self._drawn: str | None = None

    def draw(self) -> Card:
        """The top card, which goes to the bottom once it is `resolved`, unless it is one that is kept."""
        self.resolved()
        card = CARDS[self._cards.popleft()]
        if card.effect != "jail_card":
            self._drawn = card.id
        return card

    def resolved(self) -> None:
        """What the card drawn last says is done: whatever else was put back meanwhile lies above it."""
        if self._drawn is not None:
            self._cards.append(self._drawn)
            self._drawn = None

    def put_back(self, card_id: str) -> None:
        """A card that was kept goes to the bottom."""
        self._cards.append(card_id)

    @property
    def order(self) -> tuple[str, ...]:
        """Ids from the top down; a card that is being resolved is where it will be, at the bottom."""
        return tuple(self._cards) if self._drawn is None else (*self._cards, self._drawn)
