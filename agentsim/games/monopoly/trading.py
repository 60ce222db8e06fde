"""Trading: a trade from its proposal to its answer: who is asked what, what all are told, what changes hands.

What is a legal trade is `trade`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from agentsim.engine.event import AGAINST, FOR, Deed, Interaction, Past
from agentsim.engine.prompt import quoted
from agentsim.engine.request import Choice, Options, Text
from agentsim.engine.schema import said
from agentsim.engine.template import Worded
from agentsim.engine.wording import counted, sentence
from agentsim.errors import IllegalDecision
from agentsim.games.monopoly.board import GROUPS, SPACES, group_name, handed_cards
from agentsim.games.monopoly.building import DEEDS_IN_WORDS, moment
from agentsim.games.monopoly.config import LONGEST_WORD
from agentsim.games.monopoly.estate import BANK, Estate
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.prompts import deed
from agentsim.games.monopoly.question import MonopolyRequest, Reacted, Spoken, Word, without
from agentsim.games.monopoly.state import SeatView
from agentsim.games.monopoly.talk import Remembered, Talk
from agentsim.games.monopoly.trade import Proposal, Side, Terms, interest_on, possible, terms_of, why_not

S = TypeVar("S", bound=Spoken)
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
    """`pitch` is the proposer's own words."""

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


class Proposed(Spoken):
    """A trade, or none."""

    action: Proposal


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
        wrong = proposal.propose_trade and why_not(estate, seats, terms_of(seats, self.seat, proposal))
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
            action = action if any(map(estate.held, givers)) else without(action, f"{side}.properties")
            action = action if cards else without(action, f"{side}.jail_cards")
        return said(action, "pitch", description="your words to that player; nothing for none")


class ProposeTrade(Proposing[Proposed]):
    """A trade, or none; `made` in this phase so far, `left` that may still be; `again` where doubles roll again."""

    empty: ClassVar[Mapping[str, Any]] = {"action": {"propose_trade": False}}
    particulars: ClassVar[tuple[str, ...]] = ("when", "made")

    when: Literal["before", "after"]
    made: int
    left: int
    again: bool = False

    def choices(self) -> Options:
        return self.proposals("action")

    def warning(self, decision: Proposed) -> str:
        return self.objection_to(decision.action, self.view.estate(), self.view.seats)

    def question(self) -> tuple[str, ...]:
        lines = [
            f"You may propose a trade to one player, or none ({moment(self.when, again=self.again)}; {self.made} "
            f"proposed in this phase, {self.left} left). What can change hands now, by position:"
        ]
        estate = self.view.estate()
        for number, player in enumerate(self.view.seats):
            if not player.bankrupt:
                deeds = ", ".join(deed(estate, position) for position in estate.tradeable(number)) or "no deed"
                who = "you" if number == self.seat else f"{player.name} (id {player.id})"
                cards = f"{counted(len(player.cards), 'card')} out of jail"
                lines.append(f"- {who}: {deeds}; up to ${player.cash}; {cards}")
        return tuple(lines)

    def asked_of(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.trade_that_can_be(action, self.view.seats)

    def fallback(self) -> Proposed:
        return self.silent(action=Proposal())


async def propose(match: Match, number: int, when: Literal["before", "after"], *, again: bool) -> None:
    """Let the player propose trades, as long as it does and there is anything to trade."""
    state, config = match.state, match.config
    for made in range(config.proposals_per_phase):
        left = min(config.proposals_per_phase - made, config.proposals_per_turn - match.proposals)
        if left <= 0 or not possible(state.estate, state.seats):
            break
        decision = await match.ask(number, ProposeTrade, when=when, made=made, left=left, again=again)
        if not decision.action.propose_trade:
            break
        match.proposals += 1
        await deal(match, number, decision.action)


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


class Answered(Spoken):
    """`accept` or `reject`."""

    action: Word


class AnswerTrade(MonopolyRequest[Answered]):
    """The offer is what you would get, the request what you would give."""

    terms: Terms
    pitch: str

    def choices(self) -> Options:
        return {"action": Choice(("accept", "reject"))}

    def question(self) -> tuple[str, ...]:
        """The terms in full, with all that decides their worth; the pitch as its proposer's words."""
        terms, estate, cash = self.terms, self.view.estate(), self.you.cash
        left = cash + terms.offer.cash - terms.request.cash - interest_on(estate.mortgaged, terms.offer.properties)
        return (
            f"{self.view.seats[terms.proposer].name} offers you a trade. You would get:",
            *map("- {}".format, terms.offer.described(estate)),
            "You would give:",
            *map("- {}".format, terms.request.described(estate)),
            *self._completed(),
            f"You have ${cash} and would have ${left}.",
            quoted(pitch=self.pitch),
            "Do you accept?",
        )

    def _completed(self) -> Iterator[str]:
        """Whose groups the trade completes, and whose it breaks."""
        terms, before, after = self.terms, self.view.estate(), self.view.estate()
        for side, taker in ((terms.offer, terms.target), (terms.request, terms.proposer)):
            for position in side.properties:
                after.owner[position] = taker
        for group in GROUPS:
            for number in (terms.proposer, terms.target):
                if before.completes(number, group) != (completed := after.completes(number, group)):
                    whose = "your" if number == self.seat else f"{self.view.seats[number].name}'s"
                    yield f"The trade {'completes' if completed else 'breaks'} {whose} {group_name(group)} group."

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


async def deal(match: Match, proposer: int, proposal: Proposal) -> None:
    """Put a proposal before the table, have it answered, carry it out. One that cannot be is discarded."""
    state, seat = match.state, match.seat(proposer)
    terms = terms_of(state.seats, proposer, proposal)
    if wrong := why_not(state.estate, state.seats, terms):
        match.tell(TradeDiscarded(seat.id, seat.name, wrong), to=(seat.id,), by=proposer)
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
        for position in filter(mortgaged.__getitem__, side.properties):
            match.pay(taker, BANK, SPACES[position].interest, "interest", position)
    await match.ask(proposer, React, terms=terms)
