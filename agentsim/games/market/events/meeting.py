"""Events of the market: what agents do with each other beside trading, and what artifacts of others report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from agentsim.engine.event import Event, Interaction, Past

__all__ = ["Messaged", "Moved", "Reported"]


@dataclass(frozen=True)
class Messaged(Event):
    """`to` is None where a message goes to all."""

    kind: ClassVar[str] = "messaged"
    words: ClassVar[str] = "text"
    sender: str
    to: tuple[str, ...] | None
    text: str

    @property
    def heading(self) -> str:
        return f"{self.sender} to {'all' if self.to is None else ', '.join(self.to)}"

    def interactions(self, past: Past) -> Iterator[Interaction]:
        for reader in self.to or ():
            yield Interaction(self.sender, reader, "wrote to")


@dataclass(frozen=True)
class Moved(Event):
    """Where an agent stands now; columns and rows count from 0, at the top left."""

    kind: ClassVar[str] = "moved"
    agent: str
    column: int
    row: int
    columns: int
    rows: int

    @property
    def heading(self) -> str:
        return f"{self.agent} stands at {self.column}, {self.row}"

    @property
    def content(self) -> str:
        return f"Of {self.columns} columns and {self.rows} rows."


@dataclass(frozen=True)
class Reported(Event):
    """What an artifact has to tell that has no event of its own."""

    kind: ClassVar[str] = "reported"
    words: ClassVar[str] = "text"
    artifact: str
    text: str
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        return f"From {self.artifact}"
