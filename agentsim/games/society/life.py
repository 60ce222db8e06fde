"""Life: what a day costs, and falling dormant, waking and dying of it. Also the action of doing nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentsim.engine import Event, Everyone, Table
from agentsim.engine.wording import cut
from agentsim.games.society.amounts import Amount
from agentsim.games.society.state import Citizen, State
from agentsim.games.society.terms import Resource
from agentsim.games.society.turn import Action, Daily, Deed, Turn, Why


class Idled(Deed, heading="Agent #{agent} does nothing", words="text", private=("agent",)):
    """An agent does nothing; it alone hears its reasons."""

    text: str


class Idle(Action):
    action: Literal["idle"] = "idle"
    reasoning: Why = ""

    def happen(self, turn: Turn) -> None:
        turn.tell_alone(Idled(turn.day, turn.agent, cut(self.reasoning, turn.rules.post_chars)))


@dataclass(frozen=True)
class Meal:
    """What one agent consumes in a day."""

    food: Amount
    energy: Amount


class Consumed(
    Daily,
    heading="The day costs {food} food and {energy} energy",
    content="Paid by {active} active and {dormant} dormant agents; {unfed:#} could not pay.",
):
    """`each` who was active and stays so paid that, the dormant `asleep`; `unfed` lacked it, with their evenings."""

    active: int
    dormant: int
    each: Meal
    asleep: Meal
    food: Amount
    energy: Amount
    unfed: dict[int, int]


class FellDormant(Deed, heading="Agent #{agent} falls dormant", content="It lacks {missing} for the day."):
    """`lacks` are the resources of which the agent had less than the day costs."""

    lacks: tuple[Resource, ...]

    @property
    def missing(self) -> str:
        """The resources in words."""
        return " and ".join(self.lacks)


class AgentDied(
    Deed, kind="died", heading="Agent #{agent} dies", content="{evenings} evenings without enough food and energy."
):
    """`evenings` are those without enough, in a row."""

    evenings: int


class AgentWoke(Deed, kind="woke", heading="Agent #{agent} wakes", content=""):
    """It holds enough food and energy again."""


def announce_woken(table: Table, state: State) -> None:
    """Tell all who woke since this was last done."""
    for woken in state.awakened:
        table.tell(AgentWoke(state.day, woken.number), to=Everyone)
    state.awakened.clear()


def consume(table: Table, state: State) -> None:
    """Who was awake pays or falls dormant; who slept pays if it can, or starves.

    No agent pays both: one that falls dormant this evening begins to starve on the next.
    """
    config, before = state.config, dict(state.consumed)
    each, asleep = Meal(config.daily_food, config.daily_energy), Meal(config.dormant_food, config.dormant_energy)
    meals = {"active": each, "dormant": asleep}
    paid = {"active": 0, "dormant": 0}
    unfed: dict[int, int] = {}
    fallen: list[Event] = []
    dead: list[Event] = []
    for citizen in state.citizens:
        if citizen.status == "dead":
            continue
        lacks = _eat(state, citizen, meals[citizen.status])
        if not lacks:
            paid[citizen.status] += 1
            citizen.starved = 0
        elif citizen.status == "active":
            state.fall_dormant(citizen, lacks)
            fallen.append(FellDormant(state.day, citizen.number, lacks))
        else:
            if state.starve(citizen):
                dead.append(AgentDied(state.day, citizen.number, citizen.starved))
            unfed[citizen.number] = citizen.starved
    food, energy = (state.consumed[resource] - before[resource] for resource in ("food", "energy"))
    consumed = Consumed(state.day, paid["active"], paid["dormant"], each, asleep, food, energy, unfed)
    for event in (consumed, *fallen, *dead):
        table.tell(event, to=Everyone)


def _eat(state: State, citizen: Citizen, meal: Meal) -> tuple[Resource, ...]:
    """Consume both, or nothing; what there was too little of."""
    needs: dict[Resource, int] = {"food": meal.food, "energy": meal.energy}
    lacks = tuple(resource for resource, need in needs.items() if citizen.stock[resource] < need)
    for resource, need in needs.items() if not lacks else ():
        state.move(resource, need, citizen, "consumed")
    return lacks
