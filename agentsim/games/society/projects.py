"""Projects: what agents build together, from the first gift of materials to daily upkeep."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentsim.games.society.amounts import Amount
from agentsim.games.society.terms import Structure


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
