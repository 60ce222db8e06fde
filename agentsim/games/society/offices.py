"""Offices: laws found them, agents elect who holds them, and their holders pay from the pool or veto proposals."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from agentsim.engine import Everyone, Table
from agentsim.engine.event import AGAINST, FOR
from agentsim.engine.event import Deed as Done
from agentsim.engine.wording import If, cut
from agentsim.games.society.amounts import Amount, shown
from agentsim.games.society.institutions import Office
from agentsim.games.society.state import State
from agentsim.games.society.terms import Agent, Positive, Resource
from agentsim.games.society.turn import Action, Daily, Deed, Id, Known, Turn, Why
from agentsim.games.society.voting import resolved, voters


class BallotCast(
    Deed,
    kind="ballot",
    heading="Agent #{agent} votes for agent #{candidate} as {title}, office {office}",
    content=If("before", "Before: #{before}."),
    deeds=(Done("agent", "candidate", "voted for", FOR),),
):
    """`before` is the candidate of the ballot that this one takes the place of; 0 for none."""

    office: int
    title: str
    candidate: int
    before: int


class Elect(Action, needs=("institutions",)):
    """A ballot for a candidate, itself too; it stands until the election, or until another takes its place."""

    action: Literal["elect"] = "elect"
    office_id: Id
    candidate_agent_id: Id

    def why_not(self, known: Known) -> str:
        if self.office_id not in known.offices:
            return f"there is no office {self.office_id}"
        return known.absent(self.candidate_agent_id) or known.voteless()

    def happen(self, turn: Turn) -> None:
        office, candidate = turn.state.assembly.offices[self.office_id], self.candidate_agent_id
        before = office.ballots.pop(turn.agent, 0)
        office.ballots[turn.agent] = candidate
        turn.count("votes")
        turn.tell(BallotCast(turn.day, turn.agent, office.id, office.term.title, candidate, before))


class ElectionHeld(
    Daily,
    heading=If("agent", "Agent #{agent} is elected {title}, office {office}", "{title}, office {office}, is vacant"),
    content=(
        If("ballots", "Votes: {ballots}.", "No votes for an agent that is awake."),
        If("tied", " A lot decided between {tied}."),
        If("until", " Until the evening of day {until}."),
    ),
    concerns=("agent", "ballots"),
):
    """`agent` 0 where none was elected; `ballots` are the votes by candidate, `tied` those who had equally many."""

    office: int
    law: int
    title: str
    agent: int
    ballots: dict[int, int]
    tied: tuple[Agent, ...]
    until: int


def hold_elections(table: Table, state: State) -> None:
    """Elect, for each office that is vacant from tomorrow on, the agent awake with most votes; a lot decides a tie.

    An office is vacant when its holder's days are over or its holder is not awake. It is first held on the day after
    the one on which its law passed.
    """
    for office in state.assembly.offices.values():
        office.paid = 0
        holds = office.holder and office.until > state.day and state.citizen(office.holder).status == "active"
        if holds or office.since == state.day:
            continue
        votes = Counter(office.ballots.values())
        awake = {agent: votes[agent] for agent in sorted(votes) if state.citizen(agent).status == "active"}
        if awake or office.holder:
            table.tell(_elected(table, state, office, awake), to=Everyone)


def _elected(table: Table, state: State, office: Office, votes: dict[int, int]) -> ElectionHeld:
    first = [agent for agent, count in votes.items() if count == max(votes.values())]
    tied = tuple(first) if len(first) > 1 else ()
    office.holder = table.chance.stream("elections").pick(first) if tied else first[0] if first else 0
    office.until = state.day + office.term.days if first else 0
    office.ballots = {}
    term = office.term
    return ElectionHeld(state.day, office.id, office.law, term.title, office.holder, votes, tied, office.until)


# -- powers


class OfficePaid(
    Deed,
    heading="Agent #{agent}, {title}, pays {amount} {resource} from the pool to agent #{recipient}",
    content="{left} left to pay today.",
    concerns=("agent", "recipient"),
    deeds=(Done("agent", "recipient", "paid {resource}", FOR, "amount"),),
):
    office: int
    title: str
    recipient: int
    resource: Resource
    amount: Amount
    left: Amount


class PayOut(Action, needs=("institutions",)):
    """A payment from the pool, by the first office of the agent that has so much left today."""

    action: Literal["pay_out"] = "pay_out"
    recipient_agent_id: Id
    resource_type: Resource
    amount: Positive

    def why_not(self, known: Known) -> str:
        if absent := known.absent(self.recipient_agent_id):
            return absent
        most = max((office.may_pay(known.agent) for office in known.offices.values()), default=0)
        if most < self.amount:
            return f"your offices let you pay {shown(most)} more today, not {shown(self.amount)}"
        held = known.pool[self.resource_type]
        return "" if held >= self.amount else f"the pool holds {shown(held)} {self.resource_type}"

    def happen(self, turn: Turn) -> None:
        state, amount, offices = turn.state, self.amount, turn.state.assembly.offices.values()
        office = next(office for office in offices if office.may_pay(turn.agent) >= amount)
        office.paid += amount
        state.pay(state.citizen(self.recipient_agent_id), self.resource_type, amount)
        title, left = office.term.title, office.may_pay(turn.agent)
        paid = (self.recipient_agent_id, self.resource_type, amount, left)
        turn.tell(OfficePaid(turn.day, turn.agent, office.id, title, *paid))


class Vetoed(
    Deed,
    heading="Agent #{agent}, {title}, vetoes proposal {proposal}",
    words="reasons",
    concerns=("agent", "author"),
    deeds=(Done("agent", "author", "vetoed", AGAINST),),
):
    """The proposal of agent `author` has failed by this."""

    office: int
    title: str
    proposal: int
    author: int
    reasons: str


class Veto(Action, needs=("institutions",)):
    """An open proposal fails at once; where the constitution is entrenched, not one of repeals and voting rules."""

    action: Literal["veto"] = "veto"
    proposal_id: Id
    reasoning: Why = ""

    def why_not(self, known: Known) -> str:
        if not any(office.may_veto(known.agent) for office in known.offices.values()):
            return "you hold no office that can veto"
        if self.proposal_id not in known.open:
            return f"proposal {self.proposal_id} is not open"
        return "repeals and voting rules cannot be vetoed" if known.for_all(self.proposal_id) else ""

    def happen(self, turn: Turn) -> None:
        state = turn.state
        proposal = state.assembly.open[self.proposal_id]
        office = next(office for office in state.assembly.offices.values() if office.may_veto(turn.agent))
        reasons = cut(self.reasoning, turn.rules.post_chars)
        turn.tell(Vetoed(turn.day, turn.agent, office.id, office.term.title, proposal.id, proposal.author, reasons))
        note = f"Vetoed by agent #{turn.agent}, {office.term.title}."
        rule, able = state.assembly.standing, voters(state, proposal)
        turn.table.tell(resolved(state, proposal, rule, able, note, passed=False), to=Everyone)
