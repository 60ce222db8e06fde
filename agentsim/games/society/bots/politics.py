"""Politics: what the terms of a proposal are worth to each personality, and what each proposes at its time.

The scale is arbitrary: above 0 an agent would vote yes, below 0 no.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from agentsim.engine.chance import Stream
from agentsim.games.society.amounts import number, share
from agentsim.games.society.bots.needs import lasting
from agentsim.games.society.bots.words import asks_for
from agentsim.games.society.config import Personality
from agentsim.games.society.requests import Act
from agentsim.games.society.terms import (
    MOST_NAMED,
    Allocation,
    Build,
    Dividend,
    Repeal,
    Tax,
    Term,
    VotingRule,
    WorkMinimum,
)
from agentsim.games.society.voting import CreateProposal

_TERMS = ("tax", "dividend", "asleep", "allocation", "work_minimum", "voting_rule", "build", "")
"""What is valued: the kinds of terms, `asleep` for dividends to dormant agents, "" for a proposal without any."""
_WORTH: Mapping[Personality, Mapping[str, float]] = {
    "efficiency": dict(zip(_TERMS, (-1, -1, 1, -2, 2, 0, 3, 0), strict=True)),
    "equality": dict(zip(_TERMS, (2, 3, 3, 2, -1, -1, 1, 1), strict=True)),
    "freedom": dict(zip(_TERMS, (-3, 1, 1, -1, -4, 1, 1, -1), strict=True)),
    "stability": dict(zip(_TERMS, (1, 0, 2, -1, 1, 2, 1, 1), strict=True)),
    "neutral": dict(zip(_TERMS, (-0.5, 1, 1, 0, -0.5, 0, 1, 0), strict=True)),
}
SHORT_DAYS = 3  # of food or energy: with less, an agent welcomes what brings more
NEED = 3.0  # what that is worth to it


def opinion(request: Act, personality: Personality, terms: Sequence[Term]) -> float:
    """What these terms together are worth to one agent as things stand; words alone have a small worth of their own."""
    if not terms:
        return _WORTH[personality][""]
    return sum(_worth(request, personality, term) for term in terms)


def reason(request: Act, personality: Personality, terms: Sequence[Term]) -> str:
    """The term that matters most to it, named for a reader."""
    if not terms:
        return "Words, which bind nobody."
    weighty = max(terms, key=lambda term: abs(_worth(request, personality, term)))
    return _WHY[weighty.kind]


_WHY: Mapping[str, str] = {
    "tax": "The tax decides it: who keeps what work makes?",
    "dividend": "The dividend decides it: who gets what all hold together?",
    "allocation": "It spends what all hold together on a few.",
    "work_minimum": "It tells others how long to work.",
    "repeal": "The law it ends decides it.",
    "voting_rule": "It changes how we decide.",
    "build": "Building pays later and costs now.",
}


def _worth(request: Act, personality: Personality, term: Term) -> float:
    worth, you = _WORTH[personality], request.you
    match term:
        case Tax():
            return worth["tax"] * (1 + term.percent / 50)
        case Dividend():
            needy = term.to == "all" and term.resource != "materials" and lasting(request, term.resource) < SHORT_DAYS
            return worth["asleep" if term.to == "dormant" else "dividend"] + NEED * needy
        case Allocation():
            return worth["allocation"] + NEED * (you.agent in term.agents)
        case WorkMinimum():
            return worth["work_minimum"] * (1 + term.hours / 8)
        case VotingRule():
            return worth["voting_rule"]
        case Build():
            return worth["build"] - NEED * (not _can_be_kept_up(request))
        case Repeal():
            return _repeal(request, personality, term)


def _repeal(request: Act, personality: Personality, term: Repeal) -> float:
    """The opposite of what the law is worth; a law that is not shown is left alone."""
    for law in request.world.laws:
        if law.id == term.law:
            lasting_terms = [each for each in law.terms if not isinstance(each, Repeal)]
            return -opinion(request, personality, lasting_terms) if lasting_terms else -0.5
    return -0.5


def _can_be_kept_up(request: Act) -> bool:
    """Whether the pool has land, and materials for ten days of one more structure's upkeep."""
    pool, rules = request.world.pool, request.rules
    standing = sum(request.world.running.values()) + request.world.paused + len(request.world.projects) + 1
    upkeep = max(rules.farm_upkeep, rules.generator_upkeep) * standing
    return pool["land"] >= rules.project_land and pool["materials"] >= 10 * upkeep


# -- proposals

Draft: TypeAlias = tuple[str, str, str, list[dict[str, Any]]]
"""Type, title, description, terms."""


