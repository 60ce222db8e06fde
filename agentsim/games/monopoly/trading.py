"""Trading: a trade from its proposal to its answer: who is asked what, what all are told, what changes hands.

What is a legal trade is `trade`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from agentsim.engine.event import AGAINST, FOR, Deed, Interaction, Past
from agentsim.engine.prompt import quoted
from agentsim.engine.request import Choice
from agentsim.engine.wording import Worded, sentence
from agentsim.games.monopoly.board import SPACES, handed_cards
from agentsim.games.monopoly.estate import BANK
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.question import MonopolyRequest, Reacted, Spoken, Word
from agentsim.games.monopoly.receipt import received
from agentsim.games.monopoly.talk import Remembered, Talk
from agentsim.games.monopoly.trade import Offered, Side, Terms, consequences, interest_on, terms_of, why_not

_PROPOSED = (Deed("proposer", "target", "proposed a trade"),)
_REJECTED = (Deed("target", "proposer", "rejected a trade", AGAINST),)
_OFFERS = "{proposer_name} offers {target_name} {offer} for {request}"


# -- proposed


class _Trade(Remembered, base=True):
    number: int
    proposer: str
    target: str
    proposer_name: str
    target_name: str


class TradeProposed(_Trade, heading=_OFFERS, words="pitch", deeds=_PROPOSED):
    short = _OFFERS
    offer: Side
    request: Side
    pitch: str

    @property
    def weight(self) -> int:
        return super().weight + len(str(self.offer)) + len(str(self.request))

    def enter(self, talk: Talk, turn: int) -> None:
        if self.proposer == talk.player:
            talk.discard(turn, "")


class TradeDiscarded(Remembered, heading="{name}'s proposal is discarded", content="{problem}", private=("proposer",)):
    """A proposal that cannot be; it counts as one, and only its proposer hears why."""

    proposer: str
    name: str
    problem: Annotated[str, Worded(sentence)]

    @property
    def turned_away(self) -> bool:
        return True

    def enter(self, talk: Talk, turn: int) -> None:
        talk.discard(turn, self.problem)


# -- answered


class _TradeAnswered(_Trade, heading="{target_name} {verb} {proposer_name}'s trade", base=True):
    """`number` is that of the proposal; the terms stand there."""

    short = "{target_name} {verb} it"
    verb: ClassVar[str] = ""

    def enter(self, talk: Talk, turn: int) -> None:
        if self.proposer == talk.player:
            talk.answered(self.target, self.target_name, accepted=isinstance(self, TradeAccepted))


class TradeAccepted(_TradeAnswered, content="It is carried out."):
    verb = "accepts"

    def interactions(self, past: Past) -> Iterator[Interaction]:
        """Both get something by it, the one what it asked for."""
        terms = past.last(TradeProposed, number=self.number)
        yield Interaction(self.target, self.proposer, "accepted a trade", FOR, terms.request.price if terms else None)
        if terms is not None and terms.offer.price:
            yield Interaction(self.proposer, self.target, "gave in a trade", FOR, terms.offer.price)


class TradeRejected(_TradeAnswered, content="Nothing changes hands.", deeds=_REJECTED):
    verb = "rejects"


class Answered(Spoken[str]):
    action: Annotated[Word, Choice(("accept", "reject"))]


class AnswerTrade(MonopolyRequest[Answered]):
    """The offer is what you would get, the request what you would give."""

    terms: Terms
    pitch: str

    def question(self) -> tuple[str, ...]:
        """The terms in full, with all that decides their worth; the pitch as its proposer's words."""
        terms, estate, cash = self.terms, self.view.estate(), self.you.cash
        left = cash + terms.offer.cash - terms.request.cash - interest_on(estate.mortgaged, terms.offer.properties)
        return (
            f"{self.view.seats[terms.proposer].name} offers you a trade. You would get:",
            *map("- {}".format, terms.offer.described(estate)),
            "You would give:",
            *map("- {}".format, terms.request.described(estate)),
            *consequences(self.view, terms, self.seat),
            f"You have ${cash} and would have ${left}.",
            quoted(pitch=self.pitch),
            "Do you accept?",
        )

    def fingerprint_fields(self) -> Mapping[str, Any]:
        sides = [side.model_dump(mode="json") for side in (self.terms.offer, self.terms.request)]
        return {**super().fingerprint_fields(), "proposer": self.terms.proposer, "terms": sides}

    def fallback(self) -> Answered:
        return self.silent(action="reject")


class React(MonopolyRequest[Reacted]):
    """Your trade is accepted and done: anything to say?"""

    terms: Terms

    def question(self) -> tuple[str, ...]:
        gave, got = ("; ".join(side.parts(" in cash")) for side in (self.terms.offer, self.terms.request))
        return (
            f"{self.view.seats[self.terms.target].name} has accepted your trade: you gave {gave}, and got {got}.",
            "You may say something to the table, or nothing.",
        )

    def fallback(self) -> Reacted:
        return Reacted()


async def deal(match: Match, proposer: int, proposal: Offered) -> None:
    """Put a proposal before the table, have it answered, carry it out. One that cannot be is discarded."""
    state, seat = match.state, match.seat(proposer)
    terms = terms_of(state.seats, proposer, proposal)
    if wrong := why_not(state.estate, state.seats, terms):
        match.tell(TradeDiscarded(*match.who(proposer), wrong), to=(seat.id,), by=proposer)
        return
    match.proposed += 1
    target, other = terms.target, match.seat(terms.target)
    trade = (match.proposed, seat.id, other.id, seat.name, other.name)
    pitch = match.in_few_words(proposal.pitch)
    match.tell(TradeProposed(*trade, terms.offer, terms.request, pitch), by=proposer)
    answer = await match.ask(target, AnswerTrade, terms=terms, pitch=pitch)
    if answer.action == "reject" or why_not(state.estate, state.seats, terms):
        match.tell(TradeRejected(*trade), by=target)
        return
    match.tell(TradeAccepted(*trade), by=target)
    mortgaged = tuple(state.estate.mortgaged)
    ways = ((proposer, target, terms.offer), (target, proposer, terms.request))
    cards = [handed_cards(match.seat(giver).cards, side.jail_cards) for giver, _, side in ways]
    for (giver, taker, side), handed in zip(ways, cards, strict=True):
        match.pay(giver, taker, side.cash, "trade")
        for position in side.properties:
            match.give_deed(position, taker, "trade")
        for name in handed:
            match.give_card(giver, taker, name)
    for _, taker, side in ways:
        for position in await received(match, taker, [at for at in side.properties if mortgaged[at]]):
            match.pay(taker, BANK, SPACES[position].interest, "interest", position)
    await match.ask(proposer, React, terms=terms)
