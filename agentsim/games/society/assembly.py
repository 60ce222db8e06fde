"""The assembly: terms of proposals, open proposals with their votes, laws in force, and the rules that these add up to.

Terms are a closed vocabulary of effects, which `voting` carries out once a proposal has passed. A proposal without
terms is words alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from agentsim.engine.decision import whole
from agentsim.engine.wording import By, Template, Worded, counted, filled
from agentsim.games.society.amounts import Amount, bounded
from agentsim.lazy import dataclass

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
        return f"no agent can work more than {counted(hours, 'hour')} a day" if self.hours > hours else ""


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


def terms_in_words(terms: Sequence[Term]) -> str:
    return "; ".join(filled(term.words, term) for term in terms)


def plain(terms: Sequence[Term]) -> list[dict[str, Any]]:
    """Return the terms as JSON values, as a proposal has them."""
    return [term.model_dump(mode="json") for term in terms]


# -- proposals and laws


Ballot: TypeAlias = Literal["yes", "no", "abstain"]
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class _Motion:
    id: int
    day: int
    author: int
    title: str
    description: str
    type: ProposalType
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Proposal(_Motion):
    """A proposal that closes on the evening of day `closes`.

    `name` is the name of its author, set in views only. `votes` are by agent, `counts` their numbers.
    """

    closes: int = 0
    name: str = ""
    counts: dict[Ballot, int] = field(default_factory=lambda: {"yes": 0, "no": 0, "abstain": 0})
    votes: dict[int, Ballot] = field(default_factory=dict)

    def cast(self, agent: int, vote: Ballot) -> Ballot | None:
        """Count an agent's vote in place of its earlier one, and return the earlier vote or None."""
        before = self.votes.get(agent)
        if before is not None:
            self.counts[before] -= 1
        self.votes[agent] = vote
        self.counts[vote] += 1
        return before


@dataclass(frozen=True)
class Law(_Motion):
    """A law in force since `day`; `author` and `proposal` are 0 for a law of the first day."""

    proposal: int = 0

    @property
    def standing_terms(self) -> tuple[Term, ...]:
        """The standing terms, which hold as long as the law does: all but those with a single effect."""
        return tuple(term for term in self.terms if not once_only(term))


