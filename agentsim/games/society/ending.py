"""Ending: when a society's game is over, and who stands where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentsim.engine.game import Standing, ranked
from agentsim.games.society.amounts import number
from agentsim.games.society.citizen import Citizen
from agentsim.games.society.config import Goal
from agentsim.games.society.events.life import Result, SocietyEnded
from agentsim.games.society.state import State

_GOALS: Mapping[Goal, tuple[str, Callable[[State, int], bool]]] = {
    "first_law": ("the first law was passed", lambda state, passed: passed > 0),
    "first_project": ("the first project was built", lambda state, passed: bool(state.projects.built)),
    "first_dormancy": ("an agent fell dormant", lambda state, passed: state.counts["active"] < len(state.citizens)),
    "first_death": ("an agent died", lambda state, passed: state.counts["dead"] > 0),
}


def reason(state: State, passed: int) -> str:
    """Why the game is over this evening, or "" where it goes on; `passed` are the laws that votes made."""
    if not state.counts["active"]:
        return "nobody is awake"
    goal = _GOALS.get(state.config.until)
    if goal is not None and goal[1](state, passed):
        return goal[0]
    return "all days are over" if state.day >= state.config.days else ""


def standings(state: State) -> tuple[Standing, ...]:
    """By what the config says, the most first; equal amounts, equal rank."""
    return ranked([(each.player, _merit(state, each), _score(each)) for each in state.citizens])


def _merit(state: State, citizen: Citizen) -> int:
    by = state.config.rank_by
    return citizen.wealth if by == "wealth" else citizen.stock[by]


def _score(citizen: Citizen) -> Mapping[str, int | float]:
    score = {"wealth": number(citizen.wealth), "active": int(citizen.status == "active")}
    return {**score, **{str(resource): number(amount) for resource, amount in citizen.stock.items()}}


def ended(state: State, why: str, passed: int, placed: Sequence[Standing]) -> SocietyEnded:
    """The last event: what became of the society, and of every agent."""
    by_player = {citizen.player: citizen for citizen in state.citizens}
    count = len(state.citizens)
    return SocietyEnded(
        day=state.day,
        reason=why,
        survival=round(state.counts["active"] / count, 4),
        participation=round(sum(citizen.took_part for citizen in state.citizens) / count, 4),
        gini=state.gini(),
        laws=passed,
        results=tuple(_result(by_player[standing.player], standing.rank) for standing in placed),
    )


def _result(citizen: Citizen, rank: int) -> Result:
    return Result(
        agent=citizen.number,
        player=citizen.player,
        name=citizen.name,
        personality=citizen.personality,
        status=citizen.status,
        **citizen.stock,
        wealth=citizen.wealth,
        hours=citizen.hours,
        posts=citizen.posts,
        messages=citizen.messages,
        proposals=citizen.proposals,
        votes=citizen.votes,
        breaches=citizen.breaches,
        rank=rank,
    )
