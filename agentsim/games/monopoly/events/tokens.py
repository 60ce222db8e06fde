"""Events of tokens: rolls, moves, cards and jail."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agentsim.engine.template import By, If
from agentsim.games.monopoly.board import Position
from agentsim.games.monopoly.cards import CARDS, Card
from agentsim.games.monopoly.events.on_board import OnBoard

Purpose: TypeAlias = Literal["move", "jail", "rent"]
MovedBy: TypeAlias = Literal["dice", "card"]
JailedFor: TypeAlias = Literal["space", "card", "third doubles"]
FreedBy: TypeAlias = Literal["fine", "card", "doubles", "third roll"]


class Rolled(
    OnBoard,
    heading=(
        "{name} ",
        By("purpose", {"move": "rolls", "jail": "rolls for freedom:", "rent": "rolls for the rent:"}),
        " {dice:and}",
    ),
    content=("{total} in all", If("doubles", ", doubles"), "."),
):
    """`purpose`: to move, to leave jail, or for a utility's rent (which moves no token)."""

    player: str
    name: str
    dice: tuple[int, int]
    purpose: Purpose

    @property
    def total(self) -> int:
        """Both dice."""
        return sum(self.dice)

    @property
    def doubles(self) -> bool:
        """Whether both dice show the same."""
        return self.dice[0] == self.dice[1]


class Moved(OnBoard, heading="{name} comes to {to}", content=("From {start}", By("by", {"card": " by a card"}), ".")):
    player: str
    name: str
    start: Position
    to: Position
    by: MovedBy


class CardDrawn(
    OnBoard, heading=("{name} draws ", By("deck", {"chance": "Chance"}, "Community Chest")), content="{says.text}"
):
    """`card` is its id; a card that is kept is with the player from now on."""

    player: str
    name: str
    deck: str
    card: str

    @property
    def says(self) -> Card:
        """The card."""
        return CARDS[self.card]


class CardMoved(
    OnBoard,
    heading="{giver_name} hands over a card out of jail",
    content=If("taker", "It goes to {taker_name}.", "It lies at the bottom of its deck."),
):
    """A card out of jail changed hands; `taker` None is the bottom of its deck."""

    card: str
    giver: str
    taker: str | None
    giver_name: str
    taker_name: str


class Jailed(
    OnBoard,
    heading="{name} goes to jail",
    content=By("why", {"space": "The space says so.", "card": "The card says so."}, "Three doubles in one turn."),
):
    player: str
    name: str
    why: JailedFor


class Freed(
    OnBoard,
    heading="{name} leaves jail",
    content=By("how", {"fine": "Paid.", "card": "By a card.", "doubles": "By doubles."}, "Three rolls are all."),
):
    player: str
    name: str
    how: FreedBy


class StayedInJail(OnBoard, heading="{name} stays in jail", content="{failed} of 3 rolls failed."):
    """`failed` rolls by now, 1 or 2."""

    player: str
    name: str
    failed: int
