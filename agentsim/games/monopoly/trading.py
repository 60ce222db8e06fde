"""Trading: a trade from its proposal to its answer. What may be traded, and what is told of it, is `trade`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar

from agentsim.engine.prompt import quoted
from agentsim.engine.request import Choice, Options, Text
from agentsim.engine.schema import said
from agentsim.engine.wording import counted
from agentsim.errors import IllegalDecision
from agentsim.games.monopoly import trade
from agentsim.games.monopoly.answers import Reacted, Spoken, Word
from agentsim.games.monopoly.board import GROUPS, SPACES, group_name
from agentsim.games.monopoly.building import DEEDS_IN_WORDS, moment
from agentsim.games.monopoly.config import LONGEST_WORD
from agentsim.games.monopoly.estate import BANK, Estate
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.prompts import deed, rent_line
from agentsim.games.monopoly.question import MonopolyRequest, without
from agentsim.games.monopoly.trade import (
    Proposal,
    Side,
    Terms,
    TradeAccepted,
    TradeDiscarded,
    TradeProposed,
    TradeRejected,
)
from agentsim.games.monopoly.view import SeatView, View

S = TypeVar("S", bound=Spoken)


# -- what is asked


class Proposed(Spoken):
    """A trade, or none."""

    action: Proposal


class Answered(Spoken):
    """`accept` or `reject`."""

    action: Word


class Proposing(MonopolyRequest[S]):
    """A question that a proposal may answer. Any is an answer: whether it can be is the table's verdict, and counts."""

    def check(self, decision: S) -> None:
        if reason := self.why_not(decision):
            raise IllegalDecision(reason)

    def proposals(self, path: str) -> Options:
        """What a proposal at this path may hold."""
        others = (seat.id for seat in self.view.seats if not seat.bankrupt and seat.id != self.player)
        room = Text(self.words * LONGEST_WORD)
        return {f"{path}.target_player": Choice((None, *others)), f"{path}.pitch": room}

    def objection_to(self, proposal: Proposal, estate: Estate, seats: Sequence[SeatView]) -> str:
        """Why the table would discard a proposal; nothing where it would not, or where none is made."""
        terms = trade.terms_of(seats, self.seat, proposal)
        wrong = trade.why_not(estate, seats, terms) if proposal.propose_trade else ""
        return f"{wrong}." if wrong else ""

    def trade_that_can_be(self, action: Mapping[str, Any], seats: Sequence[SeatView]) -> Mapping[str, Any]:
        """For a person: deeds and cards of those who have any, and no more cash than there is."""
        estate = self.view.estate()
        others = [number for number in self.view.living if number != self.seat]
        names = [seats[number].id for number in others]
        action = said(action, "target_player", enum=names, **({"default": names[0]} if len(names) == 1 else {}))
        for side, givers in (("offer", [self.seat]), ("request", others)):
            cash, cards = max(seats[giver].cash for giver in givers), max(len(seats[giver].cards) for giver in givers)
            action = said(action, f"{side}.cash", minimum=0, maximum=cash, default=0)
            action = said(action, f"{side}.jail_cards", minimum=0, maximum=cards, default=0)
            action = said(action, f"{side}.properties", description=DEEDS_IN_WORDS)
            part = action["properties"][side]
            part = part if any(estate.held(number) for number in givers) else without(part, "properties")
            part = part if cards else without(part, "jail_cards")
            action = {**action, "properties": {**action["properties"], side: part}}
        return said(action, "pitch", description="your words to that player; nothing for none")


