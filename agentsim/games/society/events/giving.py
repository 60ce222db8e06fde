"""Giving: what agents hand over of their own, to each other, to the pool and to projects."""

from __future__ import annotations

from collections.abc import Iterator

from agentsim.engine.event import FOR, Event, Interaction, Past
from agentsim.engine.template import If
from agentsim.games.society.amounts import Amount, number
from agentsim.games.society.events.life import SocietyBegan
from agentsim.games.society.terms import Resource


class Traded(
    Event,
    heading=("Agent #{agent} gives {amount} {resource} to ", If("recipient", "agent #{recipient}", "the common pool")),
    content="",
):
    """`recipient` 0 is the common pool."""

    day: int
    agent: int
    recipient: int
    resource: Resource
    amount: Amount

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if (began := past.last(SocietyBegan)) is not None:
            who, whom = began.player(self.agent), began.player(self.recipient)
            yield Interaction(who, whom, f"gave {self.resource}", FOR, number(self.amount))


class Contributed(
    Event,
    heading="Agent #{agent} gives {amount} materials to project {project}",
    content="{given} of {cost} materials.",
):
    """`amount` is what was taken, at most what was missing; `given` of `cost` is what the project has now."""

    day: int
    agent: int
    project: int
    amount: Amount
    given: Amount
    cost: Amount
