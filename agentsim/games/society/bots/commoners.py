"""Three policies of the theory of common-pool resources: selfish, conditional and fair.

The sustainable harvest is that of constant escapement (Reed 1979): the stock above half of the capacity, at which
growth is largest, in equal shares for all active agents. Below `TRUST` x half of the capacity it is half of a day's
growth.
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
"""The part of half the capacity that the commons hold, but for chance, if all agents take at most their shares."""
CALL = "The commons are overused. Let each of us take no more than a fair share again."
MOST_CALLERS = 40
"""A quarter of the active agents, or of this many if there are more, must call before shares are trusted again."""
NEED_DAYS = 2
"""The days for which food and energy must last before the agent considers anything else."""


def selfish(request: Act, rng: Stream) -> Spoken:
    """Work all hours at the kind of work that pays best after taxes, once food and energy last two days."""
    return _vote(request, yes=False) or _greedy(request)


def fair(request: Act, rng: Stream) -> Spoken:
    """Take a share of the sustainable harvest, and make energy for ten days."""
    if "commons" not in request.world.pool:
        return farmer(request, rng)
    return _vote(request, yes=True) or _share(request, rng)


def conditional(request: Act, rng: Stream) -> Spoken:
    """Take a share as long as the others did, judged by the stock of the commons now and before last night's growth.

    Otherwise the agent calls on all to take shares, if it can talk; then it takes its share if enough agents call, and
    else all that it can.
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
    grown, left = request.world.regrown, request.world.pool["commons"]
    if grown is not None:
        left = min(left, grown.stock - grown.regrown)
    return left >= TRUST * request.rules.commons_capacity / 2


def _vote(request: Act, *, yes: bool) -> Vote | None:
    """Return a vote on a proposal that taxes food, the one kind of law that limits the harvest, or None."""
    for proposal in request.world.proposals:
        limits = any(isinstance(term, Tax) and term.resource in {"food", "all"} for term in proposal.terms)
        if limits and proposal.id not in request.you.votes:
            return Vote(proposal_id=proposal.id, vote="yes" if yes else "no")
    return None


def _hours(request: Act) -> int:
    """Return this turn's part of the hours that are left today, or 0 if the agent cannot work."""
    rules, you = request.rules, request.you
    turns = rules.actions_per_day - request.world.tick + 1
    return -(-(rules.hours_per_day - you.hours) // turns) if you.stock["food"] >= rules.work_needs_food else 0


def _gain(request: Act, kind: WorkType, hours: int) -> int:
    """Return the gain in wealth by this work, in ten-thousandths, or 0 if the agent lacks the energy."""
    resource, _, energy = request.rules.work(kind)
    if energy * hours > request.you.stock["energy"]:
        return 0
    kept = 100 - request.world.standing.taxes.get(resource, 0)
    return request.rules.made(kind, hours, request.conditions) * kept - 100 * energy * hours


def _greedy(request: Act) -> Spoken:
    """Return work on the resource that the agent is short of, or else on the one that pays best."""
    hours, (resource, lasts) = _hours(request), scarcer(request)
    needed: WorkType = "farm" if resource == "food" else "generate"
    paid = {kind: _gain(request, kind, hours) for kind in MADE} if hours else {}
    best = needed if lasts < NEED_DAYS and paid.get(needed, 0) > 0 else max(paid, key=paid.__getitem__, default=needed)
    return Work(work_type=best, hours=hours) if paid.get(best, 0) > 0 else Idle()


def _share(request: Act, rng: Stream) -> Spoken:
    """Farm up to the agent's share, or make energy.

    If one hour yields more than the share, it is worked with the matching probability, or if the agent is short of
    food.
    """
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
