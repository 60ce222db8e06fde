"""Events of tokens: rolls, moves, cards and jail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from agentsim.games.monopoly.board import name_of
from agentsim.games.monopoly.cards import CARDS
from agentsim.games.monopoly.events.on_board import OnBoard

__all__ = [
    "CardDrawn",
    "CardMoved",
    "Freed",
    "FreedBy",
    "Jailed",
    "JailedFor",
    "Moved",
    "MovedBy",
    "Purpose",
    "Rolled",
    "StayedInJail",
]

Purpose: TypeAlias = Literal["move", "jail", "rent"]
MovedBy: TypeAlias = Literal["dice", "card"]
JailedFor: TypeAlias = Literal["space", "card", "third doubles"]
FreedBy: TypeAlias = Literal["fine", "card", "doubles", "third roll"]


@dataclass(frozen=True)
class Rolled(OnBoard):
    """`purpose`: to move, to leave jail, or for a utility's rent (which moves no token)."""

    kind: ClassVar[str] = "rolled"
    player: str
    name: str
    dice: tuple[int, int]
    purpose: Purpose

    @property
    def heading(self) -> str:
        how = {"move": "rolls", "jail": "rolls for freedom:", "rent": "rolls for the rent:"}[self.purpose]
        return f"{self.name} {how} {self.dice[0]} and {self.dice[1]}"

    @property
    def content(self) -> str:
        return f"{sum(self.dice)} in all{', doubles' if self.dice[0] == self.dice[1] else ''}."


@dataclass(frozen=True)
class Moved(OnBoard):
    kind: ClassVar[str] = "moved"
    player: str
    name: str
    start: int
    to: int
    by: MovedBy

    @property
    def heading(self) -> str:
        return f"{self.name} comes to {name_of(self.to)}"

    @property
    def content(self) -> str:
        return f"From {name_of(self.start)}{' by a card' if self.by == 'card' else ''}."


@dataclass(frozen=True)
class CardDrawn(OnBoard):
    """`card` is its id; a card that is kept is with the player from now on."""

    kind: ClassVar[str] = "card_drawn"
    player: str
    name: str
    deck: str
    card: str

    @property
    def heading(self) -> str:
        return f"{self.name} draws {'Chance' if self.deck == 'chance' else 'Community Chest'}"

    @property
    def content(self) -> str:
        return CARDS[self.card].text


@dataclass(frozen=True)
class CardMoved(OnBoard):
    """A card out of jail changed hands; `taker` None is the bottom of its deck."""

    kind: ClassVar[str] = "card_moved"
    card: str
    giver: str
    taker: str | None
    giver_name: str
    taker_name: str

    @property
    def heading(self) -> str:
        return f"{self.giver_name} hands over a card out of jail"

    @property
    def content(self) -> str:
        return f"It goes to {self.taker_name}." if self.taker else "It lies at the bottom of its deck."


@dataclass(frozen=True)
class Jailed(OnBoard):
    kind: ClassVar[str] = "jailed"
    player: str
    name: str
    why: JailedFor

    @property
    def heading(self) -> str:
        return f"{self.name} goes to jail"

    @property
    def content(self) -> str:
        reason = {
            "space": "the space says so",
            "card": "the card says so",
            "third doubles": "three doubles in one turn",
        }
        return f"{reason[self.why].capitalize()}."


@dataclass(frozen=True)
class Freed(OnBoard):
    kind: ClassVar[str] = "freed"
    player: str
    name: str
    how: FreedBy

    @property
    def heading(self) -> str:
        return f"{self.name} leaves jail"

    @property
    def content(self) -> str:
        return {"fine": "Paid.", "card": "By a card.", "doubles": "By doubles.", "third roll": "Three rolls are all."}[
            self.how
        ]


@dataclass(frozen=True)
class StayedInJail(OnBoard):
    """`failed` rolls by now, 1 or 2."""

    kind: ClassVar[str] = "stayed_in_jail"
    player: str
    name: str
    failed: int

    @property
    def heading(self) -> str:
        return f"{self.name} stays in jail"

    @property
    def content(self) -> str:
        return f"{self.failed} of 3 rolls failed."
