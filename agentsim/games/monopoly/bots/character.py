"""Characters: what all personalities share: a policy for each kind of request, and common decisions.

A character is a pure function of a request and a random stream; its memory is in the request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.wording import counted
from agentsim.games.monopoly.auctions import AuctionBid, Bid, StakedBid
from agentsim.games.monopoly.board import DEEDS, FINE, SPACES, group_name
from agentsim.games.monopoly.bots.building import raised
from agentsim.games.monopoly.bots.worth import Deal, Taste, best_deal, judged, npv, proposal, wanted, worst_rent
from agentsim.games.monopoly.building import (
    Bundle,
    Funds,
    HouseOrHotel,
    LiftedOnReceipt,
    LiftOnReceipt,
    Managed,
    ManageEstate,
)
from agentsim.games.monopoly.buying import Bought, BuyOrAuction, Funded, RaiseFirst
from agentsim.games.monopoly.debts import RaiseCash, Raised
from agentsim.games.monopoly.jail import JailAction, JailChoice
from agentsim.games.monopoly.phase import DoEstate, DoNothing, DoTrade, PhaseAction, PhaseChoice
from agentsim.games.monopoly.question import MonopolyRequest, Reacted
from agentsim.games.monopoly.state import BANK, View
from agentsim.games.monopoly.trade import (
    Answered,
    AnswerTrade,
    Proposal,
    Proposed,
    ProposeTrade,
    React,
    Side,
    interest_on,
)

Lines: TypeAlias = Mapping[str, tuple[str, ...]]
"""Speeches by occasion; in a pitch `{name}` is the other player, and `{group}` the group the proposer would complete.
"""
BUY, AUCTION = Bought(action="buy"), Bought(action="auction")
OUT = Bid(action=StakedBid(bid=0))
PASS = Proposed(action=Proposal())
IDLE = Managed(action=Bundle())
DONE = PhaseChoice(action=DoNothing())
_POLICIES: Mapping[type[Any], Callable[[Character, Any, Stream], Decision]] = {
    PhaseAction: lambda bot, request, rng: bot.act(request, rng),
    ProposeTrade: lambda bot, request, rng: bot.propose(request, rng),
    ManageEstate: lambda bot, request, rng: bot.grow(request, rng),
    AuctionBid: lambda bot, request, _: bot.bid(request),
    BuyOrAuction: lambda bot, request, rng: bot.buy(request, rng),
    AnswerTrade: lambda bot, request, rng: bot.answer(request, rng),
    JailAction: lambda bot, request, _: bot.jail(request),
    RaiseCash: lambda _, request, __: Raised(action=raised(request)),
    RaiseFirst: lambda *_: Funded(action=Funds()),
    LiftOnReceipt: lambda *_: LiftedOnReceipt(action=()),
    React: lambda bot, _, rng: Reacted(public_speech=bot.heard("done", rng)),
}
FINED, CARD, ROLL = (JailChoice.model_validate({"action": way}) for way in ("pay_fine", "use_card", "roll_doubles"))
_DANGEROUS = 200
"""The rent in dollars from which on jail is the better place to be."""


class Character:
    """One personality; amounts are in dollars."""

    taste: ClassVar[Taste] = {}
    least: ClassVar[int]
    """The cash below which none of its choices takes it."""
    most: ClassVar[int]
    """The most cash that it keeps when it spends by choice."""
    asks: ClassVar[int] = 0
    """The gain that it requires of a trade that it is offered, as a rule."""
    leaves: ClassVar[int] = 0
    """The gain that its trades must leave the other player, plus `sweetening` for each one that the other rejected."""
    sweetening: ClassVar[float] = 40.0
    silent: ClassVar[float] = 0.0
    """The probability that it proposes nothing when it may."""
    talks: ClassVar[float]
    """The probability that it says something on an occasion for words."""
    EAGER: ClassVar[int] = 2
    """The multiple of the printed price that it bids at most for one of the last buildings."""
    lines: ClassVar[Lines]
    thought: ClassVar[str] = ""
    """Its thought about an offer, if it answers it with a speech."""

    def __call__(self, request: Any, rng: Stream) -> Decision:
        return _POLICIES[type(request)](self, request, rng)

    # -- what each personality may change

    def reserve(self, view: View, seat: int, rng: Stream) -> int:
        """Return the cash to keep when it spends by choice: the highest rent that it could owe, within limits."""
        return max(self.least, min(self.most, self.worst(view, seat)))

    def floor(self, request: MonopolyRequest[Any], position: int) -> int:
        """Return the cash below which it does not buy this deed."""
        return self.least

    def value(self, request: AuctionBid, position: int) -> int:
        """Return the most that it bids for a deed, if it has the cash."""
        return self.worth(request, position)

    def stake(self, request: ProposeTrade | PhaseAction, rng: Stream) -> int:
        """Return the most cash that it offers in a trade."""
        return request.you.cash - self.least

    def manage(self, request: ManageEstate | PhaseAction, rng: Stream) -> Managed:
        raise NotImplementedError

    # -- what all share

    def say(self, occasion: str, rng: Stream) -> str:
        return rng.pick(self.lines[occasion])

    def heard(self, occasion: str, rng: Stream) -> str:
        """Return what `say` does, or "" for silence."""
        return self.say(occasion, rng) if rng.random() < self.talks else ""

    def worst(self, view: View, seat: int) -> int:
        """Return the highest rent that a seat could owe now."""
        return worst_rent(view.owner, view.houses, view.mortgaged, seat)

    def worth(self, request: MonopolyRequest[Any], position: int) -> int:
        """Return the net present value of an unowned deed, in dollars."""
        view = request.view
        return int(npv(view, request.seat, position, len(view.living) - 1, self.taste))

    def buy(self, request: BuyOrAuction, rng: Stream) -> Bought:
        """Buy at the printed price if enough cash is left."""
        kept = request.you.cash - SPACES[request.position].price
        return BUY if kept >= self.floor(request, request.position) else AUCTION

    def bid(self, request: AuctionBid) -> Bid:
        """Raise the highest bid by half of what is left to its limit; bid the limit itself if bids are sealed."""
        lot = request.lot
        value = self.EAGER * lot.price if lot.building else self.value(request, lot.position)
        limit = min(value, request.you.cash - self.floor(request, lot.position))
        if limit < lot.least:
            return OUT
        amount = limit if lot.sealed else max(lot.least, lot.high + (limit - lot.high + 1) // 2)
        return Bid(action=StakedBid(bid=amount))

    def act(self, request: PhaseAction, rng: Stream) -> PhaseChoice:
        """Propose a trade, except between turns, or else manage its estate."""
        if "propose_trade" in request.kinds and request.when != "between":
            offer = self.propose(request, rng)
            if offer.action.propose_trade:
                trade = DoTrade(**dict(offer.action))
                return PhaseChoice(**{**dict(offer), "action": trade})
        if "manage_estate" in request.kinds:
            managed = self.grow(request, rng)
            if not managed.action.empty:
                return PhaseChoice(**{**dict(managed), "action": DoEstate(**dict(managed.action), end_phase=True)})
        return DONE

    def grow(self, request: ManageEstate | PhaseAction, rng: Stream) -> Managed:
        """Manage its estate if there may be a deed to unmortgage or a group to build on."""
        view = request.view
        return self.manage(request, rng) if True in view.mortgaged or view.holdings.monopolies[request.seat] else IDLE

    def propose(self, request: ProposeTrade | PhaseAction, rng: Stream) -> Proposed:
        """Propose the best deal, or with the probability `silent` nothing."""
        if rng.random() < self.silent:
            return PASS
        deal = self.deal(request, self.stake(request, rng), self.leaves)
        return self.proposed(request, deal, rng) if deal else PASS

    def deal(self, request: ProposeTrade | PhaseAction, budget: int, leaves: float) -> Deal | None:
        view = request.view
        if not wanted(view.owner, len(view.seats), request.seat):
            return None
        rejected = {entry.name: entry.rejected for entry in request.memory.rejections}
        margins = tuple(leaves + self.sweetening * rejected.get(seat.name, 0) for seat in view.seats)
        return best_deal(view, request.seat, self.taste, budget, margins)

    def proposed(self, request: ProposeTrade | PhaseAction, deal: Deal, rng: Stream) -> Proposed:
        """Return a deal as a proposal, with a pitch and a thought."""
        other, group = request.view.seats[deal.target], group_name(deal.group)
        pitch = self.say("pitch", rng).format(name=other.name, group=group)
        offer = Side(properties=deal.gives, cash=max(0, deal.cash))
        wants = Side(properties=deal.takes, cash=max(0, -deal.cash))
        thought = f"The {group} group would be whole, and I ${deal.gain:.0f} better off."
        return Proposed(action=proposal(other, offer, wants, pitch), private_thought=thought)

    def gain(self, request: AnswerTrade) -> float:
        """Return what an offer gains in dollars; below zero if it costs."""
        return judged(request.view, request.terms, request.seat, self.taste)[0]

    def affords(self, request: AnswerTrade) -> bool:
        """Return whether a trade costs no cash, or leaves at least `least`."""
        terms = request.terms
        costs = terms.request.cash - terms.offer.cash + interest_on(request.view.mortgaged, terms.offer.properties)
        return costs <= 0 or request.you.cash - costs >= self.least

    def asked(self, rng: Stream) -> float:
        return self.asks

    def answer(self, request: AnswerTrade, rng: Stream) -> Answered:
        """Accept what gains enough, and costs no cash or leaves enough."""
        asked = self.asked(rng)
        gain = self.gain(request)
        action = "accept" if self.affords(request) and gain >= asked else "reject"
        speech = self.heard(action, rng)
        thought = self.thought.format(gain=gain) if speech else ""
        return Answered(action=action, public_speech=speech, private_thought=thought)

    def built(
        self,
        unmortgages: tuple[int, ...],
        builds: tuple[HouseOrHotel, ...],
        rng: Stream,
        mortgages: tuple[int, ...] = (),
    ) -> Managed:
        """Return the bundle, with words if it builds; `IDLE` if it neither builds nor unmortgages."""
        if not unmortgages and not builds:
            return IDLE
        speech = self.heard("build", rng) if builds else ""
        thought = (
            f"{counted(len(builds), 'level')} on {SPACES[builds[0].position].name} and its group." if speech else ""
        )
        action = Bundle(mortgages=mortgages, unmortgages=unmortgages, builds=builds)
        return Managed(action=action, public_speech=speech, private_thought=thought)

    def jail(self, request: JailAction) -> JailChoice:
        """Leave jail while there are deeds to buy or rents are low; else stay there, and collect rent."""
        view = request.view
        busy = any(view.owner[position] == BANK for position in DEEDS)
        if busy or self.worst(view, request.seat) < _DANGEROUS:
            if "use_card" in request.actions:
                return CARD
            if "pay_fine" in request.actions and request.you.cash >= 2 * FINE:
                return FINED
        return ROLL
