"""Exchange: what one agent offers and another accepts, at once or against a promise, which is kept or broken.

Offers and promises are kept by `bargains`. A promise is kept by gifts (`work.Trade`) to whom it was made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from agentsim.engine import Everyone, Table
from agentsim.engine.decision import whole
from agentsim.engine.event import FOR
from agentsim.engine.event import Deed as Done
from agentsim.engine.wording import By, If
from agentsim.games.society.amounts import Amount
from agentsim.games.society.bargains import Offer, Promise
from agentsim.games.society.state import State
from agentsim.games.society.terms import Positive, Resource
from agentsim.games.society.turn import Action, Deed, Id, Known, Turn

MOST_OFFERS = 5
"""Open offers of one agent."""
_LATER = By("later", {"mine": ", its own part {days} days later", "theirs": ", the other part {days} days later"})


class _OfTwo:
    """Says who may hear of what two agents agree on: what was offered to any one is `public`."""

    agent: int
    recipient: int
    public: bool

    @property
    def pair(self) -> tuple[int, int] | None:
        """Both agents, who alone hear of it; None where it is public."""
        return None if self.public else (self.agent, self.recipient)


class _Bargain(_OfTwo, Deed, base=True):
    """Base of an offer and of its acceptance; `recipient` 0 of an offer is any one."""

    offer: int
    recipient: int
    gives: Resource
    amount: Amount
    wants: Resource
    price: Amount
    later: Literal["none", "mine", "theirs"]
    days: int
    public: bool


class Offered(
    _Bargain,
    heading=("Agent #{agent}: offer {offer}", If("recipient", " to agent #{recipient}")),
    content=("{amount} {gives} for {price} {wants}", _LATER, "."),
    private=("pair",),
):
    """It closes on the evening of day `closes`."""

    closes: int


class Accepted(
    _Bargain,
    heading="Agent #{agent} accepts offer {offer} of agent #{recipient}",
    content=("{amount} {gives} for {price} {wants}", _LATER, "."),
    private=("pair",),
    concerns=("recipient",),
    deeds=(Done("agent", "recipient", "traded with", FOR, "price"),),
):
    """`gives` and `wants` are the offer's: the one who accepts gets the first and gives the second."""

    def handed(self) -> Iterator[tuple[int, int, Resource, int]]:
        """Who gives whom at once how much of what."""
        if self.later != "mine":
            yield self.recipient, self.agent, self.gives, self.amount
        if self.later != "theirs":
            yield self.agent, self.recipient, self.wants, self.price


class PromiseEnded(
    _OfTwo,
    Deed,
    heading=(
        "Agent #{agent} ",
        By("result", {"kept": "keeps", "broken": "breaks"}, "is free of"),
        " promise {promise}",
    ),
    content="To give agent #{recipient} {amount} {resource} by the evening of day {due}: {given} were given.",
    private=("pair",),
    concerns=("agent", "recipient"),
):
    """`void` is a promise of which one side is dead. It has the number of its offer."""

    promise: int
    recipient: int
    resource: Resource
    amount: Amount
    given: Amount
    due: int
    result: Literal["kept", "broken", "void"]
    public: bool


class MakeOffer(Action, needs=("exchange",)):
    """So much of one resource for so much of another, at once, or one side of it `days` later."""

    action: Literal["offer"] = "offer"
    recipient_agent_id: Annotated[int, Field(ge=0), BeforeValidator(whole)]
    resource_type: Resource
    amount: Positive
    for_type: Resource
    for_amount: Positive
    later: Literal["none", "mine", "theirs"] = "none"
    days: Annotated[int, Field(ge=0, le=1_000), BeforeValidator(whole)] = 0

    def why_not(self, known: Known) -> str:
        if alone := known.no_company(self.recipient_agent_id) if self.recipient_agent_id else "":
            return alone
        if (self.later == "none") != (self.days == 0):
            return "a part that is promised for later has days from 1, and one at once 0"
        if known.day + self.days > known.rules.days:
            return "it would be due after the last day"
        if known.open_offers >= MOST_OFFERS:
            return f"you have {MOST_OFFERS} open offers"
        return "" if self.later == "mine" else known.too_little(self.resource_type, self.amount)

    def happen(self, turn: Turn) -> None:
        bargains, day = turn.state.bargains, turn.day
        closes = day + turn.rules.offer_days - 1
        parts = (self.resource_type, self.amount, self.for_type, self.for_amount, self.later, self.days)
        bargains.offered += 1
        offer = Offer(bargains.offered, turn.agent, self.recipient_agent_id, *parts, closes)
        bargains.offers.add(offer)
        told = Offered(day, turn.agent, offer.id, offer.to, *parts, public=not offer.to, closes=closes)
        turn.tell_pair(told, offer.to)


class Accept(Action, needs=("exchange",)):
    """Both sides at once, as far as none is promised for later."""

    action: Literal["accept"] = "accept"
    offer_id: Id

    def why_not(self, known: Known) -> str:
        offer = known.offer(self.offer_id)
        if offer is None or offer.to not in {0, known.agent}:
            return f"there is no open offer {self.offer_id} to you"
        if offer.by == known.agent:
            return "that is your own offer"
        if known.day + offer.days > known.rules.days:
            return "it would be due after the last day"
        lacks = "" if offer.later == "theirs" else known.too_little(offer.wants, offer.price)
        return lacks or known.unable(offer)

    def happen(self, turn: Turn) -> None:
        state, day, citizen = turn.state, turn.day, turn.citizen
        offer = state.bargains.offers.all[self.offer_id]
        state.bargains.offers.end(offer)
        author, public, due = state.citizen(offer.by), not offer.to, day + offer.days
        for whose, giver, taker, resource, amount in (
            ("mine", author, citizen, offer.gives, offer.amount),
            ("theirs", citizen, author, offer.wants, offer.price),
        ):
            if offer.later == whose:
                what = (resource, amount, due, public)
                state.bargains.promises.add(Promise(offer.id, giver.number, taker.number, *what))
            else:
                state.trade(resource, amount, giver, taker)
        parts = (offer.gives, offer.amount, offer.wants, offer.price, offer.later, offer.days, public)
        turn.tell_pair(Accepted(day, turn.agent, offer.id, author.number, *parts), 0 if public else author.number)


def ended(state: State, promise: Promise, result: Literal["kept", "broken", "void"]) -> PromiseEnded:
    """What became of a promise."""
    what = (promise.resource, promise.amount, promise.given, promise.due)
    return PromiseEnded(state.day, promise.by, promise.id, promise.to, *what, result, promise.public)


def settle(table: Table, state: State) -> None:
    """In the evening: offers that are over end, and so do promises that are due, and those of the dead."""
    bargains, dead = state.bargains, set(state.gone)
    for offer in [*bargains.offers.all.values()]:
        if offer.closes <= state.day or {offer.by, offer.to} & dead:
            bargains.offers.end(offer)
    for promise in [*bargains.promises.all.values()]:
        void = bool({promise.by, promise.to} & dead)
        if void or promise.due <= state.day:
            bargains.promises.end(promise)
            pair = tuple(state.citizen(number).player for number in (promise.by, promise.to))
            table.tell(ended(state, promise, "void" if void else "broken"), to=Everyone if promise.public else pair)
