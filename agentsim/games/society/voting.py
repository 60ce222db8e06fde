"""Proposals, votes on them, and the count in the evening. `laws` carries out the proposals that pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator

from agentsim.engine import Everyone, Table
from agentsim.engine.event import AGAINST, FOR, NEITHER, Interaction, Past, PlayerId, Sign
from agentsim.engine.wording import By, If, counted, cut
from agentsim.games.society.assembly import Proposal, VoteCast
from agentsim.games.society.laws import carried_out
from agentsim.games.society.state import State
from agentsim.games.society.terms import ProposalType, Terms, misfit
from agentsim.games.society.turn import Action, AgentEvent, Daily, Id, Known, Turn, Why

_SIGNS: dict[VoteCast, Sign] = {"yes": FOR, "no": AGAINST, "abstain": NEITHER}


class Proposed(Daily, heading="Agent #{agent} proposes {type} {proposal}: {title}", words="description"):
    """An agent makes a proposal; its votes are counted on the evening of day `closes`."""

    proposal: int
    agent: int
    type: ProposalType
    title: str
    terms: Terms
    closes: int
    description: str


class CreateProposal(Action):
    action: Literal["create_proposal"] = "create_proposal"
    title: str
    description: str
    proposal_type: ProposalType
    terms: Annotated[Terms, BeforeValidator(lambda value: () if value is None else value)] = ()

    def why_not(self, known: Known) -> str:
        return misfit(self.proposal_type, self.terms, known.rules.agents, known.rules.hours_per_day)

    def happen(self, turn: Turn) -> None:
        day, me, type_, terms = turn.day, turn.agent, self.proposal_type, self.terms
        title, words, closes = " ".join(self.title.split()), self.description.strip(), day + turn.rules.voting_days - 1
        proposal = turn.state.assembly.propose(Proposal(0, day, me, title, words, type_, terms, closes))
        turn.count("proposals")
        turn.tell(Proposed(day, proposal.id, me, type_, title, terms, closes, words))


class Voted(
    Daily,
    heading="Agent #{agent} votes {vote} on proposal {proposal}",
    content=("{yes} yes, {no} no, {abstain} abstain", If("before", " (before: {before})"), "."),
):
    """An agent votes. `before` is its earlier vote on the proposal, if any; the counts include the new vote."""

    proposal: int
    agent: int
    vote: VoteCast
    before: VoteCast | None
    yes: int
    no: int
    abstain: int

    def dealings(self, past: Past) -> Iterator[Interaction]:
        """Yield the vote as an interaction with the proposer; a changed vote is one more interaction."""
        if (proposed := past.last(Proposed, proposal=self.proposal)) is not None:
            deed = "abstained" if self.vote == "abstain" else f"voted {self.vote}"
            yield Interaction(str(self.agent), str(proposed.agent), deed, _SIGNS[self.vote])


class Reasoned(
    AgentEvent,
    kind="reasoning",
    heading="Agent #{agent} to itself, on proposal {proposal}",
    words="text",
    private=("agent",),
):
    """The reason of an agent's vote; it alone hears this."""

    proposal: int
    text: str


class Vote(Action):
    action: Literal["vote"] = "vote"
    proposal_id: Id
    vote: VoteCast
    reasoning: Why = ""

    def why_not(self, known: Known) -> str:
        if self.proposal_id > known.proposals:
            return "there is no such proposal"
        if self.proposal_id not in known.open:
            return f"proposal {self.proposal_id} is closed"
        return ""

    def happen(self, turn: Turn) -> None:
        proposal = turn.state.assembly.open[self.proposal_id]
        before = proposal.cast(turn.agent, self.vote)
        turn.count("votes")
        turn.tell(Voted(turn.day, proposal.id, turn.agent, self.vote, before, **proposal.counts))
        if why := cut(self.reasoning, turn.rules.post_chars):
            turn.tell_alone(Reasoned(turn.day, turn.agent, proposal.id, why))


class ProposalResolved(
    Daily,
    heading=("Proposal {proposal} ", By("result", {"passed": "has passed"}, "has failed"), ": {title}"),
    content=("{yes} yes, {no} no, {abstain} abstain.", If("note", " {note}")),
    concerns=("agent",),
):
    """The vote on a proposal ends; `note` names the parts that could not be carried out, or why it failed."""

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

    def concerned(self, past: Past) -> Iterator[PlayerId | int]:
        """Yield the author, and all agents that voted on the proposal."""
        yield from super().concerned(past)
        yield from (voted.agent for voted in past.every(Voted, proposal=self.proposal))


def count_votes(table: Table, state: State) -> None:
    """Resolve the proposals that are due, oldest first, all by the voting rule in force as the evening began."""
    rule, active = state.assembly.standing, state.counts["active"]
    for proposal in [each for each in state.assembly.open.values() if each.closes <= state.day]:
        passed = rule.passes(proposal, active)
        unmet = _unmet(state, proposal, active) if passed else ""
        passed = passed and not unmet
        effects, notes = carried_out(state, proposal) if passed else ([], [unmet])
        state.assembly.close(proposal)
        resolved = ProposalResolved(
            state.day,
            proposal.id,
            proposal.author,
            proposal.type,
            proposal.title,
            "passed" if passed else "failed",
            **proposal.counts,
            threshold=rule.threshold,
            quorum=rule.needed(active),
            note=" ".join(notes),
        )
        for event in (resolved, *effects):
            table.tell(event, to=Everyone)


def _unmet(state: State, proposal: Proposal, voters: int) -> str:
    """Return the reason why an entrenched rule stops a proposal that has enough votes, or "" if it may pass.

    A proposal for a voting rule that is harder to meet must itself meet that rule among all living agents: otherwise
    the few agents that vote or are active could make a rule that all the others together cannot undo.
    """
    now, then = state.assembly.standing, state.assembly.after(proposal)
    living = state.counts["active"] + state.counts["dormant"]
    if not now.entrenched or not then.harder_than(now) or then.consented(proposal, voters, living):
        return ""
    quorum = f", and {counted(least, 'agent votes', 'agents vote')}" if (least := then.needed(voters)) else ""
    return (
        f"The voting rule that it makes is harder to meet, so more than {then.threshold}% of all "
        f"{counted(living, 'living agent')} must say yes{quorum}."
    )
