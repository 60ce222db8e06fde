"""Giving: what agents hand over of their own, to each other, to the pool and to projects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import FOR, Event, Interaction, Past
from agentsim.games.society.amounts import Amount, number, shown
from agentsim.games.society.events.life import SocietyBegan
from agentsim.games.society.terms import Resource

__all__ = ["Contributed", "Traded"]


@dataclass(frozen=True)
class Traded(Event):
    """`recipient` 0 is the common pool."""

    kind: ClassVar[str] = "traded"
    day: int
    agent: int
    recipient: int
    resource: Resource
    amount: Amount

    @property
    def heading(self) -> str:
        whom = f"agent #{self.recipient}" if self.recipient else "the common pool"
        return f"Agent #{self.agent} gives {shown(self.amount)} {self.resource} to {whom}"

    @property
    def content(self) -> str:
        return ""

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if (began := past.last(SocietyBegan)) is not None:
            who, whom = began.player(self.agent), began.player(self.recipient)
            yield Interaction(who, whom, f"gave {self.resource}", FOR, number(self.amount))


@dataclass(frozen=True)
class Contributed(Event):
    """`amount` is what was taken, at most what was missing; `given` of `cost` is what the project has now."""

    kind: ClassVar[str] = "contributed"
    day: int
    agent: int
    project: int
    amount: Amount
    given: Amount
    cost: Amount

    @property
    def heading(self) -> str:
        return f"Agent #{self.agent} gives {shown(self.amount)} materials to project {self.project}"

    @property
    def content(self) -> str:
        return f"{shown(self.given)} of {shown(self.cost)} materials."
