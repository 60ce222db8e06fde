"""Talk: what agents say, propose, vote and are called; what comes of proposals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from agentsim.engine.event import AGAINST, FOR, NAMED, NEITHER, Event, Interaction, Past, Sign
from agentsim.engine.template import By, If
from agentsim.games.society.actions import VoteCast
from agentsim.games.society.events.life import SocietyBegan
from agentsim.games.society.terms import ProposalType, Terms, in_words

_SIGNS: dict[VoteCast, Sign] = {"yes": FOR, "no": AGAINST, "abstain": NEITHER}


class Posted(
    Event,
    heading=("Agent #{agent}: post {post}", By("parent", {None: ""}, ", a reply to {parent}")),
    words="text",
):
    """`parent` is the post that this one replies to; `mentions` are agents named by number."""

    day: int
    post: int
    agent: int
    parent: int | None
    mentions: tuple[int, ...]
    text: str

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if (began := past.last(SocietyBegan)) is None:
            return
        who = began.player(self.agent)
        answered = None if self.parent is None else past.last(Posted, post=self.parent)
        if answered is not None:
            yield Interaction(who, began.player(answered.agent), "replied to")
        for agent in self.mentions:
            yield Interaction(who, began.player(agent), NAMED)


class MessageSent(Event, kind="message", heading="Agent #{agent} to agent #{recipient}", words="text"):
    """A direct message: its two agents alone hear it."""

    day: int
    agent: int
    recipient: int
    text: str

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if (began := past.last(SocietyBegan)) is not None:
            yield Interaction(began.player(self.agent), began.player(self.recipient), "wrote to")


class Proposed(Event, heading="Agent #{agent} proposes {type} {proposal}: {title}", words="description"):
    """`closes` is the day on whose evening the votes are counted."""

    day: int
    proposal: int
    agent: int
    type: ProposalType
    title: str
    terms: Terms
    closes: int
    description: str


class Voted(
    Event,
    heading="Agent #{agent} votes {vote} on proposal {proposal}",
    content=("{yes} yes, {no} no, {abstain} abstain", If("before", " (before: {before})"), "."),
):
    """`before` is the vote that this one takes the place of; the counts are those afterwards."""

    day: int
    proposal: int
    agent: int
    vote: VoteCast
    before: VoteCast | None
    yes: int
    no: int
    abstain: int

    def interactions(self, past: Past) -> Iterator[Interaction]:
        """Towards its proposer; a vote that is changed is cast once more."""
        began, proposed = past.last(SocietyBegan), past.last(Proposed, proposal=self.proposal)
        if began is not None and proposed is not None:
            deed = "abstained" if self.vote == "abstain" else f"voted {self.vote}"
            yield Interaction(began.player(self.agent), began.player(proposed.agent), deed, _SIGNS[self.vote])


class Renamed(Event, heading="Agent #{agent} chooses a name", words="name"):
    day: int
    agent: int
    name: str


class ProposalResolved(
    Event,
    heading=("Proposal {proposal} ", By("result", {"passed": "has passed"}, "has failed"), ": {title}"),
    content=("{yes} yes, {no} no, {abstain} abstain.", If("note", " {note}")),
):
    """`note` says what part of it could not be carried out."""

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


class LawEnacted(
    Event,
    heading="Law {law} is in force: {title}",
    content=If("terms", "{in_words}", "Words alone: it is up to the agents to honour it."),
):
    """`proposal` and `agent` are 0 for a law of the first day."""

    day: int
    law: int
    proposal: int
    agent: int
    title: str
    terms: Terms

    @property
    def in_words(self) -> str:
        """The terms."""
        return "; ".join(map(in_words, self.terms))


class LawRepealed(Event, heading="Law {law} ends: {title}", content="Repealed by proposal {proposal}."):
    day: int
    law: int
    proposal: int
    title: str
