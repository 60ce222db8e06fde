"""Character: what all personalities share: how each kind of request is put to one, and the decisions that cost nothing.

A character is a pure function of a request and a stream; what it remembers, the request remembers.
"""

from __future__ import annotations

from typing import Any, ClassVar

from agentsim.engine.chance import Stream
from agentsim.engine.reading import Decision
from agentsim.games.monopoly.board import DEEDS, FINE, SPACES, group_name
from agentsim.games.monopoly.bots.building import raised
from agentsim.games.monopoly.bots.offers import Deal, best_deal, wanted
from agentsim.games.monopoly.bots.words import Lines
from agentsim.games.monopoly.bots.worth import Taste, judged, npv, worst_rent
from agentsim.games.monopoly.building import Managed, ManageEstate
from agentsim.games.monopoly.bundle import Build, Bundle
from agentsim.games.monopoly.buying import AuctionBid, Bid, Bought, BuyOrAuction, StakedBid
from agentsim.games.monopoly.debts import RaiseCash, Raised
from agentsim.games.monopoly.estate import BANK
from agentsim.games.monopoly.jail import JailAction, JailChoice
from agentsim.games.monopoly.question import MonopolyRequest, Reacted
from agentsim.games.monopoly.state import View
from agentsim.games.monopoly.trade import Proposal, interest_on
from agentsim.games.monopoly.trading import Answered, AnswerTrade, Proposed, ProposeTrade, React

BUY, AUCTION = Bought(action="buy"), Bought(action="auction")
OUT = Bid(action=StakedBid(bid=0))
PASS = Proposed(action=Proposal())
IDLE = Managed(action=Bundle())
FINED, CARD, ROLL = (JailChoice.model_validate({"action": way}) for way in ("pay_fine", "use_card", "roll_doubles"))
_DANGEROUS = 200
"""A rent that makes jail the better place to be."""


class Character:
    """One personality; `reserve` is the cash in dollars that it keeps when it spends of its own will."""

    taste: ClassVar[Taste] = {}
    least: ClassVar[int]
    """Dollars below which nothing that it chooses takes its cash."""
    lines: ClassVar[Lines]
    talks: ClassVar[float]
    """How likely it says something on an occasion for words."""

    def __call__(self, request: Any, rng: Stream) -> Decision:
        match request:
            case ProposeTrade():
                return self.propose(request, rng)
            case ManageEstate():
                return self.manage(request, rng) if _can_grow(request) else IDLE
            case AuctionBid():
                return self.bid(request, rng)
            case BuyOrAuction():
                return self.buy(request, rng)
            case AnswerTrade():
                return self.answer(request, rng)
            case JailAction():
                return self.jail(request)
            case RaiseCash():
                return Raised(action=raised(request))
            case React():
                return Reacted(public_speech=self.heard("done", rng))
            case _:
                raise AssertionError(f"no policy for {request.kind}")

    # -- what each has of its own

    def reserve(self, view: View, seat: int, rng: Stream) -> int:
        raise NotImplementedError

    def buy(self, request: BuyOrAuction, rng: Stream) -> Bought:
        raise NotImplementedError

    def limit(self, request: AuctionBid, rng: Stream) -> int:
        """The most that it bids."""
        raise NotImplementedError

    def propose(self, request: ProposeTrade, rng: Stream) -> Proposed:
        raise NotImplementedError

    def answer(self, request: AnswerTrade, rng: Stream) -> Answered:
        raise NotImplementedError

    def manage(self, request: ManageEstate, rng: Stream) -> Managed:
        raise NotImplementedError

    # -- what they share

    def say(self, occasion: str, rng: Stream) -> str:
        """Words for an occasion, in character."""
        return rng.pick(self.lines[occasion])

    def heard(self, occasion: str, rng: Stream) -> str:
        """As `say`, or silence."""
        return self.say(occasion, rng) if rng.random() < self.talks else ""

    def worst(self, view: View, seat: int) -> int:
        """The highest rent that a seat may owe now."""
        return worst_rent(view.owner, view.level, view.mortgaged, seat)

    def worth(self, request: MonopolyRequest[Any], position: int) -> int:
        """Net present value of an unowned deed, in dollars."""
        view = request.view
        return int(npv(view, request.seat, position, len(view.living) - 1, self.taste))

    def bid(self, request: AuctionBid, rng: Stream) -> Bid:
        """Up to the limit, by a quarter of what is left to it; one bid where bids are sealed."""
        lot, limit = request.lot, min(self.limit(request, rng), request.you.cash)
        if limit < lot.least:
            return OUT
        amount = limit if lot.sealed else max(lot.least, lot.high + (limit - lot.high + 1) // 2)
        return Bid(action=StakedBid(bid=amount))

    def gain(self, request: AnswerTrade) -> float:
        """What the offer gains, in dollars; less than nothing where it costs."""
        return judged(request.view, request.terms, request.seat, self.taste)[0]

    def affords(self, request: AnswerTrade) -> bool:
        """Whether the trade costs no cash, or leaves enough."""
        view, terms = request.view, request.terms
        costs = terms.request.cash - terms.offer.cash
        costs += interest_on(view.mortgaged, terms.offer.properties)
        return costs <= 0 or request.you.cash - costs >= self.least

    def deal(self, request: ProposeTrade, budget: int, margin: float, sweetening: float = 40.0) -> Deal | None:
        """The best trade to propose; who has rejected lately is offered more, by `sweetening` for each time."""
        view = request.view
        if not wanted(view.owner, len(view.seats), request.seat):
            return None
        rejected = {entry.name: entry.rejected for entry in request.memory.rejections}
        margins = tuple(margin + sweetening * rejected.get(seat.name, 0) for seat in view.seats)
        return best_deal(view, request.seat, self.taste, budget, margins)

    def proposed(self, request: ProposeTrade, deal: Deal, rng: Stream) -> Proposed:
        """The deal, with a pitch and a thought."""
        view = request.view
        group = group_name(deal.group)
        pitch = self.say("pitch", rng).format(name=view.seats[deal.target].name, group=group)
        thought = f"The {group} group would be whole, and I ${deal.gain:.0f} better off."
        return Proposed(action=deal.proposal(view, pitch), private_thought=thought)

    def built(
        self, lifts: tuple[int, ...], builds: tuple[Build, ...], rng: Stream, mortgages: tuple[int, ...] = ()
    ) -> Managed:
        """The bundle, with words where it builds."""
        if not lifts and not builds:
            return IDLE
        speech = self.heard("build", rng) if builds else ""
        return Managed(
            action=Bundle(mortgages=mortgages, unmortgages=lifts, builds=builds),
            public_speech=speech,
            private_thought=f"{len(builds)} levels on {SPACES[builds[0].position].name} and its group."
            if builds and speech
            else "",
        )

    def jail(self, request: JailAction) -> JailChoice:
        """Out while there is something to buy or nothing to fear; else stay, and collect rent."""
        view = request.view
        busy = any(view.owner[position] == BANK for position in DEEDS)
        if busy or self.worst(view, request.seat) < _DANGEROUS:
            if "use_card" in request.actions:
                return CARD
            if "pay_fine" in request.actions and request.you.cash >= 2 * FINE:
                return FINED
        return ROLL


def _can_grow(request: ManageEstate) -> bool:
    """Whether there may be a mortgage to lift or a group to build on; most often there is neither."""
    view = request.view
    return True in view.mortgaged or bool(view.holdings.whole[request.seat])