@dataclass(frozen=True, slots=True)
class RulesInForce:
    """The sum of all laws in force: taxes in percent, dividends, work minimums, the voting rule.

    Taxes are by resource, dividends and work minimums by law.

    A proposal passes with more than `threshold` percent of yes among yes and no, if at least `needed` votes are cast:
    the larger of `quorum` and `quorum_percent` of the agents that can vote. If the rule is `entrenched`, a rule that is
    harder to meet must be `consented`.
    """

    taxes: Mapping[Resource, int]
    dividends: tuple[tuple[int, Dividend], ...]
    minimums: Mapping[int, int]
    threshold: int
    quorum: int
    quorum_percent: int = 0
    entrenched: bool = False

    def needed(self, voters: int) -> int:
        """Return the least number of votes for so many voters; if entrenched, it is at most the number of voters."""
        least = max(self.quorum, -(-self.quorum_percent * voters // 100))
        return min(least, voters) if self.entrenched else least

    def harder_than(self, other: RulesInForce) -> bool:
        """Return whether the threshold or the quorum is higher than that of another rule."""
        return self.threshold > other.threshold or self.quorum > other.quorum

    @property
    def work_minimum(self) -> int:
        """The largest minimum of hours a day of any law, or 0."""
        return max(self.minimums.values(), default=0)

    def passes(self, proposal: Proposal, voters: int) -> bool:
        """Return whether a proposal has enough votes if so many agents can vote."""
        yes, no = proposal.counts["yes"], proposal.counts["no"]
        return yes * 100 > self.threshold * (yes + no) and len(proposal.votes) >= self.needed(voters)

    def consented(self, proposal: Proposal, voters: int, living: int) -> bool:
        """Return whether a proposal has enough votes if each living agent without a yes counts as a no."""
        return proposal.counts["yes"] * 100 > self.threshold * living and len(proposal.votes) >= self.needed(voters)


@dataclass
class Assembly:
    """The open proposals and the laws in force, each by id, oldest first; ids count from 1 and are never reused.

    `rule` holds if there are no laws. `proposed` and `enacted` are the last ids, `passed` counts the laws that votes
    made. `by_author` and `laws_by` are the ids of open proposals and of laws in force, by author.
    """

    rule: RulesInForce
    open: dict[int, Proposal] = field(default_factory=dict)
    laws: dict[int, Law] = field(default_factory=dict)
    proposed: int = 0
    enacted: int = 0
    passed: int = 0
    by_author: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    laws_by: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    _rules_in_force: RulesInForce | None = None

    def propose(self, proposal: Proposal) -> Proposal:
        """Open a proposal to votes, under the next id."""
        self.proposed += 1
        proposal = replace(proposal, id=self.proposed)
        self.open[proposal.id] = proposal
        self.by_author[proposal.author].append(proposal.id)
        return proposal

    def close(self, proposal: Proposal) -> None:
        """Remove a proposal from the open ones."""
        del self.open[proposal.id]
        self.by_author[proposal.author].remove(proposal.id)

    def enact(self, day: int, source: Proposal) -> Law:
        """Add the law of a proposal; a law of the first day has a proposal of id 0."""
        self.enacted += 1
        author, title, words = source.author, source.title, source.description
        law = Law(self.enacted, day, author, title, words, source.type, source.terms, source.id)
        self.laws[law.id] = law
        self.laws_by[law.author].append(law.id)
        self._rules_in_force = None
        return law

    def repeal(self, law: int) -> Law | None:
        """End a law and return it, or None if it is not in force."""
        ended = self.laws.pop(law, None)
        if ended is not None:
            self.laws_by[ended.author].remove(ended.id)
            self._rules_in_force = None
        return ended

    @property
    def rules_in_force(self) -> RulesInForce:
        """The sum of the laws in force, cached until they change."""
        if self._rules_in_force is None:
            self._rules_in_force = _summed(self.laws.values(), self.rule)
        return self._rules_in_force

    def after(self, proposal: Proposal) -> RulesInForce:
        """Return the sum of the laws in force if the proposal passes."""
        ended = {term.law for term in proposal.terms if isinstance(term, Repeal)}
        return _summed([*(law for law in self.laws.values() if law.id not in ended), proposal], self.rule)


def _summed(laws: Iterable[_Motion], rule: RulesInForce) -> RulesInForce:
    """Return the sum of laws: taxes add up, to 100 at most; the newest voting rule holds.

    Of several work minimums in one law, the largest counts.
    """
    taxed: Counter[Resource] = Counter()
    dividends: list[tuple[int, Dividend]] = []
    minimums: dict[int, int] = {}
    for law, term in ((each, term) for each in laws for term in each.terms):
        match term:
            case Tax():
                taxed.update({resource: term.percent for resource in RESOURCES if term.resource in {"all", resource}})
            case Dividend():
                dividends.append((law.id, term))
            case WorkMinimum():
                minimums[law.id] = max(minimums.get(law.id, 0), term.hours)
            case VotingRule():
                rule = replace(rule, threshold=term.threshold, quorum=term.quorum)
            case _:
                pass  # terms with a single effect, when the proposal passes
    taxes = {resource: min(100, taxed[resource]) for resource in RESOURCES if taxed[resource]}
    return replace(rule, taxes=taxes, dividends=tuple(dividends), minimums=minimums)


def newest(entries: dict[K, V], count: int) -> dict[K, V]:
    """Return the last `count` entries of a dictionary, oldest first."""
    return dict(list(islice(reversed(entries.items()), count))[::-1])
