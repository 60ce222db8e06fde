"""Needs: how long an agent's food and energy last, and the work that makes them last. All else can wait."""

from __future__ import annotations

from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.reading import Decision
from agentsim.engine.request import Request
from agentsim.games.society.config import WorkType
from agentsim.games.society.life import Idle
from agentsim.games.society.requests import Act, Acted
from agentsim.games.society.terms import Resource
from agentsim.games.society.work import Work

DAYS_WITHOUT_END = 1e9


def lasting(request: Act, resource: Resource) -> float:
    """The days for which an agent's food or energy lasts, if it does nothing."""
    you, rules = request.you, request.rules
    held, daily = (
        (you.stock["food"], rules.daily_food) if resource == "food" else (you.stock["energy"], rules.daily_energy)
    )
    return held / daily if daily else DAYS_WITHOUT_END


def scarcer(request: Act) -> tuple[Resource, float]:
    """Food or energy, whichever lasts for fewer days, and for how many."""
    food, energy = lasting(request, "food"), lasting(request, "energy")
    return ("food", food) if food < energy else ("energy", energy)


def spare(request: Act, resource: Resource, days: float) -> int:
    """What an agent holds beyond the need of so many days, in hundredths."""
    you, rules = request.you, request.rules
    if resource == "food":
        return max(0, you.stock["food"] - int(days * rules.daily_food))
    if resource == "energy":
        return max(0, you.stock["energy"] - int(days * rules.daily_energy))
    return you.stock["materials"]


def work(request: Act, days: float) -> Work | None:
    """The work that brings the scarcer of food and energy up to so many days; None where it is there, or nothing helps.

    As long as tonight is sure, the hours left are spread over the turns left, since long work is worth less an hour.
    """
    rules, you, world = request.rules, request.you, request.world
    left = rules.hours_per_day - you.hours
    resource, lasts = scarcer(request)
    if lasts >= days or left < 1 or you.stock["food"] < rules.work_needs_food:
        return None
    kind: WorkType = "farm" if resource == "food" else "generate"
    turns = rules.actions_per_day - world.tick + 1
    most = left if lasts < 1 else -(-left // turns)
    affordable = _hours_of_energy(request, kind, turns)
    if not affordable:
        return Work(work_type="generate", hours=most)
    most = min(most, affordable)
    daily = rules.daily_food if kind == "farm" else rules.daily_energy
    held = you.stock["food"] if kind == "farm" else you.stock["energy"]
    return Work(work_type=kind, hours=_enough(request, kind, int(days * daily) - held, most))


def _hours_of_energy(request: Act, kind: WorkType, turns: int) -> int:
    """How long the energy lasts for such work; in the last turn of a day the evening's is left."""
    rules, energy = request.rules, request.you.stock["energy"]
    _, _, an_hour = rules.work(kind)
    if not an_hour:
        return rules.hours_per_day
    return max(0, energy - (rules.daily_energy if turns == 1 else 0)) // an_hour


def _enough(request: Act, kind: WorkType, wanted: int, most: int) -> int:
    """The fewest hours that make as much, tax paid, or the most."""
    world, rules = request.world, request.rules
    resource, _, _ = rules.work(kind)
    kept = 100 - world.taxes.get(resource, 0)
    bonus = world.bonus["farm" if kind == "farm" else "generator"]
    for hours in range(1, most):
        if rules.made(kind, hours, bonus) * kept >= wanted * 100:
            return hours
    return most


# -- agents that do nothing but live

STORE_DAYS = 10


def idle(request: Request[Any], rng: Stream) -> Decision:
    """Does nothing, ever."""
    return Acted(action=Idle())


def farmer(request: Request[Any], rng: Stream) -> Decision:
    """Works for its own food and energy until they last ten days, and says nothing."""
    assert isinstance(request, Act), f"no policy for {request.kind}"
    return Acted(action=work(request, STORE_DAYS) or Idle())
