"""Evening: what a day costs, falling dormant, waking and dying of it; how it is summed up, and when the game is over.

Also the action of doing nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from agentsim.engine import Event, Everyone, Outcome, Standing, Table, ranked
from agentsim.engine.wording import By, cut
from agentsim.games.society.amounts import Amount, number, shown
from agentsim.games.society.building import keep_up
from agentsim.games.society.config import Goal, Personality
from agentsim.games.society.founding import Totals, in_pool, totals
from agentsim.games.society.laws import name_idlers, pay_dividends
from agentsim.games.society.state import Citizen, State, Status
from agentsim.games.society.terms import RESOURCES, Resource
from agentsim.games.society.turn import Action, Daily, Deed, Turn, Why
from agentsim.games.society.voting import count_votes


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
    content="Paid by {active} active and {dormant:dormant agent}; {unfed:#} could not pay.",
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
    Deed,
    kind="died",
    heading="Agent #{agent} dies",
    content="{evenings:evening} without enough food and energy.",
    out=("agent",),
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


class Regrown(
    Daily,
    heading="The commons regrow by {regrown}",
    content="Work drew {harvest} from them; they hold {stock}.",
):
    """Food that work drew from the commons on a day, and what has grown again."""

    harvest: Amount
    regrown: Amount
    stock: Amount


class DayEnded(
    Daily,
    heading="Day {day} ends: {active} active, {dormant} dormant, {dead} dead",
    content="Agents hold {held}; the pool {pool}. {laws:law} in force.",
):
    """`totals` by resource; posts, messages, proposals, votes and invalid actions are those of the day."""

    active: int
    dormant: int
    dead: int
    totals: dict[str, Totals]
    gini: float
    posts: int
    messages: int
    proposals: int
    votes: int
    invalid: int
    laws: int

    @property
    def held(self) -> tuple[str, ...]:
        """What agents hold; land is not held."""
        return tuple(f"{shown(t.held)} {resource}" for resource, t in self.totals.items() if resource in RESOURCES)

    @property
    def pool(self) -> str:
        """What the common pool holds."""
        return in_pool(self.totals)


def pass_evening(table: Table, state: State) -> None:
    """End the day, in this order: proposals, upkeep, dividends, duties, consumption, commons."""
    count_votes(table, state)
    announce_woken(table, state)
    keep_up(table, state)
    pay_dividends(table, state)
    name_idlers(table, state)
    announce_woken(table, state)
    consume(table, state)
    if "commons" in state.pool:
        grown = state.regrow()
        table.tell(Regrown(state.day, state.drawn, grown, state.pool["commons"]), to=Everyone)
    state.yesterday = state.close_day()
    for citizen in state.citizens:
        citizen.worked = citizen.turns = 0
    measured: dict[str, Any] = {**state.counts, **state.today, "totals": totals(state), "gini": state.yesterday.gini}
    table.tell(DayEnded(state.day, **measured, laws=len(state.assembly.laws)), to=Everyone)
    state.today = dict.fromkeys(state.today, 0)


# -- the end


@dataclass(frozen=True)
class Result:
    """An agent's end; its rank is 0 where the scenario ranks no agent."""

    agent: int
    player: str
    name: str
    personality: Personality
    status: Status
    food: Amount
    energy: Amount
    materials: Amount
    wealth: Amount
    hours: int
    posts: int
    messages: int
    proposals: int
    votes: int
    breaches: int
    rank: int


class SocietyEnded(
    Daily,
    heading="The end, on day {day}: {reason}",
    content=(
        "{survival:.0%} of the agents are active, {participation:.0%} took part in votes; {laws:law} ",
        By("laws", {1: "was"}, "were"),
        " passed; the Gini coefficient of wealth is {gini:.2f}.",
    ),
):
    """`survival` is the share of agents that are active, `participation` of those that ever voted or proposed.

    `laws` are those that were passed; `results` are in rank order.
    """

    reason: str
    survival: float
    participation: float
    gini: float
    laws: int
    results: tuple[Result, ...]


_GOALS: Mapping[Goal, tuple[str, Callable[[State], bool]]] = {
    "first_law": ("the first law was passed", lambda state: state.assembly.passed > 0),
    "first_project": ("the first project was built", lambda state: bool(state.projects.built)),
    "first_dormancy": ("an agent fell dormant", lambda state: state.counts["active"] < len(state.citizens)),
    "first_death": ("an agent died", lambda state: state.counts["dead"] > 0),
}


def reason(state: State) -> str:
    """Why the game is over this evening, or "" where it goes on."""
    if not state.counts["active"]:
        return "nobody is awake"
    goal = _GOALS.get(state.config.until)
    if goal is not None and goal[1](state):
        return goal[0]
    return "all days are over" if state.day >= state.config.days else ""


def end(table: Table, state: State, why: str) -> Outcome:
    """Standings by what the config says, the most first; told with what became of the society and of every agent.

    Where the config ranks no agent, they stand in the order of their numbers.
    """
    by, count = state.config.rank_by, len(state.citizens)
    if by == "none":
        standings = tuple(Standing(each.player, None, _score(each)) for each in state.citizens)
    else:
        merits = ((each, each.wealth if by == "wealth" else each.stock[by]) for each in state.citizens)
        standings = ranked([(each.player, merit, _score(each)) for each, merit in merits])
    by_player = {citizen.player: citizen for citizen in state.citizens}
    ended = SocietyEnded(
        day=state.day,
        reason=why,
        survival=round(state.counts["active"] / count, 4),
        participation=round(sum(each.votes + each.proposals > 0 for each in state.citizens) / count, 4),
        gini=state.gini(),
        laws=state.assembly.passed,
        results=tuple(_result(by_player[standing.player], standing) for standing in standings),
    )
    table.tell(ended, to=Everyone)
    return Outcome(why, standings)


def _score(citizen: Citizen) -> Mapping[str, int | float]:
    held = {str(resource): number(amount) for resource, amount in citizen.stock.items()}
    return {"wealth": number(citizen.wealth), "active": int(citizen.status == "active"), **held}


def _result(citizen: Citizen, standing: Standing) -> Result:
    own: dict[str, Any] = vars(citizen) | dict(citizen.stock.items()) | {"agent": citizen.number}
    own |= {"wealth": citizen.wealth, "rank": standing.rank or 0}
    return Result(**{each.name: own[each.name] for each in fields(Result)})
