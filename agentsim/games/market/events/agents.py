"""Events of the market: what an agent is given, asks, does and writes down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from agentsim.engine.event import Event
from agentsim.games.market.order_book import Side

__all__ = ["Acted", "Briefed", "Endowed", "Forfeited", "Observed", "Remembered"]


@dataclass(frozen=True)
class Endowed(Event):
    """What an agent holds from now on, whatever it held before; `worth` are its private values a unit, in order."""

    kind: ClassVar[str] = "endowed"
    agent: str
    holdings: dict[str, int]
    side: Side | None
    worth: dict[str, tuple[int, ...]]

    @property
    def heading(self) -> str:
        return f"{self.agent} is endowed"

    @property
    def content(self) -> str:
        held = ", ".join(f"{amount} {asset}" for asset, amount in self.holdings.items())
        values = "; ".join(f"{good}: {', '.join(map(str, units))}" for good, units in self.worth.items())
        what = {"buy": "values", "sell": "costs", None: "values"}[self.side]
        return f"Holds {held or 'nothing'}." + (f" Its {what} of {values}." if values else "")


@dataclass(frozen=True)
class Briefed(Event):
    """What an agent answered to the briefing."""

    kind: ClassVar[str] = "briefed"
    words: ClassVar[str] = "text"
    agent: str
    understood: bool
    text: str

    @property
    def heading(self) -> str:
        return f"{self.agent} {'is ready' if self.understood else 'does not understand'}"


@dataclass(frozen=True)
class Observed(Event):
    """An agent asked an artifact or a tool something; `observation` is the answer, for it alone."""

    kind: ClassVar[str] = "observed"
    agent: str
    query: str
    parameters: dict[str, Any]
    observation: dict[str, Any]

    @property
    def heading(self) -> str:
        return f"{self.agent} asks for {self.query}"

    @property
    def content(self) -> str:
        return ", ".join(f"{key}: {value}" for key, value in self.observation.items()) or "Nothing."


@dataclass(frozen=True)
class Acted(Event):
    """What an agent chose to do, and what came of it; `result` is what it is told, the reason where it is refused."""

    kind: ClassVar[str] = "acted"
    agent: str
    action: str
    parameters: dict[str, Any]
    accepted: bool
    result: str

    @property
    def heading(self) -> str:
        return f"{self.agent}: {self.action}" + ("" if self.accepted else " (refused)")

    @property
    def turned_away(self) -> bool:
        return not self.accepted

    @property
    def content(self) -> str:
        return self.result


@dataclass(frozen=True)
class Forfeited(Event):
    """A reply was outside the format: the action of this round, or the query, is lost."""

    kind: ClassVar[str] = "forfeited"
    agent: str
    stage: Literal["query", "action"]

    @property
    def heading(self) -> str:
        return f"{self.agent} forfeits its {self.stage}"

    @property
    def turned_away(self) -> bool:
        return True

    @property
    def content(self) -> str:
        return "The reply was outside the format."


@dataclass(frozen=True)
class Remembered(Event):
    """The working memory an agent wrote; no other agent reads it."""

    kind: ClassVar[str] = "remembered"
    words: ClassVar[str] = "text"
    agent: str
    text: str

    @property
    def heading(self) -> str:
        return f"{self.agent}'s working memory"
