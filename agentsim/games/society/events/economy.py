"""Economy: every amount that is made, paid, used up or missing; what agents give is `giving`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from agentsim.engine.event import Event
from agentsim.engine.template import If, Worded
from agentsim.games.society.actions import WorkType
from agentsim.games.society.amounts import Amount, shown
from agentsim.games.society.terms import Resource, Structure

Agent: TypeAlias = Annotated[int, Worded("#{}".format)]


class Worked(
    Event,
    heading="Agent #{agent} works {hours} h ({work})",
    content=("{made} {resource}", If("taxed", ", {taxed} of it for the pool"), "; {energy} energy spent."),
):
    """`made` is all that the work made, `taxed` the part of it that went to the pool, `energy` what it used up."""

    day: int
    agent: int
    work: WorkType
    hours: int
    resource: Resource
    made: Amount
    taxed: Amount
    energy: Amount


class ProjectBegan(
    Event,
    heading="Project {project} begins: a {what}",
    content="It needs {cost} materials and takes {land} land from the pool.",
):
    day: int
    project: int
    proposal: int
    what: Structure
    cost: Amount
    land: Amount


class ProjectBuilt(
    Event,
    heading="Project {project} is built: a {what}",
    content="It works from the evening on which its upkeep is first paid.",
):
    day: int
    project: int
    what: Structure


class UpkeepPaid(
    Event,
    heading="Upkeep: {running:#} running, {paused:#} paused",
    content="{materials} materials from the pool.",
):
    """Every built project is among `running` or `paused`; `materials` came from the pool."""

    day: int
    materials: Amount
    running: tuple[int, ...]
    paused: tuple[int, ...]


class AllocationPaid(
    Event,
    heading="Proposal {proposal} pays {total} {resource} from the pool",
    content=(If("paid", "{each}", "nobody"), ".", If("missing", " The pool lacked {missing}.")),
):
    """`paid` maps agents to what they got; `missing` is what the pool did not hold."""

    day: int
    proposal: int
    resource: Resource
    paid: dict[int, Amount]
    missing: Amount

    @property
    def total(self) -> str:
        """All that was paid."""
        return shown(sum(self.paid.values()))

    @property
    def each(self) -> tuple[str, ...]:
        """Who got how much."""
        return tuple(f"#{agent} {shown(amount)}" for agent, amount in self.paid.items())


class DividendPaid(
    Event,
    heading="Law {law} pays {amount} {resource} each to {agents:#} agents",
    content=If("missing", "The pool is empty: {missing} {resource} could not be paid.", "All were paid in full."),
):
    """`amount` to each of `agents`, but to the last one `last`; `missing` is what the pool did not hold for others."""

    day: int
    law: int
    resource: Resource
    amount: Amount
    agents: tuple[int, ...]
    last: Amount
    missing: Amount

    @property
    def paid(self) -> Iterator[tuple[int, int]]:
        """(agent, what it got) of each."""
        for agent in self.agents:
            yield agent, self.last if agent == self.agents[-1] else self.amount


class WorkMinimumBroken(Event, heading="Law {law}: {agents:#} agents worked less than {hours} h", content="{agents}"):
    """The active agents that worked less than the law's hours today."""

    day: int
    law: int
    hours: int
    agents: tuple[Agent, ...]


@dataclass(frozen=True)
class Meal:
    """What one agent consumes in a day."""

    food: Amount
    energy: Amount


class Consumed(
    Event,
    heading="The day costs {food} food and {energy} energy",
    content="Paid by {active} active and {dormant} dormant agents; {unfed:#} could not pay.",
):
    """`each` who was active and stays so paid that, the dormant `asleep`; `unfed` lacked it, with their evenings."""

    day: int
    active: int
    dormant: int
    each: Meal
    asleep: Meal
    food: Amount
    energy: Amount
    unfed: dict[int, int]


class FellDormant(Event, heading="Agent #{agent} falls dormant", content="It lacks {missing} for the day."):
    """`lacks` are the resources of which the agent had less than the day costs."""

    day: int
    agent: int
    lacks: tuple[Resource, ...]

    @property
    def missing(self) -> str:
        """The resources in words."""
        return " and ".join(self.lacks)


class AgentWoke(Event, kind="woke", heading="Agent #{agent} wakes", content=""):
    day: int
    agent: int


class AgentDied(
    Event, kind="died", heading="Agent #{agent} dies", content="{evenings} evenings without enough food and energy."
):
    """`evenings` are those without enough, in a row."""

    day: int
    agent: int
    evenings: int
