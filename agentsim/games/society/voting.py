"""Proposals, votes on them, their count in the evening, and the effects of what has passed.

`assembly` keeps the open proposals and the laws in force; `work` takes the taxes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator

from agentsim.engine import Event, Everyone, Table
from agentsim.engine.event import AGAINST, FOR, NEITHER, Interaction, Past, PlayerId, Sign
from agentsim.engine.wording import By, If, counted, cut
from agentsim.games.society import building
from agentsim.games.society.amounts import Amount, shown
from agentsim.games.society.assembly import (
    Agent,
    Allocation,
    Ballot,
    Build,
    Dividend,
    Proposal,
    ProposalType,
    Repeal,
    Resource,
    Terms,
    is_repeal,
    misfit,
    terms_in_words,
)
from agentsim.games.society.config import FoundingLaw
from agentsim.games.society.state import State
from agentsim.games.society.turn import Action, AgentEvent, Daily, Id, Known, Turn, Why

_SIGNS: dict[Ballot, Sign] = {"yes": FOR, "no": AGAINST, "abstain": NEITHER}


class Proposed(
    Daily, label="proposal", heading="Agent #{agent} proposes {type} {proposal}: {title}", words="description"
):
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
    label="vote",
    heading="Agent #{agent} votes {vote} on proposal {proposal}",
    content=("{yes} yes, {no} no, {abstain} abstain", If("before", " (before: {before})"), "."),
):
    """An agent votes. `before` is its earlier vote on the proposal, if any; the counts include the new vote."""

    proposal: int
    agent: int
    vote: Ballot
    before: Ballot | None
    yes: int
    no: int
    abstain: int

    def interactions_by_number(self, past: Past) -> Iterator[Interaction]:
        """Yield the vote as an interaction with the proposer; a changed vote is one more interaction."""
        if (proposed := past.last(Proposed, proposal=self.proposal)) is not None:
            action = "abstained" if self.vote == "abstain" else f"voted {self.vote}"
            yield Interaction(str(self.agent), str(proposed.agent), action, _SIGNS[self.vote])


class Reasoned(
    AgentEvent,
    kind="reasoning",
    label="reasons for a vote",
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
    vote: Ballot
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
    label="result of a proposal",
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
    rule, active = state.assembly.rules_in_force, state.counts["active"]
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
    now, then = state.assembly.rules_in_force, state.assembly.after(proposal)
    living = state.counts["active"] + state.counts["dormant"]
    if not now.entrenched or not then.harder_than(now) or then.consented(proposal, voters, living):
        return ""
    quorum = f", and {counted(least, 'agent votes', 'agents vote')}" if (least := then.needed(voters)) else ""
    return (
        f"The voting rule that it makes is harder to meet, so more than {then.threshold}% of all "
        f"{counted(living, 'living agent')} must say yes{quorum}."
    )


# -- what has passed


class LawEnacted(
    Daily,
    heading="Law {law} is in force: {title}",
    content=If("terms", "{in_words}", "Words alone."),
):
    """A law comes into force; `proposal` and `agent` are 0 for a law of the first day."""

    law: int
    proposal: int
    agent: int
    title: str
    terms: Terms

    @property
    def in_words(self) -> str:
        return terms_in_words(self.terms)


class LawRepealed(Daily, heading="Law {law} ends: {title}", content="Repealed by proposal {proposal}."):
    law: int
    proposal: int
    title: str


def found(table: Table, state: State, law: FoundingLaw) -> None:
    """Put a law in force before the first day."""
    table.tell(_enacted(state, Proposal(0, 0, 0, law.title, law.description, "law", law.terms)), to=Everyone)


def _enacted(state: State, proposal: Proposal) -> LawEnacted:
    law = state.assembly.enact(state.day, proposal)
    return LawEnacted(state.day, law.id, law.proposal, law.author, law.title, law.terms)


def carried_out(state: State, proposal: Proposal) -> tuple[list[Event], list[str]]:
    """Carry out a passed proposal and return its events, and notes on the parts that could not be done."""
    events: list[Event] = []
    notes: list[str] = []
    if proposal.type in {"law", "rule"} and not is_repeal(proposal.terms):
        state.assembly.passed += 1
        events.append(_enacted(state, proposal))
    for term in proposal.terms:
        match term:
            case Allocation():
                paid = _allocated(state, proposal, term)
                events.append(paid)
                notes += [f"Agent #{agent} is dead." for agent in term.agents if agent in state.dead]
                notes += ["The pool could not pay all of it."] if paid.missing else []
            case Repeal():
                law = state.assembly.repeal(term.law)
                if law is None:
                    notes.append(f"Law {term.law} was not in force.")
                else:
                    events.append(LawRepealed(state.day, law.id, proposal.id, law.title))
            case Build():
                began = building.begin(state, proposal.id, term.what)
                events += began
                notes += [] if began else ["The pool has not enough land for it."]
            case _:
                pass  # holds as long as its law
    return events, notes


# -- once


class AllocationPaid(
    Daily,
    label="allocation",
    heading="Proposal {proposal} pays {total} {resource} from the pool",
    content=(If("paid", "{each}", "No agent is paid"), ".", If("missing", " The pool lacked {missing}.")),
    concerns=("paid",),
):
    """The pool pays an allocation; `paid` are amounts by agent, `missing` is the amount that the pool lacked."""

    proposal: int
    resource: Resource
    paid: dict[int, Amount]
    missing: Amount

    @property
    def total(self) -> str:
        """The sum of the payments."""
        return shown(sum(self.paid.values()))

    @property
    def each(self) -> tuple[str, ...]:
        """The payment to each agent, in words."""
        return tuple(f"#{agent} {shown(amount)}" for agent, amount in self.paid.items())


def _allocated(state: State, proposal: Proposal, term: Allocation) -> AllocationPaid:
    """Pay the living agents of an allocation in its order, until the pool is empty."""
    living = [agent for agent in term.agents if agent not in state.dead]
    got = {agent: state.pay(state.citizen(agent), term.resource, term.amount) for agent in living}
    missing = term.amount * len(living) - sum(got.values())
    paid = {agent: amount for agent, amount in got.items() if amount}
    return AllocationPaid(state.day, proposal.id, term.resource, paid, missing)


# -- every evening


class DividendPaid(
    Daily,
    label="dividend",
    heading="Law {law} pays {amount} {resource} each to {agents:agent}",
    content=If("missing", "The pool is empty: {missing} {resource} could not be paid.", "All were paid in full."),
    concerns=("agents",),
):
    """The pool pays a dividend: `amount` to each of `agents`, but `last` to the last one.

    `missing` is the amount due that the pool did not hold.
    """

    law: int
    resource: Resource
    amount: Amount
    agents: tuple[int, ...]
    last: Amount
    missing: Amount

    @property
    def paid(self) -> dict[int, int]:
        """The payment to each agent, in hundredths."""
        return {agent: self.last if agent == self.agents[-1] else self.amount for agent in self.agents}


def pay_dividends(table: Table, state: State) -> None:
    """Pay the dividends of all laws in force, oldest law first."""
    for law, dividend in state.assembly.rules_in_force.dividends:
        table.tell(_dividend(table, state, law, dividend), to=Everyone)


def _dividend(table: Table, state: State, law: int, dividend: Dividend) -> DividendPaid:
    """Pay a dividend by agent number until the pool is empty, or in a random order if it cannot pay all."""
    resource, amount = dividend.resource, dividend.amount
    meant = {"dormant"} if dividend.to == "dormant" else {"active", "dormant"}
    whom = [citizen for citizen in state.citizens if citizen.status in meant]
    due = amount * len(whom)
    if due > state.pool[resource]:
        whom = table.chance.stream("dividends").shuffled(whom)
    paid: list[int] = []
    total = last = 0
    for citizen in whom:
        got = state.pay(citizen, resource, amount)
        if not got:
            break
        paid.append(citizen.number)
        total, last = total + got, got
    return DividendPaid(state.day, law, resource, amount, tuple(paid), last, due - total)


class WorkMinimumBroken(
    Daily,
    label="work minimum missed",
    heading="Law {law}: {agents:agent} worked less than {hours} h",
    content="{agents}",
    concerns=("agents",),
):
    """The agents that had a turn today and worked fewer hours than a law asks for."""

    law: int
    hours: int
    agents: tuple[Agent, ...]


def name_idlers(table: Table, state: State) -> None:
    """Announce the agents that had a turn and worked less than a law's minimum, and count their breaches."""
    for law, hours in state.assembly.rules_in_force.minimums.items():
        short = [each for each in state.citizens if each.turns and each.worked < hours]
        for citizen in short:
            citizen.breaches += 1
        if short:
            table.tell(WorkMinimumBroken(state.day, law, hours, tuple(each.number for each in short)), to=Everyone)
