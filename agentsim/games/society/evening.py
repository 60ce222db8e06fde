"""The evening of a day: consumption, dormancy, waking and death, the summary of the day, and the end of the game.

The action `idle` is here too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Literal

from agentsim.engine import Event, Everyone, Outcome, Standing, Table, ranked
from agentsim.engine.wording import By, cut
from agentsim.games.society.amounts import Amount, number, shown
from agentsim.games.society.assembly import RESOURCES, Resource
from agentsim.games.society.building import keep_up
from agentsim.games.society.config import Goal, Personality
from agentsim.games.society.founding import Totals, in_pool, totals
from agentsim.games.society.state import Citizen, State, Status
from agentsim.games.society.turn import Action, AgentEvent, Daily, Turn, Why
from agentsim.games.society.voting import count_votes, name_idlers, pay_dividends
from agentsim.lazy import dataclass


class Idled(AgentEvent, label="idle turn", heading="Agent #{agent} does nothing", words="text", private=("agent",)):
    """An agent does nothing; it alone hears its reason."""

    text: str


class Idle(Action):
    action: Literal["idle"] = "idle"
    reasoning: Why = ""

    def happen(self, turn: Turn) -> None:
        turn.tell_alone(Idled(turn.day, turn.agent, cut(self.reasoning, turn.rules.post_chars)))


@dataclass(frozen=True)
class Meal:
    """The daily consumption of one agent."""

    food: Amount
    energy: Amount


class Consumed(
    Daily,
    label="consumption",
    heading="The day costs {food} food and {energy} energy",
    content="Paid by {active} active and {dormant:dormant agent}; {unfed:#} could not pay.",
):
    """The agents consume: the active ones `each`, the dormant ones `asleep`; `food` and `energy` are the sums.

    `unfed` are the dormant agents that lacked it, with their evenings without enough in a row.
    """

    active: int
    dormant: int
    each: Meal
    asleep: Meal
    food: Amount
    energy: Amount
    unfed: dict[int, int]


class FellDormant(AgentEvent, heading="Agent #{agent} falls dormant", content="It lacks {missing} for the day."):
    """An agent falls dormant; `lacks` are the resources of which it held less than the day costs."""

    lacks: tuple[Resource, ...]

    @property
    def missing(self) -> str:
        """The lacking resources, in words."""
        return " and ".join(self.lacks)


class AgentDied(
    AgentEvent,
    kind="died",
    label="death",
    heading="Agent #{agent} dies",
    content="{evenings:evening} without enough food and energy.",
    eliminates=("agent",),
):
    """An agent dies after so many `evenings` without enough in a row."""

    evenings: int


class AgentWoke(AgentEvent, kind="woke", label="waking", heading="Agent #{agent} wakes", content=""):
    """A dormant agent holds enough food and energy and is active again."""


def announce_woken(table: Table, state: State) -> None:
    """Tell all players which agents woke since the last call."""
    for citizen in state.woken:
        table.tell(AgentWoke(state.day, citizen.number), to=Everyone)
    state.woken.clear()


def consume(table: Table, state: State) -> None:
    """Let each living agent consume; if it lacks something, an active agent falls dormant, a dormant one starves.

    An agent that falls dormant this evening begins to starve on the next.
    """
    config, before = state.config, dict(state.consumed)
    each, dormant = Meal(config.daily_food, config.daily_energy), Meal(config.dormant_food, config.dormant_energy)
    meals = {"active": each, "dormant": dormant}
    paid = {"active": 0, "dormant": 0}
    unfed: dict[int, int] = {}
    fell_dormant: list[Event] = []
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
            fell_dormant.append(FellDormant(state.day, citizen.number, lacks))
        else:
            if state.starve(citizen):
                dead.append(AgentDied(state.day, citizen.number, citizen.starved))
            unfed[citizen.number] = citizen.starved
    food, energy = (state.consumed[resource] - before[resource] for resource in ("food", "energy"))
    consumed = Consumed(state.day, paid["active"], paid["dormant"], each, dormant, food, energy, unfed)
    for event in (consumed, *fell_dormant, *dead):
        table.tell(event, to=Everyone)


def _eat(state: State, citizen: Citizen, meal: Meal) -> tuple[Resource, ...]:
    """Consume food and energy, or nothing if either is too little; return the lacking resources."""
    needs: dict[Resource, int] = {"food": meal.food, "energy": meal.energy}
    lacks = tuple(resource for resource, need in needs.items() if citizen.stock[resource] < need)
    for resource, need in needs.items() if not lacks else ():
        state.move(resource, need, citizen, "consumed")
    return lacks


class Regrown(
    Daily,
    label="regrowth",
    heading="The commons regrow by {regrown}",
    content="Work drew {harvest} from them; they hold {stock}.",
):
    """The commons grow overnight: `harvest` is the food that work took today, `stock` what the commons now hold."""

    harvest: Amount
    regrown: Amount
    stock: Amount


class DayEnded(
    Daily,
    heading="Day {day} ends: {active} active, {dormant} dormant, {dead} dead",
    content="Agents hold {held}; the pool {pool}. {laws:law} in force.",
):
    """A day ends. Posts, messages, proposals, votes and invalid actions are those of the day; `laws` are in force."""

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
        """The stocks of agents, in words; agents hold no land."""
        return tuple(f"{shown(t.held)} {resource}" for resource, t in self.totals.items() if resource in RESOURCES)

    @property
    def pool(self) -> str:
        """The contents of the common pool, in words."""
        return in_pool(self.totals)


def pass_evening(table: Table, state: State) -> None:
    """End the day, in this order: votes, upkeep, dividends, work minimums, consumption, commons."""
    count_votes(table, state)
    announce_woken(table, state)
    keep_up(table, state)
    pay_dividends(table, state)
    name_idlers(table, state)
    announce_woken(table, state)
    consume(table, state)
    if "commons" in state.pool:
        grown = state.regrow()
        table.tell(Regrown(state.day, state.harvest, grown, state.pool["commons"]), to=Everyone)
        state.harvest = 0
    for citizen in state.citizens:
        citizen.worked = citizen.turns = 0
    measured: dict[str, Any] = {**state.counts, **state.today, "totals": totals(state), "gini": state.gini()}
    table.tell(DayEnded(state.day, **measured, laws=len(state.assembly.laws)), to=Everyone)
    state.today = dict.fromkeys(state.today, 0)


# -- the end


@dataclass(frozen=True)
class Result:
    """The result of one agent; `rank` is 0 if the scenario ranks no agent."""

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
        " passed.",
    ),
):
    """The game ends. `survival` is the share of agents that are active.

    `participation` is the share of agents that ever voted or proposed, `laws` the number of laws that votes passed;
    `results` are in the order of the standings.
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
    """Return the reason why the game ends this evening, or "" if it goes on."""
    if not state.counts["active"]:
        return "no agent is active"
    goal = _GOALS.get(state.config.until)
    if goal is not None and goal[1](state):
        return goal[0]
    return "all days are over" if state.day >= state.config.days else ""


def end(table: Table, state: State, why: str) -> Outcome:
    """Tell the end and return the outcome, with standings by `rank_by`, the most first.

    If `rank_by` is `none`, the agents have no rank and are in the order of their numbers.
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
