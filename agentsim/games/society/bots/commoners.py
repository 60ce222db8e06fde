"""Commoners: three policies of the theory of common-pool resources: selfish, conditional, fair.

The share that can be kept up is what a constant escapement leaves (Reed 1979): all that the commons hold above half of
their capacity, where they grow most, in equal parts for all who are awake; below that, half of what grows in a day.
"""

from __future__ import annotations

from agentsim.engine import Stream
from agentsim.games.society.actions import Spoken
from agentsim.games.society.bots.needs import STORE_DAYS, farmer, lasting, scarcer
from agentsim.games.society.config import MADE, WorkType
from agentsim.games.society.evening import Idle
from agentsim.games.society.requests import Act
from agentsim.games.society.talk import ForumPost
from agentsim.games.society.terms import Tax
from agentsim.games.society.voting import Vote
from agentsim.games.society.work import Work

TRUST = 0.8
"""Of half the capacity: what the commons hold where others have taken no more than their share, but for chance."""
CALL = "The commons are overused. Let each of us take no more than a fair share again."
MOST_CALLERS = 40
"""Of so many awake, or fewer, a quarter must call for shares to be trusted again."""
NEED_DAYS = 2
"""For how long each of food and energy is to last before anything else is looked at."""


def selfish(request: Act, rng: Stream) -> Spoken:
    """Works all hours at what makes it richest, taxes paid, once it has food and energy for two days."""
    return _vote(request, yes=False) or _greedy(request)


def fair(request: Act, rng: Stream) -> Spoken:
    """Takes its share of what the commons can give for ever, and makes energy for ten days."""
    if "commons" not in request.world.pool:
        return farmer(request, rng)
    return _vote(request, yes=True) or _share(request, rng)


def conditional(request: Act, rng: Stream) -> Spoken:
    """Takes its share as long as the others did, by what the commons hold and held last evening; else all it can.

    Before it does, it calls on all to take their shares, where it can; and it goes on with its own where enough do.
    """
    if "commons" not in request.world.pool:
        return farmer(request, rng)
    if voted := _vote(request, yes=True):
        return voted
    if _trusts(request):
        return _share(request, rng)
    callers = {post.author for post in request.world.posts if post.day >= request.world.day - 1 and post.text == CALL}
    if request.rules.talk and request.you.agent not in callers:
        return ForumPost(content=CALL[: request.rules.post_chars])
    together = 4 * len(callers) >= min(request.world.active, MOST_CALLERS)
    return _share(request, rng) if together else _greedy(request)


def _trusts(request: Act) -> bool:
    day, left = request.world.yesterday, request.world.pool["commons"]
    if day is not None:
        left = min(left, day.commons - day.regrown)
    return left >= TRUST * request.rules.commons_capacity / 2


def _vote(request: Act, *, yes: bool) -> Vote | None:
    """On what taxes food, the one kind of law that keeps others from the commons; other proposals are left alone."""
    for proposal in request.world.proposals:
        limits = any(isinstance(term, Tax) and term.resource in {"food", "all"} for term in proposal.terms)
        if limits and proposal.id not in request.you.votes:
            return Vote(proposal_id=proposal.id, vote="yes" if yes else "no")
    return None


def _hours(request: Act) -> int:
    """Of those that are left today, this turn's part; 0 where it cannot work."""
    rules, you = request.rules, request.you
    turns = rules.actions_per_day - request.world.tick + 1
    return -(-(rules.hours_per_day - you.hours) // turns) if you.stock["food"] >= rules.work_needs_food else 0


def _gain(request: Act, kind: WorkType, hours: int) -> int:
    """What such work adds to its wealth, in ten-thousandths; what it cannot do adds nothing."""
    resource, _, energy = request.rules.work(kind)
    if energy * hours > request.you.stock["energy"]:
        return 0
    kept = 100 - request.world.standing.taxes.get(resource, 0)
    return request.rules.made(kind, hours, request.conditions) * kept - 100 * energy * hours


def _greedy(request: Act) -> Spoken:
    """What it is short of, if there is any to be made; else what pays best."""
    hours, (resource, lasts) = _hours(request), scarcer(request)
    needed: WorkType = "farm" if resource == "food" else "generate"
    paid = {kind: _gain(request, kind, hours) for kind in MADE} if hours else {}
    best = needed if lasts < NEED_DAYS and paid.get(needed, 0) > 0 else max(paid, key=paid.__getitem__, default=needed)
    return Work(work_type=best, hours=hours) if paid.get(best, 0) > 0 else Idle()


def _share(request: Act, rng: Stream) -> Spoken:
    """Farms for its share: where an hour makes more, now and then, and when it needs food. Else it makes energy."""
    rules, world, hours = request.rules, request.world, _hours(request)
    stock, capacity = world.pool["commons"], rules.commons_capacity
    growing = rules.commons_regrowth * stock * (capacity - stock) // (200 * capacity)
    whole = growing if 2 * stock < TRUST * capacity else max(0, stock - capacity // 2)
    mine = whole / world.active / (rules.actions_per_day - world.tick + 1)
    there = request.conditions
    fits = [each for each in range(1, hours + 1) if rules.made("farm", each, there) <= mine]
    if fits:
        return Work(work_type="farm", hours=fits[-1])
    least, hungry = rules.made("farm", 1, there), lasting(request, "food") < NEED_DAYS
    if hours and least and (hungry or rng.random() < mine / least):
        return Work(work_type="farm", hours=1)
    if hours and lasting(request, "energy") < STORE_DAYS:
        return Work(work_type="generate", hours=hours)
    return Idle()
