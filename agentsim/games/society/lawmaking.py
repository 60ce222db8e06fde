"""Lawmaking: what becomes of a proposal when its time is over. What standing laws do every evening is `evening`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from agentsim.engine.event import Event, Everyone
from agentsim.engine.table import Table
from agentsim.games.society.assembly import Proposal
from agentsim.games.society.citizen import Notice, NoticeKind
from agentsim.games.society.config import FoundingLaw
from agentsim.games.society.events import economy, talk
from agentsim.games.society.state import State
from agentsim.games.society.terms import Allocation, Build, Repeal


@dataclass
class Lawmaking:
    """Lawmaking at one table; `passed` counts the laws that came of votes.

    `effects` are what the proposal at hand has done, told once it has been said to have passed.
    """

    table: Table
    state: State
    passed: int = 0
    effects: list[Event] = field(default_factory=list)

    def found(self, law: FoundingLaw) -> None:
        """Put a law in force before the first day."""
        self._enact(Proposal(0, 0, 0, law.title, law.description, "law", law.terms, 0))
        self._tell_effects()

    def count_votes(self) -> None:
        """Resolve what is due, in the order in which it was proposed, all by the rule that held this evening."""
        state = self.state
        threshold, quorum = state.government.voting_rule()
        for proposal in state.assembly.due(state.day):
            passed = proposal.passes(threshold, quorum)
            state.assembly.close(proposal)
            notes = list(self._carry_out(proposal)) if passed else []
            self.table.tell(
                talk.ProposalResolved(
                    day=state.day,
                    proposal=proposal.id,
                    agent=proposal.author,
                    type=proposal.type,
                    title=proposal.title,
                    result="passed" if passed else "failed",
                    **proposal.counts,
                    threshold=threshold,
                    quorum=quorum,
                    note=" ".join(notes),
                ),
                to=Everyone,
            )
            self._tell_effects()
            kind: NoticeKind = "proposal_passed" if passed else "proposal_failed"
            state.notify(proposal.author, Notice(kind, about=proposal.id, text=proposal.title))
            name = state.citizen(proposal.author).name
            news = Notice(kind, proposal.author, name, proposal.id, text=proposal.title)
            for voter in proposal.votes:
                if voter != proposal.author:
                    state.notify(voter, news)

    def _tell_effects(self) -> None:
        for event in self.effects:
            self.table.tell(event, to=Everyone)
        self.effects.clear()

    def _carry_out(self, proposal: Proposal) -> Iterator[str]:
        """Let a passed proposal act; what of it could not be done, in words."""
        if proposal.type in {"law", "rule"}:
            self.passed += 1
            self._enact(proposal)
        for term in proposal.terms:
            match term:
                case Allocation():
                    yield from self._allocate(proposal, term)
                case Repeal():
                    yield from self._repeal(proposal, term)
                case Build():
                    yield from self._build(proposal, term)
                case _:
                    pass  # it stands with its law

    def _enact(self, proposal: Proposal) -> None:
        law = self.state.assembly.enact(self.state.day, proposal)
        self.state.government.begin(law)
        enacted = talk.LawEnacted(self.state.day, law.id, law.proposal, law.author, law.title, law.terms)
        self.effects.append(enacted)

    def _repeal(self, proposal: Proposal, term: Repeal) -> Iterator[str]:
        law = self.state.assembly.repeal(term.law)
        if law is None:
            yield f"Law {term.law} was not in force."
            return
        self.state.government.end(law)
        self.effects.append(talk.LawRepealed(self.state.day, law.id, proposal.id, law.title))

    def _allocate(self, proposal: Proposal, term: Allocation) -> Iterator[str]:
        """Pay the named in the order in which they are named, as far as the pool goes."""
        state, paid, missing = self.state, {}, 0
        for number in term.agents:
            citizen = state.citizen(number)
            if citizen.status == "dead":
                yield f"Agent #{number} is dead."
                continue
            got = state.pay(citizen, term.resource, term.amount)
            missing += term.amount - got
            if got:
                paid[number] = got
                state.notify(number, Notice("payment", about=proposal.id, resource=term.resource, amount=got))
        self.effects.append(economy.AllocationPaid(state.day, proposal.id, term.resource, paid, missing))
        if missing:
            yield "The pool could not pay all of it."

    def _build(self, proposal: Proposal, term: Build) -> Iterator[str]:
        state, config = self.state, self.state.config
        if state.pool["land"] < config.project_land:
            yield "The pool has not enough land for it."
            return
        state.spend_from_pool("land", config.project_land)
        cost = config.farm_cost if term.what == "farm" else config.generator_cost
        project = state.projects.begin(proposal.id, term.what, cost)
        began = economy.ProjectBegan(state.day, project.id, proposal.id, term.what, cost, config.project_land)
        self.effects.append(began)
        if project.built:
            self.effects.append(economy.ProjectBuilt(state.day, project.id, project.what))
