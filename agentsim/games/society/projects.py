"""Projects: structures that agents build together, and their state."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentsim.games.society.amounts import Amount
from agentsim.games.society.terms import Structure


@dataclass
class Project:
    """A structure under construction or built; `running` if it is built and its last upkeep was paid."""

    id: int
    what: Structure
    cost: Amount
    given: Amount = 0
    running: bool = False

    @property
    def missing(self) -> int:
        """The materials still needed, in hundredths; 0 if it is built."""
        return self.cost - self.given


@dataclass
class Projects:
    """All projects, by id from 1: those under construction, those built, and the number of each structure running."""

    building: dict[int, Project] = field(default_factory=dict)
    built: dict[int, Project] = field(default_factory=dict)
    running: dict[Structure, int] = field(default_factory=lambda: {"farm": 0, "generator": 0})

    def begin(self, what: Structure, cost: int) -> Project:
        """Add a project; one that costs nothing is built at once."""
        project = Project(len(self.building) + len(self.built) + 1, what, cost)
        (self.building if cost else self.built)[project.id] = project
        return project

    def put(self, project: Project, materials: int) -> None:
        """Add materials to a project, at most the missing ones; the last of them complete it."""
        assert 0 < materials <= project.missing, "a project takes what it needs"
        project.given += materials
        if not project.missing:
            self.built[project.id] = self.building.pop(project.id)

    def run(self, project: Project, *, running: bool) -> None:
        """Set whether a built project is running."""
        self.running[project.what] += running - project.running
        project.running = running

    def missing(self, project: int) -> int:
        """Return the materials that a project still needs, or 0 if it is not under construction."""
        return self.building[project].missing if project in self.building else 0
