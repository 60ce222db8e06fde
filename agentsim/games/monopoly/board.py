"""The board: the forty spaces and the two decks of the US edition (September 2008 and later) as data.

Positions count from 0 (GO) in the direction of play; all amounts are whole dollars. `state` has the owners, and `game`
the effects of spaces and cards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Annotated, ClassVar, Literal, TypeAlias

from agentsim.engine.event import Event
from agentsim.engine.wording import Template, Worded, filled
from agentsim.lazy import dataclass

Kind: TypeAlias = Literal[
    "go", "street", "railroad", "utility", "tax", "chance", "community_chest", "jail", "free_parking", "go_to_jail"
]
GO = 0
JAIL = 10
SALARY = 200
START_CASH = 1500
FINE = 50
HOUSES, HOTELS = 32, 12
HOTEL = 5
"""The number of houses that stands for a hotel; 1 to 4 are houses."""
RAILROAD_RENTS = (25, 50, 100, 200)
"""Rents in dollars by the number of railroads that the owner has, from 1."""
UTILITY_TIMES = (4, 10)
"""Multiples of the dice by the number of utilities that the owner has, from 1."""
RAILROAD_TIMES, UTILITY_DICE_TIMES = 2, 10
"""Multiples of the rent, and of the dice, for a player whom a card sends to a railroad or a utility."""


@dataclass(frozen=True)
class Space:
    """One space; `rents` of a street are those without houses, with one to four houses, and with a hotel."""

    position: int
    kind: Kind
    name: str
    group: str = ""
    price: int = 0
    rents: tuple[int, ...] = ()
    house_cost: int = 0
    tax: int = 0

    @cached_property
    def mortgage(self) -> int:
        """The mortgage value in dollars: half the price."""
        return self.price // 2

    @cached_property
    def interest(self) -> int:
        """The interest on a mortgage: a tenth of it, rounded up to a whole dollar."""
        return -(-self.mortgage // 10)

    @cached_property
    def redemption(self) -> int:
        """The cost of lifting the mortgage: the mortgage value and its interest."""
        return self.mortgage + self.interest


SPACES: tuple[Space, ...] = (
    Space(0, "go", "GO"),
    Space(1, "street", "Mediterranean Avenue", "brown", 60, (2, 10, 30, 90, 160, 250), 50),
    Space(2, "community_chest", "Community Chest"),
    Space(3, "street", "Baltic Avenue", "brown", 60, (4, 20, 60, 180, 320, 450), 50),
    Space(4, "tax", "Income Tax", tax=200),
    Space(5, "railroad", "Reading Railroad", "railroad", 200),
    Space(6, "street", "Oriental Avenue", "light_blue", 100, (6, 30, 90, 270, 400, 550), 50),
    Space(7, "chance", "Chance"),
    Space(8, "street", "Vermont Avenue", "light_blue", 100, (6, 30, 90, 270, 400, 550), 50),
    Space(9, "street", "Connecticut Avenue", "light_blue", 120, (8, 40, 100, 300, 450, 600), 50),
    Space(10, "jail", "Jail / Just Visiting"),
    Space(11, "street", "St. Charles Place", "pink", 140, (10, 50, 150, 450, 625, 750), 100),
    Space(12, "utility", "Electric Company", "utility", 150),
    Space(13, "street", "States Avenue", "pink", 140, (10, 50, 150, 450, 625, 750), 100),
    Space(14, "street", "Virginia Avenue", "pink", 160, (12, 60, 180, 500, 700, 900), 100),
    Space(15, "railroad", "Pennsylvania Railroad", "railroad", 200),
    Space(16, "street", "St. James Place", "orange", 180, (14, 70, 200, 550, 750, 950), 100),
    Space(17, "community_chest", "Community Chest"),
    Space(18, "street", "Tennessee Avenue", "orange", 180, (14, 70, 200, 550, 750, 950), 100),
    Space(19, "street", "New York Avenue", "orange", 200, (16, 80, 220, 600, 800, 1000), 100),
    Space(20, "free_parking", "Free Parking"),
    Space(21, "street", "Kentucky Avenue", "red", 220, (18, 90, 250, 700, 875, 1050), 150),
    Space(22, "chance", "Chance"),
    Space(23, "street", "Indiana Avenue", "red", 220, (18, 90, 250, 700, 875, 1050), 150),
    Space(24, "street", "Illinois Avenue", "red", 240, (20, 100, 300, 750, 925, 1100), 150),
    Space(25, "railroad", "B. & O. Railroad", "railroad", 200),
    Space(26, "street", "Atlantic Avenue", "yellow", 260, (22, 110, 330, 800, 975, 1150), 150),
    Space(27, "street", "Ventnor Avenue", "yellow", 260, (22, 110, 330, 800, 975, 1150), 150),
    Space(28, "utility", "Water Works", "utility", 150),
    Space(29, "street", "Marvin Gardens", "yellow", 280, (24, 120, 360, 850, 1025, 1200), 150),
    Space(30, "go_to_jail", "Go To Jail"),
    Space(31, "street", "Pacific Avenue", "green", 300, (26, 130, 390, 900, 1100, 1275), 200),
    Space(32, "street", "North Carolina Avenue", "green", 300, (26, 130, 390, 900, 1100, 1275), 200),
    Space(33, "community_chest", "Community Chest"),
    Space(34, "street", "Pennsylvania Avenue", "green", 320, (28, 150, 450, 1000, 1200, 1400), 200),
    Space(35, "railroad", "Short Line", "railroad", 200),
    Space(36, "chance", "Chance"),
    Space(37, "street", "Park Place", "dark_blue", 350, (35, 175, 500, 1100, 1300, 1500), 200),
    Space(38, "tax", "Luxury Tax", tax=100),
    Space(39, "street", "Boardwalk", "dark_blue", 400, (50, 200, 600, 1400, 1700, 2000), 200),
)

DEEDS: tuple[int, ...] = tuple(space.position for space in SPACES if space.price)
"""Positions of everything that can be owned, in board order."""
STREETS: tuple[int, ...] = tuple(space.position for space in SPACES if space.kind == "street")
GROUPS: dict[str, tuple[int, ...]] = {
    group: tuple(space.position for space in SPACES if space.group == group)
    for group in dict.fromkeys(space.group for space in SPACES if space.group)
}
"""Positions of each group, in board order; railroads and utilities are groups too."""


def group_name(group: str) -> str:
    return group.replace("_", " ")


def name_of(position: int) -> str:
    return SPACES[position].name


Position: TypeAlias = Annotated[int, Worded(name_of)]
"""A position, 0 (GO) to 39; templates show the name of its space."""


class Recounted(Event, base=True):
    """Base of events that prompts tell in one line; `short` is its template, or "" for no line."""

    short: ClassVar[Template] = ""

    @property
    def in_short(self) -> str:
        return filled(self.short, self) if self.short else ""


class OnBoard(Recounted, in_prompt=False, base=True):
    """Base of events about tokens, property and money, which a person at the board sees happen."""


class OfPlayer(OnBoard, base=True):
    """Base of events about one player."""

    player: str
    name: str


class OnDeed(OnBoard, base=True):
    """Base of events in which one player bids, pays or receives `amount` dollars for a space."""

    position: Position
    player: str
    name: str
    amount: int


DeckName: TypeAlias = Literal["chance", "community_chest"]
Moves: TypeAlias = Literal["advance", "nearest_railroad", "nearest_utility", "back", "go_to_jail"]
Effect: TypeAlias = Moves | Literal["receive", "pay", "receive_each", "pay_each", "repairs", "jail_card"]


@dataclass(frozen=True, slots=True)
class Card:
    """One card; `amount` is in dollars (for repairs, per house), or the number of spaces that a token moves back."""

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
"""The Get Out of Jail Free card of each deck; a player who holds both gives up the Chance card first."""


def ids(deck: DeckName) -> list[str]:
    """Return the ids of a deck's cards, in the order of their numbers."""
    return [card.id for card in DECKS[deck]]


