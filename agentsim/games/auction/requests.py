"""Requests of the auction: the one question that a team is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from agentsim.engine.number import WholeNumber
from agentsim.engine.prompt import Prompt, quoted
from agentsim.engine.reading import Decision
from agentsim.engine.request import Number, Options, Request, Text
from agentsim.errors import UnreadableReply
from agentsim.games.auction.pricing import PRICING
from agentsim.games.auction.prompts import composed
from agentsim.games.auction.state import FailReason
from agentsim.games.auction.view import GameState, Terms


class BidCast(Decision):
    """What a team offers and why; `bid` None is what no readable reply comes to: only the fallback gives it."""

    reasoning: str = ""
    bid: WholeNumber | None


class Bid(Request[BidCast]):
    """How much do you bid for the present item?

    Whether the bid is high enough, and whether the team has so much, is the auction's verdict and no matter of
    reading: any whole number from 0 is an answer. `refused` is this team's own bid of the iteration before, where it
    did not count, and why: no other team learns of it.
    """

    quotes: ClassVar[frozenset[str]] = frozenset(
        {"teamname", "team", "bidder"}
    )  # the auction's record of a bid, from the game state

    terms: Terms
    state: GameState
    refused: tuple[int, FailReason] | None = None
    reasoning_chars: int

    def options(self) -> Options:
        return {"reasoning": Text(self.reasoning_chars), "bid": Number(0, None, nothing=0)}

    def prompt(self) -> Prompt:
        return composed(self.terms, self.state, self.refused, self.answer_line)

    def facts(self) -> tuple[str, ...]:
        state = self.state
        known = (state.item.to_json(), state.high.to_json(), state.you.to_json())
        opponents = (team.to_json() for team in state.opponents)
        return (
            *(quoted(**fact) for fact in (*known, *opponents)),
            *(quoted(**item.to_json()) for item in self.terms.items),
            f"up to {state.you.budget}",
            *([f"after iteration {self.terms.max_iterations}"] if not PRICING[self.terms.format].sealed else []),
        )

    def fingerprint_fields(self) -> Mapping[str, Any]:
        state = self.state
        return {
            "item": state.item.name,
            "round": state.round,
            "iteration": state.iteration,
            "high": state.high.amount,
            "budget": state.you.budget,
        }

    def check(self, decision: BidCast) -> None:
        if decision.bid is not None:  # what no readable reply comes to
            super().check(decision)

    def warning(self, decision: BidCast) -> str:
        """Of a bid that the auction will refuse, which is a pass."""
        bid, state = decision.bid or 0, self.state
        if bid > state.you.budget:
            return f"{bid} is more than your budget of {state.you.budget}: {self._worth_saying}."
        if 0 < bid <= state.high.amount:
            return f"{bid} is not above the high bid of {state.high.amount}: {self._worth_saying}."
        return ""

    @property
    def _worth_saying(self) -> str:
        """The bids that would count."""
        least, most = self.state.high.amount + 1, self.state.you.budget
        if least > most:
            return "0 to pass, as your budget is too small for more"
        return f"{least} to {most}, or 0 to pass"

    def form_schema(self, name: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**legal, "description": self._worth_saying} if name == "bid" else {**legal, "default": ""}

    def decision_of(self, said: Mapping[str, Any]) -> BidCast:
        cast = super().decision_of(said)
        if cast.bid is None or cast.bid < 0:
            raise UnreadableReply("In the JSON object, bid must be a whole number, 0 or more.")
        return cast

    def fallback(self) -> BidCast:
        return BidCast(bid=None)


REQUESTS: tuple[type[Request[Any]], ...] = (Bid,)
