"""Construction: a passed proposal begins a project, agents contribute materials, and the pool pays for upkeep."""

from __future__ import annotations

from typing import Literal

from agentsim.engine import Event, Everyone, Table
from agentsim.games.society.amounts import Amount
from agentsim.games.society.assembly import Positive, Structure
from agentsim.games.society.state import Project, State
from agentsim.games.society.turn import Action, AgentEvent, Daily, Id, Known, Turn


class ProjectBegan(
    Daily,
    heading="Project {project} begins: a {what}",
    content="It needs {cost:material} and takes {land} land from the pool.",
):
    project: int
    proposal: int
    what: Structure
    cost: Amount
    land: Amount


class ProjectBuilt(
    Daily,
    heading="Project {project} is built: a {what}",
    content="It works from the evening on which its upkeep is first paid.",
):
    project: int
    what: Structure


class Contributed(
    AgentEvent,
    label="contribution",
    heading="Agent #{agent} gives {amount:material} to project {project}",
    content="{given} of {cost:material}.",
):
    """An agent contributes `amount`, at most the missing materials; the project now has `given` of `cost`."""

    project: int
    amount: Amount
    given: Amount
    cost: Amount


class UpkeepPaid(
    Daily, heading="Upkeep: {running:#} running, {paused:#} paused", content="{materials:material} from the pool."
):
    """The pool pays for upkeep with `materials`; every built project is in `running` or in `paused`."""

    materials: Amount
    running: tuple[int, ...]
    paused: tuple[int, ...]


def begin(state: State, proposal: int, what: Structure) -> list[Event]:
    """Begin a project and return its events, or an empty list if the pool lacks the land."""
    config = state.config
    if state.pool["land"] < config.project_land:
        return []
    state.pool["land"] -= config.project_land
    state.spent["land"] += config.project_land
    cost = config.farm_cost if what == "farm" else config.generator_cost
    project = state.projects.begin(what, cost)
    return [ProjectBegan(state.day, project.id, proposal, what, cost, config.project_land), *_built(state, project)]


def _built(state: State, project: Project) -> list[Event]:
    return [] if project.missing else [ProjectBuilt(state.day, project.id, project.what)]


class Contribute(Action):
    """A gift of materials to a project, which takes at most the missing ones."""

    action: Literal["contribute"] = "contribute"
    project_id: Id
    amount: Positive

    def why_not(self, known: Known) -> str:
        missing = known.missing(self.project_id)
        if not missing:
            return f"project {self.project_id} needs no materials"
        return known.too_little("materials", min(self.amount, missing))

    def happen(self, turn: Turn) -> None:
        state = turn.state
        project = state.projects.building[self.project_id]
        amount = min(self.amount, project.missing)
        state.move("materials", amount, turn.citizen, "spent")
        state.projects.put(project, amount)
        turn.tell(Contributed(turn.day, turn.agent, project.id, amount, project.given, project.cost))
        for event in _built(state, project):
            turn.table.tell(event, to=Everyone)


def keep_up(table: Table, state: State) -> None:
    """Pay the upkeep of built projects from the pool, in the order in which they were built.

    A project that the pool cannot pay for pauses until the next evening.
    """
    built, config, before = state.projects.built.values(), state.config, state.pool["materials"]
    for project in built:
        cost = config.farm_upkeep if project.what == "farm" else config.generator_upkeep
        runs = cost <= state.pool["materials"]
        state.move("materials", cost * runs, "pool", "spent")
        state.projects.run(project, running=runs)
    if built:
        running, paused = (tuple(each.id for each in built if each.running is runs) for runs in (True, False))
        table.tell(UpkeepPaid(state.day, before - state.pool["materials"], running, paused), to=Everyone)
