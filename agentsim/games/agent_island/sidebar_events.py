"""Events of private talks: who took whom aside, and what was said. All others stand in `events`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import AGAINST, FOR, Event, Interaction, Past
from agentsim.engine.wording import counted, listed

__all__ = ["Approached", "ExchangeBegan", "Paired", "TakenAside", "Whispered"]


@dataclass(frozen=True)
class ExchangeBegan(Event):
    kind: ClassVar[str] = "exchange_began"
    exchange: int
    exchanges: int
    messages: int

    @property
    def heading(self) -> str:
        return f"Private talks, exchange {self.exchange} of {self.exchanges}"

    @property
    def content(self) -> str:
        return f"Exchange {self.exchange} of {self.exchanges} begins. A talk has {counted(self.messages, 'message')}."


@dataclass(frozen=True)
class Approached(Event):
    kind: ClassVar[str] = "approach"
    player: str
    partner: str | None
    accepted: bool

    @property
    def heading(self) -> str:
        return f"Player {self.player} seeks a private word"

    @property
    def content(self) -> str:
        if self.partner is None:
            return f"{self.player} approaches nobody."
        return f"{self.player} approaches {self.partner}, who {'accepts' if self.accepted else 'declines'}."

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if self.partner is not None:
            yield Interaction(self.player, self.partner, "approached")
            answer = "agreed to talk" if self.accepted else "declined to talk"
            yield Interaction(self.partner, self.player, answer, FOR if self.accepted else AGAINST)


@dataclass(frozen=True)
class TakenAside(Event):
    """An approach that cannot be declined."""

    kind: ClassVar[str] = "taken_aside"
    player: str
    partner: str

    @property
    def heading(self) -> str:
        return f"Player {self.player} takes {self.partner} aside"

    @property
    def content(self) -> str:
        return f"{self.player} takes {self.partner} aside for a private talk."

    def interactions(self, past: Past) -> Iterator[Interaction]:
        yield Interaction(self.player, self.partner, "approached")


@dataclass(frozen=True)
class Paired(Event):
    kind: ClassVar[str] = "paired"
    pair: tuple[str, str]

    @property
    def heading(self) -> str:
        return f"{listed(self.pair)} step aside"

    @property
    def content(self) -> str:
        return f"{listed(self.pair)} talk in private."


@dataclass(frozen=True)
class Whispered(Event):
    kind: ClassVar[str] = "whisper"
    words: ClassVar[str] = "text"
    speaker: str
    listener: str
    text: str

    @property
    def heading(self) -> str:
        return f"{self.speaker} to {self.listener}, in private"

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if self.text:
            yield Interaction(self.speaker, self.listener, "whispered")