def proposal(request: Act, personality: Personality, rng: Stream) -> CreateProposal | None:
    """One that fits these values and is neither open nor in force already; None where there is nothing to propose."""
    by = personality if personality != "neutral" else rng.pick(tuple(_DRAFTS))
    known = _known(request)
    drafts = [draft for draft in _DRAFTS[by](request) if draft[1] not in known]
    if not drafts:
        return None
    type_, title, description, terms = rng.pick(drafts)
    rules = request.rules
    if len(title) > rules.title_chars or len(description) > rules.description_chars:
        return None
    spelt = {"title": title, "description": description, "proposal_type": type_, "terms": terms}
    return CreateProposal.model_validate(spelt)


def _known(request: Act) -> set[str]:
    """The titles of what is open or in force, as far as it is shown."""
    world, you = request.world, request.you
    proposals = {each.title for each in (*world.proposals, *you.proposals)}
    return proposals | {each.title for each in (*world.laws, *you.laws)}


def _efficiency(request: Act) -> Iterator[Draft]:
    rules, world = request.rules, request.world
    if world.pool["land"] >= rules.project_land and not world.projects:
        number_of = sum(world.running.values()) + world.paused + 1
        what = "farm" if world.running["farm"] <= world.running["generator"] else "generator"
        title = f"Build {what}, structure {number_of}"
        yield "infrastructure", title, "It repays its materials.", [{"kind": "build", "what": what}]
    hours = min(2, rules.hours_per_day)
    yield "rule", f"At least {hours} hours a day", "Who can work should.", [{"kind": "work_minimum", "hours": hours}]
    for law in world.laws:
        if law.author and any(term.kind == "tax" for term in law.terms):
            yield _end(law.id, law.title, "Taxes make work worth less.")


def _equality(request: Act) -> Iterator[Draft]:
    rules, world = request.rules, request.world
    for resource, daily in (("food", rules.daily_food), ("energy", rules.daily_energy)):
        part = share(daily, 1, 4)
        if not part:
            continue
        title = f"A share of {resource} for all"
        terms: list[dict[str, Any]] = [
            {"kind": "tax", "resource": resource, "percent": 10},
            {"kind": "dividend", "resource": resource, "amount": number(part), "to": "all"},
        ]
        yield "law", title, f"All who make {resource} give a tenth, and all get the same.", terms
    if world.dormant:
        for resource, need in (("food", rules.wake_food), ("energy", rules.wake_energy)):
            if need:
                terms = [{"kind": "dividend", "resource": resource, "amount": number(need), "to": "dormant"}]
                yield "law", f"Wake the sleeping: {resource}", "Nobody is left behind.", terms
    yield from _relief(request)


def _relief(request: Act) -> Iterator[Draft]:
    """The pool for those who said that they are in need."""
    rules, world = request.rules, request.world
    for resource, amount in (("food", rules.wake_food), ("energy", rules.wake_energy)):
        callers = sorted({post.author for post in world.posts if asks_for(post.text) == resource})[:MOST_NAMED]
        if callers and amount and world.pool[resource] >= amount * len(callers):
            terms: list[dict[str, Any]] = [
                {"kind": "allocation", "resource": resource, "amount": number(amount), "agents": callers}
            ]
            yield "allocation", f"Help with {resource}, day {world.day}", "They asked, and we have it.", terms


def _freedom(request: Act) -> Iterator[Draft]:
    world = request.world
    for law in world.laws:
        if opinion(request, "freedom", law.terms) < -1:
            yield _end(law.id, law.title, "It takes more than it gives.")
    if world.threshold < 66:
        rule = {"kind": "voting_rule", "threshold": 66, "quorum": world.quorum}
        yield "rule", "Two thirds to bind all", "Who would bind all should convince most.", [rule]
    yield "other", "An open hand", "Let whoever has plenty give of its own will.", []


def _stability(request: Act) -> Iterator[Draft]:
    rules, world = request.rules, request.world
    quorum = max(1, rules.agents // 10)
    if world.quorum < quorum:
        rule = {"kind": "voting_rule", "threshold": world.threshold, "quorum": quorum}
        yield "rule", "A tenth must vote", "A few should not decide for all.", [rule]
    yield (
        "law",
        "Materials for upkeep",
        "What we built has to stand.",
        [{"kind": "tax", "resource": "materials", "percent": 20}],
    )
    if world.dormant and rules.wake_food:
        part = share(rules.wake_food, 1, 2)
        terms = [{"kind": "dividend", "resource": "food", "amount": number(max(1, part)), "to": "dormant"}]
        yield "law", "A reserve for the sleeping", "It costs little and keeps us many.", terms
    yield "law", "A week in store", "Let everybody keep food and energy for a week.", []


def _end(law: int, title: str, why: str) -> Draft:
    return "rule", f"End law {law}", f"On {title!r}: {why}", [{"kind": "repeal", "law": law}]


_DRAFTS: Mapping[Personality, Callable[[Act], Iterator[Draft]]] = {
    "efficiency": _efficiency,
    "equality": _equality,
    "freedom": _freedom,
    "stability": _stability,
}
