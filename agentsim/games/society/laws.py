"""The effects of passed proposals and, every evening, of the laws in force: dividends and work minimums.

`assembly` keeps the laws in force; `work` takes the taxes.
"""

from __future__ import annotations

from agentsim.engine import Event, Everyone, Table
from agentsim.engine.wording import If
from agentsim.games.society import building
from agentsim.games.society.amounts import Amount, shown
from agentsim.games.society.assembly import Proposal
from agentsim.games.society.config import FoundingLaw
from agentsim.games.society.state import State
from agentsim.games.society.terms import (
    Agent,
    Allocation,
    Build,
    Dividend,
    Repeal,
    Resource,
    Terms,
    in_words,
    is_repeal,
)
from agentsim.games.society.turn import Daily


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
        """The terms, in words."""
        return in_words(self.terms)


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
    heading="Proposal {proposal} pays {total} {resource} from the pool",
    content=(If("paid", "{each}", "nobody"), ".", If("missing", " The pool lacked {missing}.")),
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
    for law, dividend in state.assembly.standing.dividends:
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
    Daily, heading="Law {law}: {agents:agent} worked less than {hours} h", content="{agents}", concerns=("agents",)
):
    """The agents that had a turn today and worked fewer hours than a law asks for."""

    law: int
    hours: int
    agents: tuple[Agent, ...]


def name_idlers(table: Table, state: State) -> None:
    """Announce the agents that had a turn and worked less than a law's minimum, and count their breaches."""
    for law, hours in state.assembly.standing.minimums.items():
        short = [each for each in state.citizens if each.turns and each.worked < hours]
        for citizen in short:
            citizen.breaches += 1
        if short:
            table.tell(WorkMinimumBroken(state.day, law, hours, tuple(each.number for each in short)), to=Everyone)
