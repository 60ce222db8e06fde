"""Bidding: the request for a bid, the answer's effect, and its audience. `state` decides whether a bid counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from agentsim.engine import Number, Text
from agentsim.engine.decision import Decision, WholeNumber
from agentsim.engine.event import Audience, Event, Everyone
from agentsim.engine.options import FieldOverride
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.engine.wording import By, Line, Prompt, cut, in_quotes, joined, quoted
from agentsim.errors import UnreadableReply
from agentsim.games.auction import rules_text
from agentsim.games.auction.config import AuctionConfig
from agentsim.games.auction.lots import AuctionBegan
from agentsim.games.auction.state import Auction, FailReason, GameState, Sale, view, why_not
from agentsim.lazy import dataclass


class BidCast(Decision):
    """A team's bid and its reason. `bid` is None for an unreadable reply, which only the fallback gives."""

    reasoning: Annotated[str, lambda asked: Text(asked.reasoning_chars)] = ""
    bid: Annotated[WholeNumber | None, Number(0, None, if_null=0)]


class BidMade(
    Event,
    kind="bid",
    heading=(
        "{name} ",
        By(
            "fail_reason",
            {
                "Pass": "passes",
                "Unreadable": "gives no readable bid, which is a pass",
                "OverBudget": "bids {amount}, which is more than it has",
                "LowerThanHighBid": "bids {amount}, which is not above the high bid of {high_before}",
            },
            "bids {amount}",
        ),
    ),
    content=By("high_before", {None: "A sealed bid."}, "Iteration {iteration}; the high bid was {high_before}."),
    in_prompt=False,
    private=("kept_by",),
):
    """One team's answer in one iteration, and its effect. An unreadable answer is a bid of 0.

    `high_before` is None for a sealed bid, since the team must not learn the bids of others.
    """

    round: int
    iteration: int
    team: str
    name: str
    amount: int
    valid: bool
    fail_reason: FailReason
    high_before: int | None

    @property
    def kept_by(self) -> str | None:
        """The only team that hears the event, for a sealed or an invalid bid, or None for all."""
        return self.team if self.high_before is None or not self.valid else None

    @property
    def turned_away(self) -> bool:
        return self.fail_reason in {"OverBudget", "LowerThanHighBid"}


class Reasoned(
    Event, kind="reasoning", label="private reasoning", heading="{name} to itself", words="text", private=("team",)
):
    """A team's private reasoning about its bid."""

    round: int
    iteration: int
    team: str
    name: str
    text: str


_WHY_FAILED: Mapping[str, str] = {
    "OverBudget": "it was more than your budget.",
    "LowerThanHighBid": "when it was processed, the high bid was not below it.",
}


@dataclass(frozen=True, slots=True)
class FailedBid:
    """A team's last bid, which did not count: the name of its item, the amount, and why it did not."""

    item: str
    amount: int
    fail_reason: FailReason

    @property
    def in_words(self) -> Line:
        """The failure as its team reads it: `Your last bid, 188 for "Dented Kettle", did not count: ...`."""
        if self.fail_reason == "Unreadable":
            return joined(
                "Your last answer, for ", in_quotes(self.item), ", could not be read as a bid and counted as a pass."
            )
        why = _WHY_FAILED[self.fail_reason]
        return joined(f"Your last bid, {self.amount} for ", in_quotes(self.item), f", did not count: {why}")


