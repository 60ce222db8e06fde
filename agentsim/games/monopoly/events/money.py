"""Events of money: payments, and the end of it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agentsim.engine.template import By, If
from agentsim.games.monopoly.board import Position
from agentsim.games.monopoly.events.on_board import OnBoard

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
    "salary": "For passing GO",
    "rent": "In rent",
    "tax": "In tax",
    "fine": "To leave jail",
    "card": "As the card says",
    "purchase": "For the deed",
    "auction": "For the deed",
    "interest": "Of interest",
    "trade": "In a trade",
    "bankruptcy": "Of the bankrupt's cash",
}


class Paid(
    OnBoard,
    heading=If("payer", ("{by}", " pays", If("payee", " {to}"), " ${amount}"), "{to} receives ${amount}"),
    content=(By("why", _FOR), By("position", {None: ""}, ", {position}"), "; now {left}."),
):
    """Cash changed hands; `cash` is what each player involved has afterwards, by id."""

    payer: str | None
    payee: str | None
    amount: int
    why: Why
    position: Position | None
    cash: dict[str, int]
    names: dict[str, str]

    @property
    def by(self) -> str:
        """What the payer is called; "" for the bank."""
        return self.names.get(self.payer or "", "")

    @property
    def to(self) -> str:
        """What the payee is called; "" for the bank."""
        return self.names.get(self.payee or "", "")

    @property
    def left(self) -> tuple[str, ...]:
        """What each player involved has afterwards."""
        return tuple(f"{self.names[player]} ${cash}" for player, cash in self.cash.items())


class Bankrupted(OnBoard, heading="{name} is bankrupt", content="Owes {creditor_name} ${owed} and has ${cash}."):
    """`owed` is the debt that could not be paid; `creditor` None is the bank."""

    player: str
    name: str
    creditor: str | None
    creditor_name: str
    owed: int
    cash: int
