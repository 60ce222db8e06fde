"""Events of the market: what an agent is given, asks, does and writes down."""

from __future__ import annotations

from typing import Any, Literal

from agentsim.engine.event import Event
from agentsim.engine.template import If
from agentsim.games.market.order_book import Side


class Endowed(Event, heading="{agent} is endowed"):
    """What an agent holds from now on, whatever it held before; `worth` are its private values a unit, in order."""

    agent: str
    holdings: dict[str, int]
    side: Side | None
    worth: dict[str, tuple[int, ...]]

    @property
    def content(self) -> str:
        held = ", ".join(f"{amount} {asset}" for asset, amount in self.holdings.items())
        values = "; ".join(f"{good}: {', '.join(map(str, units))}" for good, units in self.worth.items())
        what = {"buy": "values", "sell": "costs", None: "values"}[self.side]
        return f"Holds {held or 'nothing'}." + (f" Its {what} of {values}." if values else "")


class Briefed(Event, heading=("{agent} ", If("understood", "is ready", "does not understand")), words="text"):
    """What an agent answered to the briefing."""

    agent: str
    understood: bool
    text: str


class Observed(Event, heading="{agent} asks for {query}"):
    """An agent asked an artifact or a tool something; `observation` is the answer, for it alone."""

    agent: str
    query: str
    parameters: dict[str, Any]
    observation: dict[str, Any]

    @property
    def content(self) -> str:
        return ", ".join(f"{key}: {value}" for key, value in self.observation.items()) or "Nothing."


class Acted(Event, heading=("{agent}: {action}", If("accepted", "", " (refused)")), content="{result}"):
    """What an agent chose to do, and what came of it; `result` is what it is told, the reason where it is refused."""

    agent: str
    action: str
    parameters: dict[str, Any]
    accepted: bool
    result: str

    @property
    def turned_away(self) -> bool:
        return not self.accepted


class Forfeited(Event, heading="{agent} forfeits its {stage}", content="The reply was outside the format."):
    """A reply was outside the format: the action of this round, or the query, is lost."""

    agent: str
    stage: Literal["query", "action"]

    @property
    def turned_away(self) -> bool:
        return True


class Remembered(Event, heading="{agent}'s working memory", words="text"):
    """The working memory an agent wrote; no other agent reads it."""

    agent: str
    text: str