class Bid(Request[BidCast]):
    """A request for a bid on the present item.

    Any whole number from 0 is a legal answer; the auction decides whether it counts (`why_not`). `failed_bid` is this
    team's previous bid if it did not count; other teams are not told. `hints` and `strict` are `hints` and
    `strict_bids` of the config.
    """

    fallback_always_legal: ClassVar[bool] = True
    unshown: ClassVar[Mapping[str, str]] = {
        "terms.teams": "the game state names every team",
        "terms.scenario": "what the game is called, for people",
        **{f"state.sales.#.item.{part}": "all_items and the game state say it" for part in ("quality", "required")},
    }

    labels: ClassVar[Mapping[str, str]] = {"bid": "your bid", "reasoning": "your reason (private)"}
    # keys of a bid in the game state
    quotes: ClassVar[frozenset[str]] = frozenset({"teamname", "team", "bidder"})

    terms: AuctionBegan
    shuffled: bool = False
    state: GameState
    failed_bid: FailedBid | None = None
    hints: bool = False
    strict: bool = True
    reasoning_chars: int

    def is_forfeit(self, text: str) -> bool:
        """Return whether bids are strict and the reply has no JSON object."""
        from agentsim.engine.reading.reader import holds_object

        return self.strict and not holds_object(self, text)

    def prompt(self) -> Prompt:
        return Prompt(
            rules=(rules_text.rules(self.terms, shuffled=self.shuffled, strict=self.strict),),
            history=("Sold so far:", *map(self._sold, self.state.sales)) if self.state.sales else (),
            state=(joined("game_state: ", quoted(**self.state.to_json())),),
            question=(*((self.failed_bid.in_words,) if self.failed_bid else ()), self._question()),
        )

    def _sold(self, sale: Sale) -> Line:
        """Return `"Dented Kettle": "foxes" for 120`.

        Payments of losers in an `all_pay` auction show in their budgets.
        """
        item, winner = in_quotes(sale.item.name), self.state.names.get(sale.winner)
        if winner is None:
            return joined(item, ": no buyer")
        return joined(item, ": ", in_quotes(winner), f" for {sale.payments[sale.winner]}")

    def _question(self) -> Line:
        turn = f"Iteration {self.state.iteration} of at most {self.terms.max_iterations}"
        said = (*self._standing(), "What does your team bid? Your reasoning stays secret.", self.answer_line)
        return joined(
            f"{'Your one sealed bid' if self.terms.sealed else turn} for ",
            in_quotes(self.state.item.name),
            f". {' '.join(said)}",
        )

    def _standing(self) -> Iterator[str]:
        """Yield that the high bid is the team's own, and with `hints` which bids would count."""
        if self.state.leading:
            yield f"You hold the high bid, {self.state.high.amount}."
        if not self.hints:
            return
        if self.state.leading:
            yield "Pass with 0, unless you want to raise it."
        elif self._too_dear:
            yield "You cannot pay a bid that would count: pass."
        else:
            yield f"Bids from {self._least} to {self.state.you.budget} count."

    def fingerprint_fields(self) -> Mapping[str, Any]:
        state = self.state
        at = {"item": state.item.name, "round": state.round, "iteration": state.iteration}
        return {**at, "high": state.high.amount, "budget": state.you.budget}

    def warning(self, decision: BidCast) -> str:
        """Return a warning of a bid that the auction will refuse, which then is a pass."""
        bid, budget, high = decision.bid, self.state.you.budget, self.state.high.amount
        match why_not(bid, budget, high):
            case "OverBudget":
                return f"{bid} is more than your budget of {budget}: {self._worth_saying}."
            case "LowerThanHighBid":
                return f"{bid} is not above the high bid of {high}: {self._worth_saying}."
        return ""

    @property
    def _least(self) -> int:
        """The least bid that counts."""
        return self.state.high.amount + 1

    @property
    def _too_dear(self) -> bool:
        """True if the team cannot pay the least bid that counts."""
        return self._least > self.state.you.budget

    @property
    def _worth_saying(self) -> str:
        """The range of bids that would count, in words."""
        if self._too_dear:
            return "0 to pass, as your budget is too small for more"
        return f"{self._least} to {self.state.you.budget}, or 0 to pass"

    def field_overrides(self) -> Mapping[str, FieldOverride | None]:
        return {"reasoning": FieldOverride(preset=""), "bid": FieldOverride(self._worth_saying)}

    def decision_of(self, said: Mapping[str, Any]) -> BidCast:
        cast = super().decision_of(said)
        if cast.bid is None or cast.bid < 0:
            raise UnreadableReply("In the JSON object, bid must be a whole number, 0 or more.")
        return cast

    def fallback(self) -> BidCast:
        return BidCast(bid=None)


async def take_bids(table: Table, auction: Auction, config: AuctionConfig, terms: AuctionBegan) -> bool:
    """Play one iteration: ask all teams at once, on the same state. Returns whether one of the bids counted.

    The leader is asked too, unless `ask_leader` is false. Bids are processed in a random order that is drawn for each
    iteration, which decides between equal bids.
    """
    auction.iteration += 1
    asked = [team for team in auction.teams if config.ask_leader or team != auction.high.team]
    requests = [
        Bid(
            player=team,
            terms=terms,
            shuffled=config.item_order == "shuffled",
            state=view(auction, team),
            failed_bid=_failed_bid(table, auction, team),
            hints=config.hints,
            strict=config.strict_bids,
            reasoning_chars=config.reasoning_chars,
        )
        for team in asked
    ]
    bids = dict(zip(asked, await table.ask_all(requests), strict=True))
    order = table.chance.stream("order").shuffled(asked)
    counted = [_process(table, auction, team, bids[team], config.reasoning_chars) for team in order]
    return any(counted)


def _failed_bid(table: Table, auction: Auction, team: str) -> FailedBid | None:
    """Return this team's last bid if it did not count, or None. A pass is no bid."""
    heard = (told.event for told in reversed(table.heard(team)))
    last = next((event for event in heard if isinstance(event, BidMade) and event.team == team), None)
    if last is None or last.valid or last.fail_reason == "Pass":
        return None
    return FailedBid(auction.item_of(last.round).name, last.amount, last.fail_reason)


def _process(table: Table, auction: Auction, team: str, cast: BidCast, most: int) -> bool:
    """Place one bid if it counts, and tell it. Returns whether it counts.

    Other teams do not hear of an invalid bid or a sealed one.
    """
    sealed, amount = auction.pricing.sealed, cast.bid or 0
    at = (auction.round, auction.iteration, team, auction.teams[team].name)
    before = None if sealed else auction.high.amount
    reason = auction.why_not(team, cast.bid)
    if not reason:
        auction.place(team, amount)
    hears: Audience = (team,) if reason or sealed else Everyone
    table.tell(BidMade(*at, amount, not reason, reason, before), to=hears, by=team)
    if thought := cut(cast.reasoning, most):
        table.tell(Reasoned(*at, thought), to=(team,), by=team)
    return not reason