class ProposeTrade(Proposing[Proposed]):
    """A trade, or none; `made` in this phase so far, `left` that may still be."""

    empty: ClassVar[Mapping[str, Any]] = {"action": {"propose_trade": False}}

    when: Literal["before", "after"]
    made: int
    left: int
    again: bool = False
    """Whether doubles give another roll after this."""

    def choices(self) -> Options:
        return self.proposals("action")

    def warning(self, decision: Proposed) -> str:
        return self.objection_to(decision.action, self.view.estate(), self.view.seats)

    def question(self) -> tuple[str, ...]:
        return (
            f"You may propose a trade to one player, or none ({moment(self.when, again=self.again)}; {self.made} "
            f"proposed in this phase, {self.left} left). What can change hands now, by position:",
            *map(self._has, self.view.living),
        )

    def _has(self, number: int) -> str:
        player, estate = self.view.seats[number], self.view.estate()
        deeds = ", ".join(deed(estate, position) for position in estate.tradeable(number)) or "no deed"
        who = "you" if number == self.seat else f"{player.name} (id {player.id})"
        return f"- {who}: {deeds}; up to ${player.cash}; {counted(len(player.cards), 'card')} out of jail"

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {**super().fingerprint_fields(), "when": self.when, "made": self.made}

    def asked_of(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.trade_that_can_be(action, self.view.seats)

    def fallback(self) -> Proposed:
        return self.silent(action=Proposal())


class AnswerTrade(MonopolyRequest[Answered]):
    """The offer is what you would get, the request what you would give."""

    terms: Terms
    pitch: str

    def choices(self) -> Options:
        return {"action": Choice(("accept", "reject"))}

    def question(self) -> tuple[str, ...]:
        """The terms in full, with all that decides their worth; the pitch as its proposer's words."""
        terms, estate, cash = self.terms, self.view.estate(), self.you.cash
        interest = trade.interest_on(estate.mortgaged, terms.offer.properties)
        return (
            f"{self.view.seats[terms.proposer].name} offers you a trade. You would get:",
            *(f"- {part}" for part in _given(estate, terms.offer)),
            "You would give:",
            *(f"- {part}" for part in _given(estate, terms.request)),
            *_completed(self.view, self.seat, terms),
            f"You have ${cash} and would have ${cash + terms.offer.cash - terms.request.cash - interest}.",
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


def _given(estate: Estate, side: Side) -> Iterator[str]:
    """Every part of one side of a trade, with what decides its value."""
    for position in side.properties:
        space = SPACES[position]
        due = f", mortgaged: ${space.interest} interest due at once, ${space.redemption} to lift it"
        price = f"price ${space.price}{due if estate.mortgaged[position] else ''}"
        yield f"{position} {space.name} ({group_name(space.group)}, {price}). {rent_line(position)}"
    if side.cash or side.jail_cards or side.empty:
        yield from side.model_copy(update={"properties": ()}).parts(" in cash")


def _completed(view: View, seat: int, terms: Terms) -> Iterator[str]:
    """Whose groups the trade completes, and whose it breaks."""
    owner = list(view.owner)
    for side, taker in ((terms.offer, terms.target), (terms.request, terms.proposer)):
        for position in side.properties:
            owner[position] = taker
    for group, lots in GROUPS.items():
        for number in (terms.proposer, terms.target):
            before = all(view.owner[lot] == number for lot in lots)
            after = all(owner[lot] == number for lot in lots)
            if before != after:
                whose = "your" if number == seat else f"{view.seats[number].name}'s"
                yield f"The trade {'completes' if after else 'breaks'} {whose} {group_name(group)} group."


# -- what happens


async def propose(match: Match, number: int, when: Literal["before", "after"], *, again: bool) -> None:
    """Let the player propose trades, as long as it does and there is anything to trade."""
    state, config = match.state, match.config
    for made in range(config.proposals_per_phase):
        left = min(config.proposals_per_phase - made, config.proposals_per_turn - match.proposals)
        if left <= 0 or not trade.possible(state.estate, state.seats):
            break
        decision = await match.ask(number, ProposeTrade, when=when, made=made, left=left, again=again)
        if not decision.action.propose_trade:
            break
        match.proposals += 1
        await deal(match, number, decision.action)


async def deal(match: Match, proposer: int, proposal: Proposal) -> None:
    """Put a proposal before the table, have it answered, carry it out. One that cannot be is discarded."""
    state = match.state
    terms = trade.terms_of(state.seats, proposer, proposal)
    if wrong := trade.why_not(state.estate, state.seats, terms):
        seat = match.seat(proposer)
        match.tell(TradeDiscarded(seat.id, seat.name, wrong), to=(seat.id,), by=proposer)
        return
    match.proposed += 1
    target = terms.target
    parties = (match.seat(proposer).id, match.seat(target).id, match.name(proposer), match.name(target))
    pitch = match.in_few_words(proposal.pitch)
    match.tell(TradeProposed(match.proposed, *parties, terms.offer, terms.request, pitch), by=proposer)
    answer = await match.ask(target, AnswerTrade, terms=terms, pitch=pitch)
    if answer.action == "reject" or trade.why_not(state.estate, state.seats, terms):
        match.tell(TradeRejected(match.proposed, *parties), by=target)
        return
    match.tell(TradeAccepted(match.proposed, *parties), by=target)
    _carry_out(match, terms)
    await match.ask(proposer, React, terms=terms)


def _carry_out(match: Match, terms: Terms) -> None:
    mortgaged = tuple(match.state.estate.mortgaged)
    ways = ((terms.proposer, terms.target, terms.offer), (terms.target, terms.proposer, terms.request))
    cards = [trade.handed_cards(match.seat(giver).cards, side.jail_cards) for giver, _, side in ways]
    for (giver, taker, side), handed in zip(ways, cards, strict=True):
        match.pay(giver, taker, side.cash, "trade")
        for position in side.properties:
            match.give_deed(position, taker, "trade")
        for name in handed:
            match.hand_card(giver, taker, name)
    for _, taker, side in ways:
        for position in filter(mortgaged.__getitem__, side.properties):
            match.pay(taker, BANK, SPACES[position].interest, "interest", position)
