"""The value of proposals to each personality, and the proposals that each makes.

The scale of values is arbitrary: above 0 an agent would vote yes, below 0 no.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from agentsim.engine.chance import Stream
from agentsim.engine.wording import counted
from agentsim.games.society.amounts import number, share
from agentsim.games.society.assembly import Law
from agentsim.games.society.bots.needs import NEEDS, lasting
from agentsim.games.society.bots.words import asks_for
from agentsim.games.society.config import Personality
from agentsim.games.society.requests import Act
from agentsim.games.society.terms import (
    MOST_NAMED,
    Allocation,
    Build,
    Dividend,
    Repeal,
    Resource,
    Tax,
    Term,
    WorkMinimum,
)
from agentsim.games.society.voting import CreateProposal

_TERMS = ("tax", "dividend", "dormant", "allocation", "work_minimum", "voting_rule", "build", "")
"""The keys of values: the kinds of terms, `dormant` for dividends to dormant agents, "" for no terms.

The value of a repeal is the opposite of that of the law.
"""
_WORTH: Mapping[Personality, Mapping[str, float]] = {
    "efficiency": dict(zip(_TERMS, (-1, -1, 1, -2, 2, 0, 3, 0), strict=True)),
    "equality": dict(zip(_TERMS, (2, 3, 3, 2, -1, -1, 1, 1), strict=True)),
    "freedom": dict(zip(_TERMS, (-3, 1, 1, -1, -4, 1, 1, -1), strict=True)),
    "stability": dict(zip(_TERMS, (1, 0, 2, -1, 1, 2, 1, 1), strict=True)),
    "neutral": dict(zip(_TERMS, (-0.5, 1, 1, 0, -0.5, 0, 1, 0), strict=True)),
}
SHORT_DAYS = 3  # an agent whose food or energy lasts for less values terms that bring more
NEED = 3.0  # the value of that
_WHY: Mapping[str, str] = {
    "tax": "The tax decides it: who keeps what work makes?",
    "dividend": "The dividend decides it: who gets what all hold together?",
    "allocation": "It spends what all hold together on a few.",
    "work_minimum": "It tells others how long to work.",
    "repeal": "The law it ends decides it.",
    "voting_rule": "It changes how we decide.",
    "build": "Building pays later and costs now.",
}


def opinion(request: Act, personality: Personality, terms: Sequence[Term]) -> float:
    """Return the value of these terms to the agent in its present state; a proposal without terms has its own value."""
    return sum(_worth(request, personality, term) for term in terms) if terms else _WORTH[personality][""]


def reason(request: Act, personality: Personality, terms: Sequence[Term]) -> str:
    """Return a sentence on the term with the largest absolute value to the agent."""
    if not terms:
        return "Words, which bind nobody."
    return _WHY[max(terms, key=lambda term: abs(_worth(request, personality, term))).kind]


def _worth(request: Act, personality: Personality, term: Term) -> float:
    worth = _WORTH[personality]
    match term:
        case Tax():
            return worth["tax"] * (1 + term.percent / 50)
        case Dividend():
            needy = term.to == "all" and term.resource != "materials" and lasting(request, term.resource) < SHORT_DAYS
            return worth["dormant" if term.to == "dormant" else "dividend"] + NEED * needy
        case Allocation():
            return worth["allocation"] + NEED * (request.you.agent in term.agents)
        case WorkMinimum():
            return worth["work_minimum"] * (1 + term.hours / 8)
        case Build():
            return worth["build"] - NEED * (not _can_be_kept_up(request))
        case Repeal():  # the opposite of the law's value; a law that is not shown is unknown
            ended = next((law.terms for law in request.world.laws if law.id == term.law), ())
            standing = [each for each in ended if not isinstance(each, Repeal)]
            return -opinion(request, personality, standing) if standing else -0.5
        case _:
            return worth[term.kind]


def _can_be_kept_up(request: Act) -> bool:
    """Return whether the pool has land for one more structure, and materials for ten days of the upkeep of all."""
    pool, rules = request.world.pool, request.rules
    upkeep = max(rules.farm_upkeep, rules.generator_upkeep) * (_structures(request) + len(request.world.projects) + 1)
    return pool["land"] >= rules.project_land and pool["materials"] >= 10 * upkeep


def _structures(request: Act) -> int:
    """Return the number of built structures."""
    return sum(request.world.running.values()) + request.world.paused


# -- proposals

Draft: TypeAlias = Mapping[str, Any]
"""A proposal as the JSON object of a reply."""


def proposal(request: Act, personality: Personality, rng: Stream) -> CreateProposal | None:
    """Return a proposal that fits the personality and is neither open nor in force, or None if there is none.

    A neutral agent takes a random personality's proposal.
    """
    by = personality if personality != "neutral" else rng.pick(tuple(_DRAFTS))
    world, you, rules = request.world, request.you, request.rules
    known = {each.title for each in (*world.proposals, *you.proposals)} | {
        law.title for law in (*world.laws, *you.laws)
    }
    drafts = [draft for draft in _DRAFTS[by](request) if draft["title"] not in known]
    draft = rng.pick(drafts) if drafts else None
    if draft is None or len(draft["title"]) > rules.title_chars or len(draft["description"]) > rules.description_chars:
        return None
    return CreateProposal.model_validate(draft)


def _draft(type_: str, title: str, description: str, *terms: Mapping[str, Any]) -> Draft:
    return {"proposal_type": type_, "title": title, "description": description, "terms": terms}


def _tax(resource: Resource, percent: int) -> Mapping[str, Any]:
    return {"kind": "tax", "resource": resource, "percent": percent}


def _dividend(resource: Resource, amount: int, to: str) -> Mapping[str, Any]:
    return {"kind": "dividend", "resource": resource, "amount": number(amount), "to": to}


def _rule(threshold: int, quorum: int) -> Mapping[str, Any]:
    return {"kind": "voting_rule", "threshold": threshold, "quorum": quorum}


def _end(law: Law, why: str) -> Draft:
    return _draft("rule", f"End law {law.id}", f"On {law.title!r}: {why}", {"kind": "repeal", "law": law.id})


def _efficiency(request: Act) -> Iterator[Draft]:
    rules, world = request.rules, request.world
    if world.pool["land"] >= rules.project_land and not world.projects:
        what = "farm" if world.running["farm"] <= world.running["generator"] else "generator"
        title = f"Build {what}, structure {_structures(request) + 1}"
        yield _draft("infrastructure", title, "It repays its materials.", {"kind": "build", "what": what})
    hours = min(2, rules.hours_per_day)
    least = {"kind": "work_minimum", "hours": hours}
    yield _draft("rule", f"At least {counted(hours, 'hour')} a day", "Who can work should.", least)
    for law in world.laws:
        if law.author and any(term.kind == "tax" for term in law.terms):
            yield _end(law, "Taxes make work worth less.")


def _equality(request: Act) -> Iterator[Draft]:
    rules, world = request.rules, request.world
    for resource in NEEDS:
        if part := share(rules.of("daily", resource), 1, 4):
            why = f"All who make {resource} give a tenth, and all get the same."
            terms = (_tax(resource, 10), _dividend(resource, part, "all"))
            yield _draft("law", f"A share of {resource} for all", why, *terms)
    for resource in NEEDS if world.dormant else ():
        if need := rules.of("wake", resource):
            title = f"Wake the sleeping: {resource}"
            yield _draft("law", title, "Nobody is left behind.", _dividend(resource, need, "dormant"))
    for resource in NEEDS:  # from the pool, for agents that asked for help
        amount = rules.of("wake", resource)
        callers = sorted({post.author for post in request.world.posts if asks_for(post.text) == resource})[:MOST_NAMED]
        if callers and amount and world.pool[resource] >= amount * len(callers):
            paid = {"kind": "allocation", "resource": resource, "amount": number(amount), "agents": callers}
            yield _draft("allocation", f"Help with {resource}, day {world.day}", "They asked, and we have it.", paid)


def _freedom(request: Act) -> Iterator[Draft]:
    world = request.world
    for law in world.laws:
        if opinion(request, "freedom", law.terms) < -1:
            yield _end(law, "It takes more than it gives.")
    if world.standing.threshold < 66:
        why = "Who would bind all should convince most."
        yield _draft("rule", "Two thirds to bind all", why, _rule(66, world.standing.quorum))
    yield _draft("other", "An open hand", "Let whoever has plenty give of its own will.")


def _stability(request: Act) -> Iterator[Draft]:
    rules, world = request.rules, request.world
    quorum = max(1, rules.agents // 10)
    if world.standing.quorum < quorum:
        yield _draft(
            "rule", "A tenth must vote", "A few should not decide for all.", _rule(world.standing.threshold, quorum)
        )
    yield _draft("law", "Materials for upkeep", "What we built has to stand.", _tax("materials", 20))
    if world.dormant and rules.wake_food:
        reserve = _dividend("food", max(1, share(rules.wake_food, 1, 2)), "dormant")
        yield _draft("law", "A reserve for the sleeping", "It costs little and keeps us many.", reserve)
    yield _draft("law", "A week in store", "Let everybody keep food and energy for a week.")


_DRAFTS: Mapping[Personality, Callable[[Act], Iterator[Draft]]] = {
    "efficiency": _efficiency,
    "equality": _equality,
    "freedom": _freedom,
    "stability": _stability,
}
