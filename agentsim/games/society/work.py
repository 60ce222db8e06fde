"""Work, which turns hours and energy into resources and is taxed, and gifts of resources."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from agentsim.engine.decision import whole
from agentsim.engine.event import FOR, InteractionRule
from agentsim.engine.wording import If, by_count, counted
from agentsim.games.society.amounts import Amount, share, shown
from agentsim.games.society.assembly import Positive, Resource
from agentsim.games.society.config import Conditions, WorkType
from agentsim.games.society.turn import Action, AgentEvent, Known, Turn


class Worked(
    AgentEvent,
    label="work",
    heading="Agent #{agent} works {hours} h ({work})",
    content=("{made} {resource}", If("taxed", ", {taxed} of it for the pool"), "; {energy} energy spent."),
    private=("agent",),
):
    """An agent works: `made` is the yield before tax, `taxed` the pool's part of it, `energy` the energy spent."""

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
        rules, stock, energy = known.rules, known.stock, known.rules.work(self.work_type)[2] * self.hours
        if self.hours > known.hours_left:
            are = by_count(known.hours_left, "is", "are")
            return f"only {known.hours_left} of {counted(rules.hours_per_day, 'hour')} {are} left today"
        if stock["food"] < rules.work_needs_food:
            return f"work needs {shown(rules.work_needs_food)} food, and you hold {shown(stock['food'])}"
        if stock["energy"] < energy:
            return f"it takes {shown(energy)} energy, and you hold {shown(stock['energy'])}"
        return ""

    def happen(self, turn: Turn) -> None:
        state, citizen, hours = turn.state, turn.citizen, self.hours
        resource, _, per_hour = turn.rules.work(self.work_type)
        energy, commons = per_hour * hours, state.pool.get("commons")
        there = Conditions(state.bonus(), citizen.skills, state.shock_percent, commons)
        made = turn.rules.made(self.work_type, hours, there)
        if self.work_type == "farm" and commons is not None:
            state.draw(made)
            state.harvest += made
        taxed = share(made, state.assembly.rules_in_force.taxes.get(resource, 0), 100)
        state.move("energy", energy, citizen, "spent")
        state.move(resource, taxed, "produced", "pool")
        state.move(resource, made - taxed, "produced", citizen)
        citizen.worked += hours
        citizen.hours += hours
        turn.tell_alone(Worked(turn.day, turn.agent, self.work_type, hours, resource, made, taxed, energy))


# -- gifts


class Traded(
    AgentEvent,
    label="gift",
    heading=("Agent #{agent} gives {amount} {resource} to ", If("recipient", "agent #{recipient}", "the common pool")),
    content="",
    private=("pair",),
    interactions=(InteractionRule("agent", "recipient", "gave {resource}", FOR, "amount"),),
):
    """An agent gives resources to another, or to the common pool, which is `recipient` 0."""

    recipient: int
    resource: Resource
    amount: Amount

    @property
    def pair(self) -> tuple[int, int] | None:
        """The giver and the recipient; None for a gift to the pool, which is public."""
        return (self.agent, self.recipient) if self.recipient else None


class Trade(Action):
    """A gift, to an agent or, with recipient 0, to the common pool."""

    action: Literal["trade"] = "trade"
    recipient_agent_id: Annotated[int, Field(ge=0), BeforeValidator(whole)]
    resource_type: Resource
    amount: Positive

    def why_not(self, known: Known) -> str:
        alone = known.no_company(self.recipient_agent_id) if self.recipient_agent_id else ""
        return alone or known.too_little(self.resource_type, self.amount)

    def happen(self, turn: Turn) -> None:
        to, resource, amount = self.recipient_agent_id, self.resource_type, self.amount
        traded = Traded(turn.day, turn.agent, to, resource, amount)
        other = turn.state.citizen(to) if to else None
        turn.state.move(resource, amount, turn.citizen, other or "pool")
        if other is None:
            turn.tell(traded)
        else:
            turn.tell_alone(traded, other)
