"""Projects: shared infrastructure, from the first contribution to the daily upkeep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentsim.games.society.terms import Structure


@dataclass
class Project:
    """A structure under construction, or built; `running` once it is built and its last upkeep was paid."""

    id: int
    proposal: int
    what: Structure
    cost: int
    given: int = 0
    running: bool = False

    @property
    def missing(self) -> int:
        """Materials to go."""
        return self.cost - self.given

    @property
    def built(self) -> bool:
        """Whether it is complete."""
        return self.given >= self.cost


@dataclass
class Projects:
    """All projects, by id from 1: those under construction, those built, and how many of each are running."""

    building: dict[int, Project] = field(default_factory=dict)
    built: dict[int, Project] = field(default_factory=dict)
    count: int = 0
    running: dict[Structure, int] = field(default_factory=lambda: {"farm": 0, "generator": 0})

    def begin(self, proposal: int, what: Structure, cost: int) -> Project:
        """Open a building site; one that costs nothing is complete at once."""
        self.count += 1
        project = Project(self.count, proposal, what, cost)
        (self.built if project.built else self.building)[project.id] = project
        return project

    def put(self, project: Project, materials: int) -> None:
        """Take materials into the building, at most what is missing."""
        assert 0 < materials <= project.missing, "a project takes what it needs"
        project.given += materials
        if project.built:
            del self.building[project.id]
            self.built[project.id] = project

    def run(self, project: Project, *, running: bool) -> None:
        """Let a built project work, or pause."""
        self.running[project.what] += running - project.running
        project.running = running

    def bonus(self, by: Mapping[Structure, int]) -> Mapping[Structure, int]:
        """Hundredths of work on top, by structure; effects add up."""
        return {what: self.running[what] * by[what] for what in by}
