"""Events of trades: proposed, discarded, accepted, rejected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import Event
from agentsim.games.monopoly.board import name_of

__all__ = ["TradeAccepted", "TradeDiscarded", "TradeProposed", "TradeRejected", "TradeSide"]


@dataclass(frozen=True)
class TradeSide:
    """What one side gives: deeds by position, dollars, cards out of jail."""

    properties: tuple[int, ...]
    cash: int
    jail_cards: int

    def __str__(self) -> str:
        parts = [name_of(position) for position in self.properties]
        parts += [f"${self.cash}"] * (self.cash > 0)
        parts += [f"{self.jail_cards} card{'s' * (self.jail_cards > 1)} out of jail"] * (self.jail_cards > 0)
        return " + ".join(parts) or "nothing"


@dataclass(frozen=True)
class TradeProposed(Event):
    """`pitch` is the proposer's own words."""

    kind: ClassVar[str] = "trade_proposed"
    words: ClassVar[str | None] = "pitch"
    number: int
    proposer: str
    target: str
    proposer_name: str
    target_name: str
    offer: TradeSide
    request: TradeSide
    pitch: str

    @property
    def heading(self) -> str:
        return f"{self.proposer_name} offers {self.target_name} {self.offer} for {self.request}"


@dataclass(frozen=True)
class TradeDiscarded(Event):
    """A proposal that cannot be; it counts as one, and only its proposer hears why."""

    kind: ClassVar[str] = "trade_discarded"
    proposer: str
    name: str
    problem: str

    @property
    def heading(self) -> str:
        return f"{self.name}'s proposal is discarded"

    @property
    def content(self) -> str:
        return f"{self.problem[:1].upper()}{self.problem[1:]}."


@dataclass(frozen=True)
class _TradeAnswered(Event):
    """`number` is that of the proposal; the terms stand there."""

    number: int
    proposer: str
    target: str
    proposer_name: str
    target_name: str


@dataclass(frozen=True)
class TradeAccepted(_TradeAnswered):
    kind: ClassVar[str] = "trade_accepted"

    @property
    def heading(self) -> str:
        return f"{self.target_name} accepts {self.proposer_name}'s trade"

    @property
    def content(self) -> str:
        return "It is carried out."


@dataclass(frozen=True)
class TradeRejected(_TradeAnswered):
    kind: ClassVar[str] = "trade_rejected"

    @property
    def heading(self) -> str:
        return f"{self.target_name} rejects {self.proposer_name}'s trade"

    @property
    def content(self) -> str:
        return "Nothing changes hands."
