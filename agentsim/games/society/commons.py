"""Commons: what all use together: projects, from first gift to daily upkeep, and the offers and promises of exchange.

The forum is `forum`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from agentsim.games.society.amounts import Amount
from agentsim.games.society.terms import Resource, Structure


@dataclass
class Project:
    """A structure under construction, or built; `running` once it is built and its last upkeep was paid."""

    id: int
    what: Structure
    cost: Amount
    given: Amount = 0
    running: bool = False

    @property
    def missing(self) -> int:
        """Materials to go; 0 once it is built."""
        return self.cost - self.given


@dataclass
class Projects:
    """All projects, by id from 1: those under construction, those built, and how many of each are running."""

    building: dict[int, Project] = field(default_factory=dict)
    built: dict[int, Project] = field(default_factory=dict)
    running: dict[Structure, int] = field(default_factory=lambda: {"farm": 0, "generator": 0})

    def begin(self, what: Structure, cost: int) -> Project:
        """Open a building site; one that costs nothing is complete at once."""
        project = Project(len(self.building) + len(self.built) + 1, what, cost)
        (self.building if cost else self.built)[project.id] = project
        return project

    def put(self, project: Project, materials: int) -> None:
        """Take materials into the building, at most what is missing."""
        assert 0 < materials <= project.missing, "a project takes what it needs"
        project.given += materials
        if not project.missing:
            self.built[project.id] = self.building.pop(project.id)

    def run(self, project: Project, *, running: bool) -> None:
        """Let a built project work, or pause."""
        self.running[project.what] += running - project.running
        project.running = running

    def missing(self, project: int) -> int:
        """The materials that a project needs; 0 of one that is not being built."""
        return self.building[project].missing if project in self.building else 0


@dataclass(frozen=True, slots=True)
class Offer:
    """`amount` of `gives` for `price` of `wants`, by agent `by` to agent `to` or, where that is 0, to any one.

    It closes on the evening of day `closes`. Of what `later` says, `mine` or `theirs`, delivery is promised for the
    evening that many `days` after the acceptance; the rest is handed over then.
    """

    id: int
    by: int
    to: int
    gives: Resource
    amount: Amount
    wants: Resource
    price: Amount
    later: Literal["none", "mine", "theirs"]
    days: int
    closes: int


@dataclass
class Promise:
    """What agent `by` is to give agent `to` by the evening of day `due`, of which it has `given` so much.

    It has the number of the offer that it came of; all know of it where the offer was `public`.
    """

    id: int
    by: int
    to: int
    resource: Resource
    amount: Amount
    due: int
    public: bool
    given: Amount = 0


B = TypeVar("B", Offer, Promise)


@dataclass
class Between(Generic[B]):
    """Offers or promises by number, and by each of their two agents."""

    all: dict[int, B] = field(default_factory=dict)
    by_agent: defaultdict[int, dict[int, B]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, each: B) -> None:
        """Open one."""
        for kept in self._kept(each):
            kept[each.id] = each

    def end(self, each: B) -> None:
        """It is open no more."""
        for kept in self._kept(each):
            del kept[each.id]

    def _kept(self, each: B) -> tuple[dict[int, B], ...]:
        return self.all, self.by_agent[each.by], self.by_agent[each.to]


@dataclass
class Bargains:
    """Open offers, whose numbers count from 1 to `offered`, and open promises, which have their offers' numbers."""

    offered: int = 0
    offers: Between[Offer] = field(default_factory=Between)
    promises: Between[Promise] = field(default_factory=Between)

    def delivered(self, by: int, to: int, resource: Resource, amount: int) -> list[Promise]:
        """Count a gift towards what was promised, the earliest due first; the promises that are kept by it."""
        given = self.promises.by_agent.get(by, {}).values()
        mine = [each for each in given if (each.by, each.to, each.resource) == (by, to, resource)]
        kept: list[Promise] = []
        for promise in sorted(mine, key=lambda each: (each.due, each.id)):
            part = min(amount, promise.amount - promise.given)
            promise.given, amount = promise.given + part, amount - part
            if promise.given == promise.amount:
                self.promises.end(promise)
                kept.append(promise)
        return kept
