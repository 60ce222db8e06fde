"""Trading: the questions around a trade."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from agentsim.engine.request import Choice, Options
from agentsim.games.monopoly import questions
from agentsim.games.monopoly.actions import (
    Answered,
    Proposal,
    Proposed,
    Reacted,
)
from agentsim.games.monopoly.requests import narrowing
from agentsim.games.monopoly.requests.base import MonopolyRequest
from agentsim.games.monopoly.trade import Terms


class ProposeTrade(MonopolyRequest[Proposed]):
    """A trade, or none; `made` in this phase so far, `left` that may still be. Whether it can be, the table says."""

    empty: ClassVar[Mapping[str, Any]] = {"action": {"propose_trade": False}}

    when: Literal["before", "after"]
    made: int
    left: int
    again: bool = False
    """Whether doubles give another roll after this."""

    def choices(self) -> Options:
        return {"action.target_player": Choice((None, *self.others)), "action.pitch": self.aloud}

    def check(self, decision: Proposed) -> None:
        """Any proposal is an answer; whether it can be is the table's verdict, and counts."""

    def warning(self, decision: Proposed) -> str:
        return self.objection_to(decision.action, self.view.estate(), self.view.seats)

    def question(self) -> tuple[str, ...]:
        return questions.propose_trade(
            self.view, self.seat, questions.moment(self.when, again=self.again), self.made, self.left
        )

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {**super().fingerprint_fields(), "when": self.when, "made": self.made}

    def asked_of(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        return narrowing.proposal(action, self.view.estate(), self.view.seats, self.seat)

    def fallback(self) -> Proposed:
        return self.silent(action=Proposal())


class AnswerTrade(MonopolyRequest[Answered]):
    """The offer is what you would get, the request what you would give."""

    terms: Terms
    pitch: str

    def choices(self) -> Options:
        return {"action": Choice(("accept", "reject"))}

    def question(self) -> tuple[str, ...]:
        return questions.answer_trade(self.view, self.seat, self.terms, self.pitch)

    def fingerprint_fields(self) -> Mapping[str, Any]:
        sides = [side.model_dump(mode="json") for side in (self.terms.offer, self.terms.request)]
        return {**super().fingerprint_fields(), "proposer": self.terms.proposer, "terms": sides}

    def fallback(self) -> Answered:
        return self.silent(action="reject")


class React(MonopolyRequest[Reacted]):
    """Your trade is accepted and done: anything to say?"""

    terms: Terms

    def question(self) -> tuple[str, ...]:
        return questions.react(self.view, self.terms)

    def fallback(self) -> Reacted:
        return Reacted()
