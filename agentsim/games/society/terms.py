"""Terms: the closed vocabulary in which a proposal can say what it does, so that it acts once it has passed.

Each term is one small record; what it does is `laws`. A proposal without terms is words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from agentsim.engine.number import whole
from agentsim.games.society.amounts import Amount, bounded, shown

Resource: TypeAlias = Literal["food", "energy", "materials"]
RESOURCES: tuple[Resource, ...] = get_args(Resource)
Structure: TypeAlias = Literal["farm", "generator"]
ProposalType: TypeAlias = Literal["law", "allocation", "rule", "infrastructure", "other"]

MOST_TERMS = 4
MOST_NAMED = 20


def _something(value: int) -> int:
    if value <= 0:
        raise ValueError("must be more than 0")
    return bounded(value)


Positive: TypeAlias = Annotated[Amount, AfterValidator(_something)]


class _Term(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Tax(_Term):
    """`percent` of what work makes of the resource goes to the pool; taxes on one resource add up, to 100 at most."""

    kind: Literal["tax"]
    resource: Literal["food", "energy", "materials", "all"]
    percent: Annotated[int, Field(ge=1, le=100), BeforeValidator(whole)]


class Dividend(_Term):
    """Every evening so much from the pool to each living agent, or to each dormant one."""

    kind: Literal["dividend"]
    resource: Resource
    amount: Positive
    to: Literal["all", "dormant"]


class Allocation(_Term):
    """Once, when it passes: so much from the pool to each of these agents."""

    kind: Literal["allocation"]
    resource: Resource
    amount: Positive
    agents: Annotated[
        tuple[Annotated[int, Field(ge=1), BeforeValidator(whole)], ...], Field(min_length=1, max_length=MOST_NAMED)
    ]


class WorkMinimum(_Term):
    """Hours that every active agent should work a day; who does not is named every evening, and nothing else."""

    kind: Literal["work_minimum"]
    hours: Annotated[int, Field(ge=1, le=24), BeforeValidator(whole)]


class Repeal(_Term):
    """The law of that number ends."""

    kind: Literal["repeal"]
    law: Annotated[int, Field(ge=1), BeforeValidator(whole)]


class VotingRule(_Term):
    """A proposal passes with more than `threshold` percent of yes and no for it, and at least `quorum` votes cast."""

    kind: Literal["voting_rule"]
    threshold: Annotated[int, Field(ge=50, le=99), BeforeValidator(whole)]
    quorum: Annotated[int, Field(ge=0), BeforeValidator(whole)]


class Build(_Term):
    """What an infrastructure proposal builds."""

    kind: Literal["build"]
    what: Structure


Term: TypeAlias = Annotated[
    Tax | Dividend | Allocation | WorkMinimum | Repeal | VotingRule | Build, Field(discriminator="kind")
]
Terms: TypeAlias = Annotated[tuple[Term, ...], Field(max_length=MOST_TERMS)]

_LAWFUL: tuple[type[_Term], ...] = (Tax, Dividend, Allocation, WorkMinimum, Repeal, VotingRule)
ALLOWED: Mapping[ProposalType, tuple[type[_Term], ...]] = {
    "law": _LAWFUL,
    "rule": _LAWFUL,
    "allocation": (Allocation,),
    "infrastructure": (Build,),
    "other": (),
}
"""The terms that a proposal of each type may carry."""


def kinds(type_: ProposalType) -> tuple[str, ...]:
    """The same by their names."""
    return tuple(get_args(term.model_fields["kind"].annotation)[0] for term in ALLOWED[type_])


def misfit(type_: ProposalType, terms: Sequence[Term], agents: int, hours: int) -> str:
    """Why a proposal of this type cannot carry these terms among so many agents, or "" where it can.

    `hours` are those of a day. Whether a law to be repealed is in force shows when the vote is over.
    """
    for term in terms:
        if not isinstance(term, ALLOWED[type_]):
            return f"a proposal of type {type_} cannot have the term {term.kind}"
        if isinstance(term, Allocation) and max(term.agents) > agents:
            return f"there is no agent #{max(term.agents)}"
        if isinstance(term, Allocation) and len(set(term.agents)) != len(term.agents):
            return "an allocation names every agent once"
        if isinstance(term, WorkMinimum) and term.hours > hours:
            return f"nobody can work more than {hours} hours a day"
        if isinstance(term, VotingRule) and term.quorum > agents:
            return f"there are only {agents} agents to vote"
    if type_ == "infrastructure" and len(terms) != 1:
        return 'an infrastructure proposal has one term: {"kind": "build", "what": "farm" or "generator"}'
    return ""


def in_words(term: Term) -> str:
    """What the term does, for a reader."""
    match term:
        case Tax():
            return f"tax: {term.percent}% of {'all' if term.resource == 'all' else term.resource} work"
        case Dividend():
            whom = "every agent" if term.to == "all" else "every dormant agent"
            return f"dividend: {shown(term.amount)} {term.resource} a day to {whom}"
        case Allocation():
            named = ", ".join(f"#{agent}" for agent in term.agents)
            return f"allocation: {shown(term.amount)} {term.resource} each to {named}"
        case WorkMinimum():
            return f"work minimum: {term.hours} h a day"
        case Repeal():
            return f"repeal of law {term.law}"
        case VotingRule():
            return f"voting rule: more than {term.threshold}% yes, {term.quorum} votes at least"
        case Build():
            return f"build: {term.what}"


def plain(terms: Sequence[Term]) -> list[dict[str, Any]]:
    """The terms as JSON values, as a proposal spells them."""
    return [term.model_dump(mode="json") for term in terms]
