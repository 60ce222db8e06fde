"""Bidding: what a team is asked, what its answer comes to, and who hears of it. Whether a bid counts is `state`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from agentsim.engine import Number, Text
from agentsim.engine.decision import Decision, WholeNumber
from agentsim.engine.event import Audience, Event, Everyone
from agentsim.engine.prompt import Line, Prompt, in_quotes, joined, quoted
from agentsim.engine.request import Request
from agentsim.engine.schema import Narrowed
from agentsim.engine.table import Table
from agentsim.engine.wording import By, cut, filled
from agentsim.errors import UnreadableReply
from agentsim.games.auction.config import AuctionConfig
from agentsim.games.auction.lots import AuctionBegan
from agentsim.games.auction.state import Auction, FailReason, GameState, Sale, view, why_not


class BidCast(Decision):
    """What a team offers and why; `bid` None is what no readable reply comes to: only the fallback gives it."""

    reasoning: Annotated[str, lambda asked: Text(asked.reasoning_chars)] = ""
    bid: Annotated[WholeNumber | None, Number(0, None, nothing=0)]


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
    """One team's answer in one iteration, and what it came to; an unreadable one is a bid of 0.

    `high_before` is None of a sealed bid: what others bid is not in the event that its team hears.
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
        """The team that alone learns of it: a bid that does not count, or a sealed one."""
        return self.team if self.high_before is None or not self.valid else None

    @property
    def turned_away(self) -> bool:
        return self.fail_reason in {"OverBudget", "LowerThanHighBid"}


class Reasoned(Event, kind="reasoning", heading="{name} to itself", words="text", private=("team",)):
    """What a team thought about its bid; only that team hears it."""

    round: int
    iteration: int
    team: str
    name: str
    text: str


_DID_NOT_COUNT = "Your last bid, {amount}, did not count: "
_REFUSED = By(
    "fail_reason",
    {
        "Unreadable": "Your last answer could not be read as a bid, so it was a pass.",
        "OverBudget": f"{_DID_NOT_COUNT}it was more than your budget.",
        "LowerThanHighBid": f"{_DID_NOT_COUNT}it was not above the high bid by then.",
    },
)


class Bid(Request[BidCast]):
    """How much do you bid for the present item?

    Whether the bid is high enough, and whether the team has so much, is the auction's verdict (`why_not`) and no
    matter of reading: any whole number from 0 is an answer. `refused` says why this team's bid of before did not
    count, where it did not; no other team is told.
    """

    abstains: ClassVar[bool] = True
    unshown: ClassVar[Mapping[str, str]] = {
        "terms.teams": "the game state names every team",
        "terms.scenario": "what the game is called, for people",
        **{f"state.sales.#.item.{part}": "all_items and the game state say it" for part in ("quality", "required")},
    }

    # the auction's record of a bid, from the game state
    quotes: ClassVar[frozenset[str]] = frozenset({"teamname", "team", "bidder"})

    terms: AuctionBegan
    shuffled: bool = False
    state: GameState
    refused: str = ""
    reasoning_chars: int

    def prompt(self) -> Prompt:
        return Prompt(
            rules=(self.terms.rules(shuffled=self.shuffled),),
            history=("Sold so far:", *map(self._sold, self.state.sales)) if self.state.sales else (),
            state=(joined("game_state: ", quoted(**self.state.to_json())),),
            question=(*filter(None, (self.refused,)), self._question()),
        )

    def _sold(self, sale: Sale) -> Line:
        """`"Dented Kettle": "foxes" for 120`; what the losers of an `all_pay` auction paid, their budgets show."""
        item, winner = in_quotes(sale.item.name), self.state.names.get(sale.winner)
        if winner is None:
            return joined(item, ": no buyer")
        return joined(item, ": ", in_quotes(winner), f" for {sale.payments[sale.winner]}")

    def _question(self) -> Line:
        state, high = self.state, self.state.high.amount
        turn = f"Iteration {state.iteration} of at most {self.terms.max_iterations}"
        if state.leading:
            where = f"The high bid is your own {high}: pass with 0, unless you want to raise it."
        elif self._too_dear:
            where = "You cannot pay a bid that would count: pass."
        else:
            where = f"Bids from {self._least} to {state.you.budget} count."
        ask = "What does your team bid? Your reasoning stays secret."
        return joined(
            f"{'Your one sealed bid' if self.terms.sealed else turn} for ",
            in_quotes(state.item.name),
            f". {where} {ask} {self.answer_line}",
        )

    def fingerprint_fields(self) -> Mapping[str, Any]:
        state = self.state
        at = {"item": state.item.name, "round": state.round, "iteration": state.iteration}
        return {**at, "high": state.high.amount, "budget": state.you.budget}

    def warning(self, decision: BidCast) -> str:
        """Of a bid that the auction will refuse, which is a pass."""
        bid, budget, high = decision.bid, self.state.you.budget, self.state.high.amount
        match why_not(bid, budget, high):
            case "OverBudget":
                return f"{bid} is more than your budget of {budget}: {self._worth_saying}."
            case "LowerThanHighBid":
                return f"{bid} is not above the high bid of {high}: {self._worth_saying}."
        return ""

    @property
    def _least(self) -> int:
        """The least bid that counts, where the team can pay it."""
        return self.state.high.amount + 1

    @property
    def _too_dear(self) -> bool:
        """Whether the team can make no bid that counts."""
        return self._least > self.state.you.budget

    @property
    def _worth_saying(self) -> str:
        """The bids that would count."""
        if self._too_dear:
            return "0 to pass, as your budget is too small for more"
        return f"{self._least} to {self.state.you.budget}, or 0 to pass"

    def narrowed(self) -> Mapping[str, Narrowed | None]:
        return {"reasoning": Narrowed(usual=""), "bid": Narrowed(self._worth_saying)}

    def decision_of(self, said: Mapping[str, Any]) -> BidCast:
        cast = super().decision_of(said)
        if cast.bid is None or cast.bid < 0:
            raise UnreadableReply("In the JSON object, bid must be a whole number, 0 or more.")
        return cast

    def fallback(self) -> BidCast:
        return BidCast(bid=None)


async def take_bids(table: Table, auction: Auction, config: AuctionConfig, terms: AuctionBegan) -> bool:
    """One iteration: all teams bid at once, on the same state; whether one of the bids counted.

    The leader is asked too, unless the config leaves it in peace. The bids are processed in a fresh random order, which
    is what "first come" means.
    """
    auction.iteration += 1
    asked = [team for team in auction.teams if config.ask_leader or team != auction.high.team]
    requests = [
        Bid(
            player=team,
            terms=terms,
            shuffled=config.item_order == "shuffled",
            state=view(auction, team),
            refused=_refused(table, team),
            reasoning_chars=config.reasoning_chars,
        )
        for team in asked
    ]
    bids = dict(zip(asked, await table.ask_all(requests), strict=True))
    order = table.chance.stream("order").shuffled(asked)
    counted = [_process(table, auction, team, bids[team], config.reasoning_chars) for team in order]
    return any(counted)


def _refused(table: Table, team: str) -> str:
    """Why this team's last bid did not count, where it did not."""
    heard = (told.event for told in reversed(table.heard(team)))
    return next((filled(_REFUSED, event) for event in heard if isinstance(event, BidMade) and event.team == team), "")


def _process(table: Table, auction: Auction, team: str, cast: BidCast, most: int) -> bool:
    """Let one bid count if it can, and tell it; what does not count, and what is sealed, the others never learn."""
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
