"""Requests of Monopoly: what a player is asked, and what may be answered. How it is put in words is `prompts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

from agentsim.engine.prompt import Prompt
from agentsim.engine.reading import Decision
from agentsim.engine.request import Choice, Options, Range, Request, Text
from agentsim.errors import IllegalDecision
from agentsim.games.monopoly import bundle, prompts, questions
from agentsim.games.monopoly.actions import (
    Answered,
    Bid,
    Bought,
    Bundle,
    JailChoice,
    Managed,
    Proposal,
    Proposed,
    Raise,
    Raised,
    Reacted,
    Sale,
    Spoken,
    StakedBid,
)
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.talk import Memory
from agentsim.games.monopoly.trade import Terms
from agentsim.games.monopoly.view import Lot, SeatView, View

__all__ = [
    "REQUESTS",
    "AnswerTrade",
    "AuctionBid",
    "BuyOrAuction",
    "JailAction",
    "ManageEstate",
    "MonopolyRequest",
    "ProposeTrade",
    "RaiseCash",
    "React",
]

S = TypeVar("S", bound=Spoken)
_LONGEST_WORD = 12  # characters, for the limit on a speech that is counted in words
BID_STEP = 10  # of a player that could not be asked


@dataclass(frozen=True, kw_only=True)
class MonopolyRequest(Request[S]):
    """Base of all: the board as it is now, and what the player remembers; `words` and `chars` limit what it may say."""

    function: ClassVar[str | None] = "make_decision"

    view: View
    memory: Memory
    words: int
    chars: int

    @property
    def seat(self) -> int:
        """The player's number."""
        return self.view.seat(self.player)

    @property
    def you(self) -> SeatView:
        """The player."""
        return self.view.seats[self.seat]

    def options(self) -> Options:
        return {
            **self.choices(),
            "public_speech": Text(self.words * _LONGEST_WORD),
            "private_thought": Text(self.chars),
        }

    def choices(self) -> Options:
        """The legal actions, where they are few."""
        return {}

    def prompt(self) -> Prompt:
        return prompts.composed(self.view, self.seat, self.memory, self.question(), self.words)

    def facts(self) -> tuple[str, ...]:
        return (*prompts.state_lines(self.view, self.seat), *self.question())

    def question(self) -> tuple[str, ...]:
        """What is to be decided, with every number that decides how it goes."""
        raise NotImplementedError

    def particulars(self) -> Mapping[str, Any]:
        view = self.view
        return {
            "turn": view.turn,
            "cash": [seat.cash for seat in view.seats],
            "at": [seat.position for seat in view.seats],
            "held": [view.owner.count(number) for number in range(len(view.seats))],
        }

    def silent(self, **action: Any) -> S:
        """The decision of somebody who could not be asked: as little as can be, and so said."""
        spoken: Any = self.answer
        decision: S = spoken(
            public_speech=f"{self.you.name} is thinking...",
            private_thought="[Decision made by the fallback policy: no usable reply came]",
            **action,
        )
        return decision


@dataclass(frozen=True, kw_only=True)
class BuyOrAuction(MonopolyRequest[Bought]):
    """The space is unowned and the player has its price."""

    kind: ClassVar[str] = "buy_or_auction"
    answer: ClassVar[type[Decision]] = Bought

    position: int

    def choices(self) -> Options:
        return {"action": Choice(("buy", "auction"))}

    def question(self) -> tuple[str, ...]:
        return questions.buy_or_auction(self.view, self.seat, self.position)

    def fallback(self) -> Bought:
        """Buy with twice the price in cash."""
        return self.silent(action="buy" if self.you.cash >= 2 * SPACES[self.position].price else "auction")


@dataclass(frozen=True, kw_only=True)
class AuctionBid(MonopolyRequest[Bid]):
    """A bid for the lot, or 0."""

    kind: ClassVar[str] = "auction_bid"
    answer: ClassVar[type[Decision]] = Bid

    lot: Lot

    def choices(self) -> Options:
        return {"action.bid": Range(0, self.you.cash)}

    def check(self, decision: Bid) -> None:
        super().check(decision)
        if 0 < decision.action.bid < self.lot.least:
            raise IllegalDecision(f"action.bid must be 0, or from {self.lot.least} to {self.you.cash}.")

    def question(self) -> tuple[str, ...]:
        return questions.auction_bid(self.view, self.seat, self.lot)

    def particulars(self) -> Mapping[str, Any]:
        lot = self.lot
        return {**super().particulars(), "position": lot.position, "high": lot.high, "least": lot.least}

    def fallback(self) -> Bid:
        """Ten more than the highest, as far as the cash goes, while that is below the printed price."""
        lot, cash = self.lot, self.you.cash
        bid = min(max(lot.high + BID_STEP, lot.least), cash) if lot.high < SPACES[lot.position].price <= cash else 0
        return self.silent(action=StakedBid(bid=bid if bid >= lot.least else 0))


@dataclass(frozen=True, kw_only=True)
class ProposeTrade(MonopolyRequest[Proposed]):
    """A trade, or none; `made` in this phase so far, `left` that may still be. Whether it can be, the table says."""

    kind: ClassVar[str] = "propose_trade"
    answer: ClassVar[type[Decision]] = Proposed

    when: Literal["before", "after"]
    made: int
    left: int

    def choices(self) -> Options:
        return {"action.pitch": Text(self.chars)}

    def question(self) -> tuple[str, ...]:
        return questions.propose_trade(self.view, self.seat, self.when, self.made, self.left)

    def particulars(self) -> Mapping[str, Any]:
        return {**super().particulars(), "when": self.when, "made": self.made}

    def fallback(self) -> Proposed:
        return self.silent(action=Proposal())