def handed_cards(held: Sequence[DeckName], count: int) -> list[DeckName]:
    """Return the decks of the first `count` Get Out of Jail Free cards to hand over: Chance first (S17)."""
    return [name for name in JAIL_CARDS if name in held][:count]


def destination(card: Card, position: int) -> int | None:
    """Return the position to which a card moves a token, or None if it moves none, or sends it to jail."""
    match card.effect:
        case "advance":
            return card.target
        case "back":
            return (position - card.amount) % len(SPACES)
        case "nearest_railroad" | "nearest_utility":
            group = GROUPS[card.effect.removeprefix("nearest_")]
            return next((space for space in group if space > position), group[0])
        case _:
            return None


class Deck:
    """A deck that is shuffled once: cards are drawn from the top and put back at the bottom."""

    def __init__(self, order: Iterable[str]) -> None:
        self._cards = deque(order)
        self._drawn: str | None = None

    def draw(self) -> Card:
        """Draw the top card. It goes to the bottom once it is `resolved`, unless a player keeps it."""
        self.resolved()
        card = CARDS[self._cards.popleft()]
        if card.effect != "jail_card":
            self._drawn = card.id
        return card

    def resolved(self) -> None:
        """Put the card drawn last at the bottom, below any card put back since."""
        if self._drawn is not None:
            self._cards.append(self._drawn)
            self._drawn = None

    def put_back(self, card_id: str) -> None:
        """Put a kept card at the bottom."""
        self._cards.append(card_id)

    @property
    def order(self) -> tuple[str, ...]:
        """Ids from the top down; a card that is being resolved counts as the bottom card."""
        return tuple(self._cards) if self._drawn is None else (*self._cards, self._drawn)
