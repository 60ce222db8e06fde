"""The time for which an agent's food and energy last, and the work that extends it."""

from __future__ import annotations

from agentsim.engine import Stream
from agentsim.games.society.config import MADE, WorkType
from agentsim.games.society.evening import Idle
from agentsim.games.society.requests import Act
from agentsim.games.society.terms import Resource
from agentsim.games.society.work import Work

NEEDS: tuple[Resource, ...] = ("food", "energy")
STORE_DAYS = 10
DAYS_WITHOUT_END = 1e9


def lasting(request: Act, resource: Resource) -> float:
    """Return the number of days for which an agent's food or energy lasts if it does nothing."""
    daily = request.rules.daily_food if resource == "food" else request.rules.daily_energy
    return request.you.stock[resource] / daily if daily else DAYS_WITHOUT_END


def scarcer(request: Act) -> tuple[Resource, float]:
    """Return the resource of food and energy that lasts for fewer days, and the number of days."""
    food, energy = lasting(request, "food"), lasting(request, "energy")
    return ("food", food) if food < energy else ("energy", energy)


def spare(request: Act, resource: Resource, days: float) -> int:
    """Return the amount that an agent holds beyond its needs of so many days, in hundredths."""
    return max(0, request.you.stock[resource] - int(days * request.rules.of("daily", resource)))


def work(request: Act, days: float) -> Work | None:
    """Return work that raises the scarcer of food and energy to so many days, or None if it is enough or cannot work.

    If the stock lasts the evening, the hours left are spread over the turns left, since long work yields less an hour.
    """
    rules, stock, left = request.rules, request.you.stock, request.rules.hours_per_day - request.you.hours
    resource, lasts = scarcer(request)
    if lasts >= days or left < 1 or stock["food"] < rules.work_needs_food:
        return None
    kind: WorkType = "farm" if resource == "food" else "generate"
    turns = rules.actions_per_day - request.world.tick + 1
    most = left if lasts < 1 else -(-left // turns)
    an_hour = rules.work(kind)[2]
    kept = rules.daily_energy if turns == 1 else 0  # the last turn of a day leaves the energy of the evening
    affordable = max(0, stock["energy"] - kept) // an_hour if an_hour else rules.hours_per_day
    if not affordable:
        return Work(work_type="generate", hours=most)
    wanted = int(days * rules.of("daily", resource)) - stock[resource]
    return Work(work_type=kind, hours=_enough(request, kind, wanted, min(most, affordable)))


def _enough(request: Act, kind: WorkType, wanted: int, most: int) -> int:
    """Return the fewest hours that make the wanted amount after tax, or `most` if none do."""
    world = request.world
    kept, there = 100 - world.standing.taxes.get(MADE[kind], 0), request.conditions
    made = (hours for hours in range(1, most) if request.rules.made(kind, hours, there) * kept >= wanted * 100)
    return next(made, most)


def idle(request: Act, rng: Stream) -> Idle:
    """Do nothing, ever."""
    return Idle()


def farmer(request: Act, rng: Stream) -> Work | Idle:
    """Work for food and energy until they last ten days; never talk, vote or give."""
    return work(request, STORE_DAYS) or Idle()
