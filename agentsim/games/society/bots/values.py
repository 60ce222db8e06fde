"""Values: what the terms of a proposal are worth to each personality. Who proposes what is `proposing`.

The scale is arbitrary: above 0 an agent would vote yes, below 0 no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsim.games.society.bots.needs import lasting
from agentsim.games.society.config import Personality
from agentsim.games.society.requests import Act
from agentsim.games.society.terms import (
    Allocation,
    Build,
    Dividend,
    Repeal,
    Tax,
    Term,
    VotingRule,
    WorkMinimum,
)

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
