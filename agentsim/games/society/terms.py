"""The terms of proposals: the closed vocabulary of effects, which `laws` carries out once a proposal has passed.

A proposal without terms is words alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from agentsim.engine.decision import whole
from agentsim.engine.wording import By, Template, Worded, counted, filled
from agentsim.games.society.amounts import Amount, bounded

Resource: TypeAlias = Literal["food", "energy", "materials"]
RESOURCES: tuple[Resource, ...] = get_args(Resource)
Structure: TypeAlias = Literal["farm", "generator"]
ProposalType: TypeAlias = Literal["law", "allocation", "rule", "infrastructure", "other"]
Agent: TypeAlias = Annotated[int, Worded("#{}".format)]

MOST_TERMS = 4
MOST_NAMED = 20


def _something(value: int) -> int:
    if value <= 0:
        raise ValueError("must be more than 0")
    return bounded(value)


Positive: TypeAlias = Annotated[Amount, AfterValidator(_something)]


_Named: TypeAlias = Annotated[Agent, Field(ge=1), BeforeValidator(whole)]


class _Term(BaseModel):
    """Base of the terms; `words` is a template that describes the effect."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)
    words: ClassVar[Template]

    def misfit(self, agents: int, hours: int) -> str:
        """Return the reason why the term cannot be used with this many agents and hours a day, or ""."""
        return ""


class Tax(_Term):
    """`percent` of what work makes of the resource goes to the pool; taxes on one resource add up, to 100 at most."""

    words = "tax: {percent}% of {resource} work"
    kind: Literal["tax"] = "tax"
    resource: Literal["food", "energy", "materials", "all"]
    percent: Annotated[int, Field(ge=1, le=100), BeforeValidator(whole)]


class Dividend(_Term):
    """Every evening so much from the pool to each living agent, or to each dormant one."""

    words = ("dividend: {amount} {resource} a day to every ", By("to", {"all": "agent"}, "dormant agent"))
    kind: Literal["dividend"] = "dividend"
    resource: Resource
    amount: Positive
    to: Literal["all", "dormant"]


class Allocation(_Term):
    """Once, when it passes: so much from the pool to each of these agents."""

    words = "allocation: {amount} {resource} each to {agents}"
    kind: Literal["allocation"] = "allocation"
    resource: Resource
    amount: Positive
    agents: Annotated[tuple[_Named, ...], Field(min_length=1, max_length=MOST_NAMED)]

    def misfit(self, agents: int, hours: int) -> str:
        if max(self.agents) > agents:
            return f"there is no agent #{max(self.agents)}"
        return "" if len(set(self.agents)) == len(self.agents) else "an allocation names every agent once"


class WorkMinimum(_Term):
    """Hours that every active agent should work a day; who does not is named every evening, and nothing else."""

    words = "work minimum: {hours} h a day"
    kind: Literal["work_minimum"] = "work_minimum"
    hours: Annotated[int, Field(ge=1, le=24), BeforeValidator(whole)]

    def misfit(self, agents: int, hours: int) -> str:
        return f"nobody can work more than {counted(hours, 'hour')} a day" if self.hours > hours else ""


class Repeal(_Term):
    """The law of that number ends."""

    words = "repeal of law {law}"
    kind: Literal["repeal"] = "repeal"
    law: Annotated[int, Field(ge=1), BeforeValidator(whole)]


class VotingRule(_Term):
    """A proposal passes with more than `threshold` percent of yes and no for it, and at least `quorum` votes cast."""

    words = (
        "voting rule: more than {threshold}% yes, ",
        By("quorum", {0: "however few vote", 1: "if at least 1 agent votes"}, "if at least {quorum} agents vote"),
    )
    kind: Literal["voting_rule"] = "voting_rule"
    threshold: Annotated[int, Field(ge=50, le=99), BeforeValidator(whole)]
    quorum: Annotated[int, Field(ge=0), BeforeValidator(whole)]

    def misfit(self, agents: int, hours: int) -> str:
        return f"there are only {counted(agents, 'agent')} to vote" if self.quorum > agents else ""


class Build(_Term):
    """What an infrastructure proposal builds."""

    words = "build: {what}"
    kind: Literal["build"] = "build"
    what: Structure


Term: TypeAlias = Annotated[
    Tax | Dividend | Allocation | WorkMinimum | Repeal | VotingRule | Build, Field(discriminator="kind")
]
Terms: TypeAlias = Annotated[tuple[Term, ...], Field(max_length=MOST_TERMS)]

_LAWFUL: tuple[type[_Term], ...] = (Tax, Dividend, Allocation, WorkMinimum, Repeal, VotingRule)
ALLOWED: Mapping[ProposalType, tuple[type[_Term], ...]] = {
    **dict.fromkeys(("law", "rule"), _LAWFUL),
    "allocation": (Allocation,),
    "infrastructure": (Build,),
    "other": (),
}
"""The terms that a proposal of each type may carry."""


def kinds(type_: ProposalType) -> tuple[str, ...]:
    """Return the kinds of terms that a proposal of this type may carry."""
    return tuple(term.model_fields["kind"].default for term in ALLOWED[type_])


def once_only(term: Term) -> bool:
    """Return whether the term has its whole effect when its proposal passes."""
    return isinstance(term, Allocation | Repeal)


def is_repeal(terms: Sequence[Term]) -> bool:
    """Return whether terms repeal laws and do nothing that lasts, so that what passes is no law in force."""
    return any(isinstance(term, Repeal) for term in terms) and all(map(once_only, terms))


def misfit(type_: ProposalType, terms: Sequence[Term], agents: int, hours: int) -> str:
    """Return the reason why a proposal of this type cannot have these terms, or "" if it can.

    `agents` is the number of agents, `hours` that of the working hours of a day. Repealing a law that is not in force
    is allowed here; `laws` notes it after the vote.
    """
    for term in terms:
        if not isinstance(term, ALLOWED[type_]):
            return f"a proposal of type {type_} cannot have the term {term.kind}"
        if problem := term.misfit(agents, hours):
            return problem
    if type_ == "infrastructure" and len(terms) > 1:
        return 'an infrastructure proposal has at most one term: {"kind": "build", "what": "farm" or "generator"}'
    return ""


def in_words(terms: Sequence[Term]) -> str:
    """Return the terms in words."""
    return "; ".join(filled(term.words, term) for term in terms)


def plain(terms: Sequence[Term]) -> list[dict[str, Any]]:
    """Return the terms as JSON values, as a proposal has them."""
    return [term.model_dump(mode="json") for term in terms]
