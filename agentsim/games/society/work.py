"""Work: hours and energy become food, energy and materials, of which the pool gets what the law taxes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from agentsim.engine.event import Event
from agentsim.engine.number import whole
from agentsim.engine.template import If
from agentsim.games.society.amounts import Amount, share, shown
from agentsim.games.society.rules import WorkType, made_by
from agentsim.games.society.terms import Resource
from agentsim.games.society.turn import Action, Known, Turn


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


class Work(Action):
    action: Literal["work"] = "work"
    work_type: WorkType
    hours: Annotated[int, Field(ge=1, le=24), BeforeValidator(whole)]

    def why_not(self, known: Known) -> str:
        rules, energy = known.rules, known.rules.work(self.work_type)[2] * self.hours
        if self.hours > known.hours_left:
            return f"only {known.hours_left} of {rules.hours_per_day} hours are left today"
        if known.held("food") < rules.work_needs_food:
            return f"work needs {shown(rules.work_needs_food)} food, and you hold {shown(known.held('food'))}"
        if known.held("energy") < energy:
            return f"it takes {shown(energy)} energy, and you hold {shown(known.held('energy'))}"
        return ""

    def happen(self, turn: Turn) -> None:
        state, citizen, hours = turn.state, turn.citizen, self.hours
        resource, _, per_hour = turn.rules.work(self.work_type)
        energy, bonus = per_hour * hours, state.bonus()
        extra = {"food": bonus["farm"], "energy": bonus["generator"]}.get(resource, 0)
        made = made_by(turn.rules, self.work_type, hours, extra)
        taxed = share(made, state.government.tax(resource), 100)
        state.spend(citizen, "energy", energy)
        state.produce(citizen, resource, made, taxed)
        citizen.worked += hours
        citizen.hours += hours
        turn.tell_alone(Worked(turn.day, turn.agent, self.work_type, hours, resource, made, taxed, energy))
