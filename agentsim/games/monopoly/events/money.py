"""Events of money: payments, and the end of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from agentsim.games.monopoly.board import name_of
from agentsim.games.monopoly.events.on_board import OnBoard

__all__ = ["Bankrupted", "Paid", "Why"]


Why: TypeAlias = Literal[
    "salary",
    "rent",
    "tax",
    "fine",
    "card",
    "purchase",
    "auction",
    "interest",
    "trade",
    "bankruptcy",
]
_FOR = {
    "salary": "for passing GO",
    "rent": "in rent",
    "tax": "in tax",
    "fine": "to leave jail",
    "card": "as the card says",
    "purchase": "for the deed",
    "auction": "for the deed",
    "interest": "of interest",
    "trade": "in a trade",
    "bankruptcy": "of the bankrupt's cash",
}


@dataclass(frozen=True)
class Paid(OnBoard):
    """Cash changed hands; `cash` is what each player involved has afterwards, by id."""

    kind: ClassVar[str] = "paid"
    payer: str | None
    payee: str | None
    amount: int
    why: Why
    position: int | None
    cash: dict[str, int]
    names: dict[str, str]

    @property
    def heading(self) -> str:
        names = self.names
        if self.payer is None:
            return f"{names[str(self.payee)]} receives ${self.amount}"
        to = f" {names[self.payee]}" if self.payee else ""
        return f"{names[self.payer]} pays{to} ${self.amount}"

    @property
    def content(self) -> str:
        where = "" if self.position is None else f", {name_of(self.position)}"
        left = ", ".join(f"{self.names[player]} ${cash}" for player, cash in self.cash.items())
        text = f"{_FOR[self.why]}{where}; now {left}."
        return text[0].upper() + text[1:]  # names keep their capitals


@dataclass(frozen=True)
class Bankrupted(OnBoard):
    """`owed` is the debt that could not be paid; `creditor` None is the bank."""

    kind: ClassVar[str] = "bankrupted"
    player: str
    name: str
    creditor: str | None
    creditor_name: str
    owed: int
    cash: int

    @property
    def heading(self) -> str:
        return f"{self.name} is bankrupt"

    @property
    def content(self) -> str:
        return f"Owes {self.creditor_name} ${self.owed} and has ${self.cash}."
