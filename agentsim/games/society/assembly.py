"""Assembly: proposals, the votes on them, and the laws they became. What laws do is `government`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, TypeAlias

from agentsim.games.society.terms import ProposalType, Term

VoteCast: TypeAlias = Literal["yes", "no", "abstain"]


@dataclass
class Proposal:
    """A proposal; it closes on the evening of day `closes`."""

    id: int
    day: int
    author: int
    title: str
    description: str
    type: ProposalType
    terms: tuple[Term, ...]
    closes: int
    votes: dict[int, VoteCast] = field(default_factory=dict)
    counts: dict[VoteCast, int] = field(default_factory=lambda: {"yes": 0, "no": 0, "abstain": 0})

    def cast(self, agent: int, vote: VoteCast) -> VoteCast | None:
        """Count an agent's vote in place of its earlier one, which is returned."""
        before = self.votes.get(agent)
        if before is not None:
            self.counts[before] -= 1
        self.votes[agent] = vote
        self.counts[vote] += 1
        return before

    def passes(self, threshold: int, quorum: int) -> bool:
        """Whether more than `threshold` percent of yes and no are yes, and at least `quorum` votes were cast."""
        yes, no = self.counts["yes"], self.counts["no"]
        return yes * 100 > threshold * (yes + no) and len(self.votes) >= quorum


@dataclass(frozen=True, slots=True)
class Law:
    """A law in force; `author` 0 and `proposal` 0 where it was there from the first day."""

    id: int
    day: int
    author: int
    proposal: int
    title: str
    description: str
    type: ProposalType
    terms: tuple[Term, ...]


@dataclass
class Assembly:
    """What is open to votes and what is in force, each by id, oldest first; ids count from 1 and are never reused.

    `passed` counts the laws that came of votes.
    """

    open: dict[int, Proposal] = field(default_factory=dict)
    laws: dict[int, Law] = field(default_factory=dict)
    proposed: int = 0
    enacted: int = 0
    passed: int = 0
    by_author: dict[int, list[int]] = field(default_factory=dict)
    laws_by: dict[int, list[int]] = field(default_factory=dict)

    def propose(  # noqa: PLR0917 - as many parts as a proposal has
        self,
        day: int,
        author: int,
        title: str,
        description: str,
        type_: ProposalType,
        terms: tuple[Term, ...],
        closes: int,
    ) -> Proposal:
        """Open a proposal to votes."""
        self.proposed += 1
        proposal = Proposal(self.proposed, day, author, title, description, type_, terms, closes)
        self.open[proposal.id] = proposal
        self.by_author.setdefault(author, []).append(proposal.id)
        return proposal

    def due(self, day: int) -> list[Proposal]:
        """The proposals whose time is over on the evening of this day."""
        return [proposal for proposal in self.open.values() if proposal.closes <= day]

    def close(self, proposal: Proposal) -> None:
        """End the voting."""
        del self.open[proposal.id]
        self._drop(self.by_author, proposal.author, proposal.id)

    def enact(self, day: int, source: Proposal) -> Law:
        """Make a law of a proposal; one of id 0 was there from the beginning."""
        self.enacted += 1
        author, title, description = source.author, source.title, source.description
        law = Law(self.enacted, day, author, source.id, title, description, source.type, source.terms)
        self.laws[law.id] = law
        self.laws_by.setdefault(law.author, []).append(law.id)
        return law

    def repeal(self, law: int) -> Law | None:
        """End a law; None where it is not in force."""
        gone = self.laws.pop(law, None)
        if gone is not None:
            self._drop(self.laws_by, gone.author, gone.id)
        return gone

    @staticmethod
    def _drop(index: dict[int, list[int]], author: int, number: int) -> None:
        index[author].remove(number)
        if not index[author]:
            del index[author]

    def newest_open(self, count: int) -> list[Proposal]:
        """The newest open proposals, oldest first."""
        return list(islice(reversed(self.open.values()), count))[::-1]

    def newest_laws(self, count: int) -> list[Law]:
        """The newest laws in force, oldest first."""
        return list(islice(reversed(self.laws.values()), count))[::-1]

    def check(self) -> Iterator[str]:
        """Every broken invariant, in words."""
        for proposal in self.open.values():
            if sum(proposal.counts.values()) != len(proposal.votes) or min(proposal.counts.values()) < 0:
                yield f"proposal {proposal.id} counts every vote once"
        if _count(self.by_author.values()) != len(self.open) or _count(self.laws_by.values()) != len(self.laws):
            yield "authors are known of all that is open or in force"


def _count(lists: Iterable[Sequence[int]]) -> int:
    return sum(map(len, lists))
