"""Assembly: proposals, the votes on them, the laws they became, and what those laws come to.

Paying and telling is `laws`, the votes are `voting`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal, TypeAlias, TypeVar

from agentsim.games.society.terms import (
    RESOURCES,
    Dividend,
    ProposalType,
    Repeal,
    Resource,
    Tax,
    Term,
    VotingRule,
    WorkMinimum,
    once_only,
)

VoteCast: TypeAlias = Literal["yes", "no", "abstain"]
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
    """A proposal; it closes on the evening of day `closes`. `name` is what its author is called, where it is shown."""

    closes: int = 0
    name: str = ""
    counts: dict[VoteCast, int] = field(default_factory=lambda: {"yes": 0, "no": 0, "abstain": 0})
    votes: dict[int, VoteCast] = field(default_factory=dict)

    def cast(self, agent: int, vote: VoteCast) -> VoteCast | None:
        """Count an agent's vote in place of its earlier one, which is returned."""
        before = self.votes.get(agent)
        if before is not None:
            self.counts[before] -= 1
        self.votes[agent] = vote
        self.counts[vote] += 1
        return before


@dataclass(frozen=True)
class Law(_Motion):
    """A law in force since `day`; `author` 0 and `proposal` 0 where it was there from the first day."""

    proposal: int = 0

    @property
    def standing(self) -> tuple[Term, ...]:
        """The terms that hold as long as the law does: not those that are done once."""
        return tuple(term for term in self.terms if not once_only(term))


@dataclass(frozen=True, slots=True)
class Standing:
    """What the terms of all laws in force come to: percent of work that is taxed; dividends and hours by law.

    A proposal passes with more than `threshold` percent of yes and no, and as many votes as are `needed`: `quorum`, or
    `quorum_percent` of all who can vote. Where it is `entrenched`, a rule that is harder to meet has to be `consented`.
    """

    taxes: Mapping[Resource, int]
    dividends: tuple[tuple[int, Dividend], ...]
    minimums: Mapping[int, int]
    threshold: int
    quorum: int
    quorum_percent: int = 0
    entrenched: bool = False

    def needed(self, voters: int) -> int:
        """The votes that must be cast where so many agents can vote; entrenched, never more than there can be."""
        least = max(self.quorum, -(-self.quorum_percent * voters // 100))
        return min(least, voters) if self.entrenched else least

    def harder_than(self, other: Standing) -> bool:
        """Whether fewer proposals pass than by another rule."""
        return self.threshold > other.threshold or self.quorum > other.quorum

    @property
    def work_minimum(self) -> int:
        """Hours a day by the law that asks for most."""
        return max(self.minimums.values(), default=0)

    def passes(self, proposal: Proposal, voters: int) -> bool:
        """Whether the votes are enough where so many agents can vote."""
        yes, no = proposal.counts["yes"], proposal.counts["no"]
        return yes * 100 > self.threshold * (yes + no) and len(proposal.votes) >= self.needed(voters)

    def consented(self, proposal: Proposal, voters: int, living: int) -> bool:
        """Whether the votes are enough for this rule where each living agent that did not say yes counts as a no."""
        return proposal.counts["yes"] * 100 > self.threshold * living and len(proposal.votes) >= self.needed(voters)


@dataclass
class Assembly:
    """What is open to votes and what is in force, each by id, oldest first; ids count from 1 and are never reused.

    `rule` is what holds where there are no laws; `passed` counts the laws that came of votes, `by_author` and
    `laws_by` are the ids of what is open and in force.
    """

    rule: Standing
    open: dict[int, Proposal] = field(default_factory=dict)
    laws: dict[int, Law] = field(default_factory=dict)
    proposed: int = 0
    enacted: int = 0
    passed: int = 0
    by_author: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    laws_by: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    _standing: Standing | None = None

    def propose(self, proposal: Proposal) -> Proposal:
        """Open a proposal to votes, under the next id."""
        self.proposed += 1
        proposal = replace(proposal, id=self.proposed)
        self.open[proposal.id] = proposal
        self.by_author[proposal.author].append(proposal.id)
        return proposal

    def close(self, proposal: Proposal) -> None:
        """End the voting."""
        del self.open[proposal.id]
        self.by_author[proposal.author].remove(proposal.id)

    def enact(self, day: int, source: Proposal) -> Law:
        """Make a law of a proposal; one of id 0 was there from the beginning."""
        self.enacted += 1
        author, title, words = source.author, source.title, source.description
        law = Law(self.enacted, day, author, title, words, source.type, source.terms, source.id)
        self.laws[law.id] = law
        self.laws_by[law.author].append(law.id)
        self._standing = None
        return law

    def repeal(self, law: int) -> Law | None:
        """End a law; None where it is not in force."""
        gone = self.laws.pop(law, None)
        if gone is not None:
            self.laws_by[gone.author].remove(gone.id)
            self._standing = None
        return gone

    @property
    def standing(self) -> Standing:
        """What the laws in force come to, worked out when they have changed."""
        if self._standing is None:
            self._standing = _summed(self.laws.values(), self.rule)
        return self._standing

    def after(self, proposal: Proposal) -> Standing:
        """What the laws come to once the proposal has passed."""
        ended = {term.law for term in proposal.terms if isinstance(term, Repeal)}
        return _summed([*(law for law in self.laws.values() if law.id not in ended), proposal], self.rule)

    def check(self) -> Iterator[str]:
        """Every broken invariant, in words."""
        for proposal in self.open.values():
            if sum(proposal.counts.values()) != len(proposal.votes) or min(proposal.counts.values()) < 0:
                yield f"proposal {proposal.id} counts every vote once"
        for index, known in ((self.by_author, len(self.open)), (self.laws_by, len(self.laws))):
            if sum(map(len, index.values())) != known:
                yield "authors are known of all that is open or in force"


def _summed(laws: Iterable[_Motion], rule: Standing) -> Standing:
    """Taxes add up, to 100 at most; of a law's hours the most count, and of rules of voting the newest."""
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
                pass  # what happens once, when a proposal passes
    taxes = {resource: min(100, taxed[resource]) for resource in RESOURCES if taxed[resource]}
    return replace(rule, taxes=taxes, dividends=tuple(dividends), minimums=minimums)


def newest(entries: dict[K, V], count: int) -> dict[K, V]:
    """The last `count` of what is kept in order, oldest first."""
    return dict(list(islice(reversed(entries.items()), count))[::-1])
