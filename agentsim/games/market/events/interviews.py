"""Events of the market: what the moderator and an agent say to each other; no other agent hears it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import Event

__all__ = ["Answered", "Asked", "Paused", "Resumed"]


@dataclass(frozen=True)
class _Signalled(Event):
    agent: str

    @property
    def heading(self) -> str:
        return f"The moderator to {self.agent}"


@dataclass(frozen=True)
class Paused(_Signalled):
    kind: ClassVar[str] = "paused"

    @property
    def content(self) -> str:
        return "PAUSE"


@dataclass(frozen=True)
class Asked(Event):
    kind: ClassVar[str] = "asked"
    words: ClassVar[str] = "question"
    agent: str
    question: str

    @property
    def heading(self) -> str:
        return f"The moderator asks {self.agent}"


@dataclass(frozen=True)
class Answered(Event):
    kind: ClassVar[str] = "answered"
    words: ClassVar[str] = "text"
    agent: str
    text: str

    @property
    def heading(self) -> str:
        return f"{self.agent} answers the moderator"


@dataclass(frozen=True)
class Resumed(_Signalled):
    kind: ClassVar[str] = "resumed"

    @property
    def content(self) -> str:
        return "RESUME"