@dataclass(frozen=True, kw_only=True)
class AnswerTrade(MonopolyRequest[Answered]):
    """The offer is what you would get, the request what you would give."""

    kind: ClassVar[str] = "answer_trade"
    answer: ClassVar[type[Decision]] = Answered

    terms: Terms
    pitch: str

    def choices(self) -> Options:
        return {"action": Choice(("accept", "reject"))}

    def question(self) -> tuple[str, ...]:
        return questions.answer_trade(self.view, self.seat, self.terms, self.pitch)

    def particulars(self) -> Mapping[str, Any]:
        sides = [side.model_dump(mode="json") for side in (self.terms.offer, self.terms.request)]
        return {**super().particulars(), "proposer": self.terms.proposer, "terms": sides}

    def fallback(self) -> Answered:
        return self.silent(action="reject")


@dataclass(frozen=True, kw_only=True)
class React(MonopolyRequest[Reacted]):
    """Your trade is accepted and done: anything to say?"""

    kind: ClassVar[str] = "react"
    answer: ClassVar[type[Decision]] = Reacted

    terms: Terms

    def question(self) -> tuple[str, ...]:
        return questions.react(self.view, self.terms)

    def fallback(self) -> Reacted:
        return Reacted()


@dataclass(frozen=True, kw_only=True)
class JailAction(MonopolyRequest[JailChoice]):
    """How to leave jail; `choices` are those that are open now."""

    kind: ClassVar[str] = "jail_action"
    answer: ClassVar[type[Decision]] = JailChoice

    actions: tuple[str, ...]

    def choices(self) -> Options:
        return {"action": Choice(self.actions)}

    def question(self) -> tuple[str, ...]:
        return questions.jail_action(self.view, self.seat, self.actions)

    def fallback(self) -> JailChoice:
        """Pay, else play a card, else roll."""
        order = ("pay_fine", "use_card", "roll_doubles")
        return self.silent(action=next(action for action in order if action in self.actions))


@dataclass(frozen=True, kw_only=True)
class ManageEstate(MonopolyRequest[Managed]):
    """Sell, mortgage, lift, build: one bundle, all or nothing."""

    kind: ClassVar[str] = "manage_estate"
    answer: ClassVar[type[Decision]] = Managed

    when: Literal["before", "after", "jail"]

    def check(self, decision: Managed) -> None:
        super().check(decision)
        if not decision.action.empty:
            bundle.carry_out(self.view.estate(), self.seat, self.you.cash, decision.action)

    def question(self) -> tuple[str, ...]:
        return questions.manage_estate(self.view, self.seat, self.when)

    def particulars(self) -> Mapping[str, Any]:
        return {**super().particulars(), "when": self.when}

    def fallback(self) -> Managed:
        return self.silent(action=Bundle())


@dataclass(frozen=True, kw_only=True)
class RaiseCash(MonopolyRequest[Raised]):
    """`owed` is more than the player has, and the bank would give enough for everything that it holds."""

    kind: ClassVar[str] = "raise_cash"
    answer: ClassVar[type[Decision]] = Raised

    owed: int
    creditor: str
    why: str
    may_propose: bool

    def check(self, decision: Raised) -> None:
        super().check(decision)
        raised = decision.action
        if raised.bundle.empty and not (self.may_propose and raised.trade.propose_trade):
            raise IllegalDecision(f"sell or mortgage something{', or propose a trade' * self.may_propose}: you owe.")
        bundle.carry_out(self.view.estate(), self.seat, self.you.cash, raised.bundle)

    def question(self) -> tuple[str, ...]:
        return questions.raise_cash(
            self.view, self.seat, self.owed, self.creditor, self.why, may_propose=self.may_propose
        )

    def particulars(self) -> Mapping[str, Any]:
        return {**super().particulars(), "owed": self.owed, "may_propose": self.may_propose}

    def fallback(self) -> Raised:
        """Mortgage the cheapest first, then sell evenly, until it is enough."""
        estate, seat, cash = self.view.estate(), self.seat, self.you.cash
        mortgages: list[int] = []
        sells: list[Sale] = []
        for position in sorted(estate.mortgageable(seat), key=lambda position: SPACES[position].mortgage):
            if cash >= self.owed:
                break
            mortgages.append(position)
            cash += SPACES[position].mortgage
        while cash < self.owed and (lots := estate.sellable(seat)):
            lot = min(lots, key=lambda lot: (-estate.level[lot], SPACES[lot].house_cost, lot))
            sells.append(Sale(position=lot, type="hotel" if estate.level[lot] == 5 else "house"))
            cash += estate.sell(lot)
        if not sells and not mortgages:  # hotels that the bank cannot break down: a whole group goes
            sells = bundle.razing(estate, seat)
        return self.silent(action=Raise(sells=tuple(sells), mortgages=tuple(mortgages)))


REQUESTS: tuple[type[Request[Any]], ...] = (
    JailAction,
    ManageEstate,
    ProposeTrade,
    AnswerTrade,
    React,
    BuyOrAuction,
    AuctionBid,
    RaiseCash,
)
