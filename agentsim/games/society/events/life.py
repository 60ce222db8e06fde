"""Life: the beginning and the end, the sum of a day, and decisions that change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import Event
from agentsim.games.society.amounts import Amount, shown
from agentsim.games.society.citizen import Status
from agentsim.games.society.config import Personality

__all__ = [
    "Being",
    "DayEnded",
    "Idled",
    "InvalidAction",
    "Reasoned",
    "Result",
    "SocietyBegan",
    "SocietyEnded",
    "Totals",
]


@dataclass(frozen=True)
class Being:
    """An agent as it begins."""

    agent: int
    player: str
    personality: Personality


@dataclass(frozen=True)
class Totals:
    """Of one resource: what agents and pool hold, and what was made, consumed and spent since the beginning."""

    held: Amount
    pool: Amount
    produced: Amount
    consumed: Amount
    spent: Amount


@dataclass(frozen=True)
class SocietyBegan(Event):
    """`food`, `energy` and `materials` are each agent's; the pool's are in `totals`."""

    kind: ClassVar[str] = "society_began"
    days: int
    agents: tuple[Being, ...]
    food: Amount
    energy: Amount
    materials: Amount
    totals: dict[str, Totals]

    @property
    def heading(self) -> str:
        return f"{len(self.agents)} agents begin"

    def player(self, agent: int) -> str:
        """Whose seat an agent's number is; "" of 0, which is the common pool."""
        return self.agents[agent - 1].player if 0 < agent <= len(self.agents) else ""

    @property
    def content(self) -> str:
        have = f"{shown(self.food)} food, {shown(self.energy)} energy, {shown(self.materials)} materials"
        pool = ", ".join(f"{shown(total.pool)} {resource}" for resource, total in self.totals.items())
        return f"Each has {have}. The common pool holds {pool}. There are {self.days} days."


@dataclass(frozen=True)
class Idled(Event):
    """An agent does nothing; it alone hears its reasons."""

    kind: ClassVar[str] = "idled"
    words: ClassVar[str] = "text"
    day: int
    agent: int
    text: str

    @property
    def heading(self) -> str:
        return f"Agent #{self.agent} does nothing"


@dataclass(frozen=True)
class Reasoned(Event):
    """Why an agent voted as it did; it alone hears this."""

    kind: ClassVar[str] = "reasoning"
    words: ClassVar[str] = "text"
    day: int
    agent: int
    proposal: int
    text: str

    @property
    def heading(self) -> str:
        return f"Agent #{self.agent} to itself, on proposal {self.proposal}"


@dataclass(frozen=True)
class InvalidAction(Event):
    """An action that came to nothing, without any penalty; `action` is the object as JSON, "" where none was read."""

    kind: ClassVar[str] = "invalid_action"
    day: int
    agent: int
    action: str
    reason: str

    @property
    def heading(self) -> str:
        return f"Agent #{self.agent}: an action is rejected"

    @property
    def turned_away(self) -> bool:
        return True

    @property
    def content(self) -> str:
        return f"Action rejected: {self.reason}"


@dataclass(frozen=True)
class DayEnded(Event):
    """`totals` by resource; posts, messages, proposals, votes and invalid actions are those of the day."""

    kind: ClassVar[str] = "day_ended"
    day: int
    active: int
    dormant: int
    dead: int
    totals: dict[str, Totals]
    gini: float
    posts: int
    messages: int
    proposals: int
    votes: int
    invalid: int
    laws: int

    @property
    def heading(self) -> str:
        return f"Day {self.day} ends: {self.active} active, {self.dormant} dormant, {self.dead} dead"

    @property
    def content(self) -> str:
        held = ", ".join(f"{shown(t.held)} {resource}" for resource, t in self.totals.items() if resource != "land")
        pool = ", ".join(f"{shown(total.pool)} {resource}" for resource, total in self.totals.items())
        return f"Agents hold {held}; the pool {pool}. {self.laws} laws in force."


@dataclass(frozen=True)
class Result:
    """An agent's end."""

    agent: int
    player: str
    name: str
    personality: Personality
    status: Status
    food: Amount
    energy: Amount
    materials: Amount
    wealth: Amount
    hours: int
    posts: int
    messages: int
    proposals: int
    votes: int
    breaches: int
    rank: int


@dataclass(frozen=True)
class SocietyEnded(Event):
    """`survival` is the share of agents that are active, `participation` of those that ever voted or proposed.

    `laws` are those that were passed; `results` are in rank order.
    """

    kind: ClassVar[str] = "society_ended"
    day: int
    reason: str
    survival: float
    participation: float
    gini: float
    laws: int
    results: tuple[Result, ...]

    @property
    def heading(self) -> str:
        return f"The end, on day {self.day}: {self.reason}"

    @property
    def content(self) -> str:
        return (
            f"{self.survival:.0%} of the agents are active, {self.participation:.0%} took part in votes; "
            f"{self.laws} laws were passed; the Gini coefficient of wealth is {self.gini:.2f}."
        )
