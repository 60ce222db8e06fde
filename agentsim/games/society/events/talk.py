"""Talk: what agents say, propose, vote and are called; what comes of proposals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from agentsim.engine.event import AGAINST, FOR, NAMED, NEITHER, Event, Interaction, Past, Sign
from agentsim.games.society.actions import VoteCast
from agentsim.games.society.events.life import SocietyBegan
from agentsim.games.society.terms import ProposalType, Terms, in_words

__all__ = ["LawEnacted", "LawRepealed", "MessageSent", "Posted", "ProposalResolved", "Proposed", "Renamed", "Voted"]

_SIGNS: dict[VoteCast, Sign] = {"yes": FOR, "no": AGAINST, "abstain": NEITHER}


@dataclass(frozen=True)
class Posted(Event):
    """`parent` is the post that this one replies to; `mentions` are agents named by number."""

    kind: ClassVar[str] = "posted"
    words: ClassVar[str] = "text"
    day: int
    post: int
    agent: int
    parent: int | None
    mentions: tuple[int, ...]
    text: str

    @property
    def heading(self) -> str:
        reply = "" if self.parent is None else f", a reply to {self.parent}"
        return f"Agent #{self.agent}: post {self.post}{reply}"

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if (began := past.last(SocietyBegan)) is None:
            return
        who = began.player(self.agent)
        answered = None if self.parent is None else past.last(Posted, post=self.parent)
        if answered is not None:
            yield Interaction(who, began.player(answered.agent), "replied to")
        for agent in self.mentions:
            yield Interaction(who, began.player(agent), NAMED)


@dataclass(frozen=True)
class MessageSent(Event):
    """A direct message: its two agents alone hear it."""

    kind: ClassVar[str] = "message"
    words: ClassVar[str] = "text"
    day: int
    agent: int
    recipient: int
    text: str

    @property
    def heading(self) -> str:
        return f"Agent #{self.agent} to agent #{self.recipient}"

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if (began := past.last(SocietyBegan)) is not None:
            yield Interaction(began.player(self.agent), began.player(self.recipient), "wrote to")


@dataclass(frozen=True)
class Proposed(Event):
    """`closes` is the day on whose evening the votes are counted."""

    kind: ClassVar[str] = "proposed"
    words: ClassVar[str] = "description"
    day: int
    proposal: int
    agent: int
    type: ProposalType
    title: str
    terms: Terms
    closes: int
    description: str

    @property
    def heading(self) -> str:
        return f"Agent #{self.agent} proposes {self.type} {self.proposal}: {self.title}"


@dataclass(frozen=True)
class Voted(Event):
    """`before` is the vote that this one takes the place of; the counts are those afterwards."""

    kind: ClassVar[str] = "voted"
    day: int
    proposal: int
    agent: int
    vote: VoteCast
    before: VoteCast | None
    yes: int
    no: int
    abstain: int

    @property
    def heading(self) -> str:
        return f"Agent #{self.agent} votes {self.vote} on proposal {self.proposal}"

    @property
    def content(self) -> str:
        changed = "" if self.before is None else f" (before: {self.before})"
        return f"{self.yes} yes, {self.no} no, {self.abstain} abstain{changed}."

    def interactions(self, past: Past) -> Iterator[Interaction]:
        """Towards its proposer; a vote that is changed is cast once more."""
        began, proposed = past.last(SocietyBegan), past.last(Proposed, proposal=self.proposal)
        if began is not None and proposed is not None:
            deed = "abstained" if self.vote == "abstain" else f"voted {self.vote}"
            yield Interaction(began.player(self.agent), began.player(proposed.agent), deed, _SIGNS[self.vote])


@dataclass(frozen=True)
class Renamed(Event):
    kind: ClassVar[str] = "renamed"
    words: ClassVar[str] = "name"
    day: int
    agent: int
    name: str

    @property
    def heading(self) -> str:
        return f"Agent #{self.agent} chooses a name"


@dataclass(frozen=True)
class ProposalResolved(Event):
    """`note` says what part of it could not be carried out."""

    kind: ClassVar[str] = "proposal_resolved"
    day: int
    proposal: int
    agent: int
    type: ProposalType
    title: str
    result: Literal["passed", "failed"]
    yes: int
    no: int
    abstain: int
    threshold: int
    quorum: int
    note: str = ""

    @property
    def heading(self) -> str:
        return f"Proposal {self.proposal} {'has passed' if self.result == 'passed' else 'has failed'}: {self.title}"

    @property
    def content(self) -> str:
        return f"{self.yes} yes, {self.no} no, {self.abstain} abstain.{f' {self.note}' if self.note else ''}"


@dataclass(frozen=True)
class LawEnacted(Event):
    """`proposal` and `agent` are 0 for a law of the first day."""

    kind: ClassVar[str] = "law_enacted"
    day: int
    law: int
    proposal: int
    agent: int
    title: str
    terms: Terms

    @property
    def heading(self) -> str:
        return f"Law {self.law} is in force: {self.title}"

    @property
    def content(self) -> str:
        return "; ".join(map(in_words, self.terms)) or "Words alone: it is up to the agents to honour it."


@dataclass(frozen=True)
class LawRepealed(Event):
    kind: ClassVar[str] = "law_repealed"
    day: int
    law: int
    proposal: int
    title: str

    @property
    def heading(self) -> str:
        return f"Law {self.law} ends: {self.title}"

    @property
    def content(self) -> str:
        return f"Repealed by proposal {self.proposal}."
