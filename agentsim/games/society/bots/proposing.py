"""Proposing: the proposals that each personality makes, each at its time. What they are worth to others is `values`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from agentsim.engine.chance import Stream
from agentsim.games.society.amounts import number, share
from agentsim.games.society.bots.values import opinion
from agentsim.games.society.bots.words import asks_for
from agentsim.games.society.config import Personality
from agentsim.games.society.requests import Act
from agentsim.games.society.terms import MOST_NAMED
from agentsim.games.society.voting import CreateProposal

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
