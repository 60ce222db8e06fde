"""Economy: every amount that is made, paid, used up or missing; what agents give is `giving`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import Event
from agentsim.games.society.actions import WorkType
from agentsim.games.society.amounts import Amount, shown
from agentsim.games.society.terms import Resource, Structure

__all__ = [
    "AgentDied",
    "AgentWoke",
    "AllocationPaid",
    "Consumed",
    "DividendPaid",
    "FellDormant",
    "Meal",
    "ProjectBegan",
    "ProjectBuilt",
    "UpkeepPaid",
    "WorkMinimumBroken",
    "Worked",
]


@dataclass(frozen=True)
class Worked(Event):
    """`made` is all that the work made, `taxed` the part of it that went to the pool, `energy` what it used up."""

    kind: ClassVar[str] = "worked"
    day: int
    agent: int
    work: WorkType
    hours: int
    resource: Resource
    made: Amount
    taxed: Amount
    energy: Amount

    @property
    def heading(self) -> str:
        return f"Agent #{self.agent} works {self.hours} h ({self.work})"

    @property
    def content(self) -> str:
        tax = f", {shown(self.taxed)} of it for the pool" if self.taxed else ""
        return f"{shown(self.made)} {self.resource}{tax}; {shown(self.energy)} energy spent."


@dataclass(frozen=True)
class ProjectBegan(Event):
    kind: ClassVar[str] = "project_began"
    day: int
    project: int
    proposal: int
    what: Structure
    cost: Amount
    land: Amount

    @property
    def heading(self) -> str:
        return f"Project {self.project} begins: a {self.what}"

    @property
    def content(self) -> str:
        return f"It needs {shown(self.cost)} materials and takes {shown(self.land)} land from the pool."


@dataclass(frozen=True)
class ProjectBuilt(Event):
    kind: ClassVar[str] = "project_built"
    day: int
    project: int
    what: Structure

    @property
    def heading(self) -> str:
        return f"Project {self.project} is built: a {self.what}"

    @property
    def content(self) -> str:
        return "It works from the evening on which its upkeep is first paid."


@dataclass(frozen=True)
class UpkeepPaid(Event):
    """Every built project is among `running` or `paused`; `materials` came from the pool."""

    kind: ClassVar[str] = "upkeep_paid"
    day: int
    materials: Amount
    running: tuple[int, ...]
    paused: tuple[int, ...]

    @property
    def heading(self) -> str:
        return f"Upkeep: {len(self.running)} running, {len(self.paused)} paused"

    @property
    def content(self) -> str:
        return f"{shown(self.materials)} materials from the pool."


@dataclass(frozen=True)
class AllocationPaid(Event):
    """`paid` maps agents to what they got; `missing` is what the pool did not hold."""

    kind: ClassVar[str] = "allocation_paid"
    day: int
    proposal: int
    resource: Resource
    paid: dict[int, Amount]
    missing: Amount

    @property
    def heading(self) -> str:
        return f"Proposal {self.proposal} pays {shown(sum(self.paid.values()))} {self.resource} from the pool"

    @property
    def content(self) -> str:
        listed = ", ".join(f"#{agent} {shown(amount)}" for agent, amount in self.paid.items()) or "nobody"
        return f"{listed}.{f' The pool lacked {shown(self.missing)}.' if self.missing else ''}"


@dataclass(frozen=True)
class DividendPaid(Event):
    """`amount` to each of `agents`, but to the last one `last`; `missing` is what the pool did not hold for others."""

    kind: ClassVar[str] = "dividend_paid"
    day: int
    law: int
    resource: Resource
    amount: Amount
    agents: tuple[int, ...]
    last: Amount
    missing: Amount

    @property
    def heading(self) -> str:
        return f"Law {self.law} pays {shown(self.amount)} {self.resource} each to {len(self.agents)} agents"

    @property
    def paid(self) -> Iterator[tuple[int, int]]:
        """(agent, what it got) of each."""
        for agent in self.agents:
            yield agent, self.last if agent == self.agents[-1] else self.amount

    @property
    def content(self) -> str:
        if not self.missing:
            return "All were paid in full."
        return f"The pool is empty: {shown(self.missing)} {self.resource} could not be paid."


@dataclass(frozen=True)
class WorkMinimumBroken(Event):
    """The active agents that worked less than the law's hours today."""

    kind: ClassVar[str] = "work_minimum_broken"
    day: int
    law: int
    hours: int
    agents: tuple[int, ...]

    @property
    def heading(self) -> str:
        return f"Law {self.law}: {len(self.agents)} agents worked less than {self.hours} h"

    @property
    def content(self) -> str:
        return ", ".join(f"#{agent}" for agent in self.agents)


@dataclass(frozen=True)
class Meal:
    """What one agent consumes in a day."""

    food: Amount
    energy: Amount


@dataclass(frozen=True)
class Consumed(Event):
    """`each` who was active and stays so paid that, the dormant `asleep`; `unfed` lacked it, with their evenings."""

    kind: ClassVar[str] = "consumed"
    day: int
    active: int
    dormant: int
    each: Meal
    asleep: Meal
    food: Amount
    energy: Amount
    unfed: dict[int, int]

    @property
    def heading(self) -> str:
        return f"The day costs {shown(self.food)} food and {shown(self.energy)} energy"

    @property
    def content(self) -> str:
        return f"Paid by {self.active} active and {self.dormant} dormant agents; {len(self.unfed)} could not pay."


@dataclass(frozen=True)
class FellDormant(Event):
    """`lacks` are the resources of which the agent had less than the day costs."""

    kind: ClassVar[str] = "fell_dormant"
    day: int
    agent: int
    lacks: tuple[Resource, ...]

    @property
    def heading(self) -> str:
        return f"Agent #{self.agent} falls dormant"

    @property
    def content(self) -> str:
        return f"It lacks {' and '.join(self.lacks)} for the day."


@dataclass(frozen=True)
class AgentWoke(Event):
    kind: ClassVar[str] = "woke"
    day: int
    agent: int

    @property
    def heading(self) -> str:
        return f"Agent #{self.agent} wakes"

    @property
    def content(self) -> str:
        return ""


@dataclass(frozen=True)
class AgentDied(Event):
    """`evenings` are those without enough, in a row."""

    kind: ClassVar[str] = "died"
    day: int
    agent: int
    evenings: int

    @property
    def heading(self) -> str:
        return f"Agent #{self.agent} dies"

    @property
    def content(self) -> str:
        return f"{self.evenings} evenings without enough food and energy."
