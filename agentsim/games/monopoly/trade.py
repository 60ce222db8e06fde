"""Trades: what may change hands between two players, and a trade from its proposal to its answer.

Cash, deeds of groups without buildings, and Get Out of Jail Free cards change hands at once. A player who receives a
mortgaged deed pays its interest at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar

from pydantic import BeforeValidator

from agentsim.engine import Choice, Number, Options
from agentsim.engine.decision import WholeNumber
from agentsim.engine.event import AGAINST, FOR, Interaction, InteractionRule, Past
from agentsim.engine.options import MISSING, FieldOverride
from agentsim.engine.wording import Worded, counted, quoted, sentence
from agentsim.errors import IllegalDecision
from agentsim.games.monopoly.board import DEEDS, FINE, GROUPS, SPACES, group_name, handed_cards, name_of
from agentsim.games.monopoly.building import DEEDS_IN_WORDS, When, moment, received
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.question import Deeds, Part, Reacted, Spoken, TradeRequest, Word, speech
from agentsim.games.monopoly.rules_text import called, deed, rent_line
from agentsim.games.monopoly.state import BANK, Estate, Seat, View, deed_value
from agentsim.games.monopoly.talk import ANSWERS, PROPOSALS, Offer, Remembered
from agentsim.lazy import dataclass

NOBODY = -1
_PROPOSED = (InteractionRule("proposer", "target", "proposed a trade"),)
_REJECTED = (InteractionRule("target", "proposer", "rejected a trade", AGAINST),)
_OFFERS = "{proposer_name} offers {target_name} {offer} for {request}"


# -- what changes hands, and what of it is legal


class Side(Part):
    """One side of a trade: the deeds by position, dollars and Get Out of Jail Free cards that it gives."""

    properties: Deeds = ()
    cash: WholeNumber = 0
    jail_cards: WholeNumber = 0

    @property
    def empty(self) -> bool:
        return not (self.properties or self.cash or self.jail_cards)

    def value(self, mortgaged: Collection[int]) -> int:
        """Return the value in dollars: cash, deeds (`mortgaged` by position), and cards at the fine that they save."""
        deeds = sum(deed_value(at, mortgaged=at in mortgaged) for at in self.properties)
        return self.cash + deeds + FINE * self.jail_cards

    def parts(self, in_cash: str = "") -> list[str]:
        parts = [name_of(position) for position in self.properties]
        parts += [f"${self.cash}{in_cash}"] * (self.cash > 0)
        parts += [f"{counted(self.jail_cards, 'Get Out of Jail Free card')}"] * (self.jail_cards > 0)
        return parts or ["nothing"]

    def described(self, estate: Estate) -> Iterator[str]:
        """Yield every part with what determines its value."""
        for position in self.properties:
            space = SPACES[position]
            due = f", mortgaged: ${space.interest} interest due at once, ${space.redemption} to lift it"
            price = f"price ${space.price}{due if estate.mortgaged[position] else ''}"
            yield f"{position} {space.name} ({group_name(space.group)}, {price}). {rent_line(position)}"
        if self.cash or self.jail_cards or self.empty:
            yield from self.model_copy(update={"properties": ()}).parts(" in cash")

    def __str__(self) -> str:
        return " + ".join(self.parts())


def _id(value: Any) -> Any:
    """Return an id as text: numeric ids are often written as numbers."""
    return str(value) if type(value) is int else value


class Offered(Part):
    """The target of a trade, what the proposer offers, and what it requests."""

    target_player: Annotated[str | None, BeforeValidator(_id)] = None
    offer: Side = Side()
    request: Side = Side()
    pitch: str = ""


class _Proposing(Part):
    propose_trade: bool = False


class Proposal(Offered, _Proposing):
    """An answer that proposes a trade, or none."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a trade, with seats by number."""

    proposer: int
    target: int
    offer: Side
    request: Side


def consequences(view: View, terms: Terms, seat: int) -> Iterator[str]:
    """Yield the interest due and the changes in both sides' groups, in words for one of the sides."""
    before, after = view.estate(), view.estate()
    sides = ((terms.proposer, terms.request), (terms.target, terms.offer))
    for number, gets in sides:
        for position in gets.properties:
            after.owner[position] = number
    names = {number: "you" if number == seat else view.seats[number].name for number, _ in sides}
    due = {names[number]: interest_on(view.mortgaged, gets.properties) for number, gets in sides}
    if any(due.values()):
        owing = (f"{who} {'pay' if who == 'you' else 'pays'} ${amount}" for who, amount in due.items() if amount)
        yield f"Interest at once, on mortgaged deeds received: {', '.join(owing)}."
    moved = (*terms.offer.properties, *terms.request.properties)
    for group in dict.fromkeys(SPACES[position].group for position in moved):
        counts = (
            f"{name} {sum(before.owner[position] == number for position in GROUPS[group])}, then "
            f"{sum(after.owner[position] == number for position in GROUPS[group])}"
            for number, name in names.items()
        )
        yield f"Of the {len(GROUPS[group])} {group_name(group)} deeds: {'; '.join(counts)}."
        for number, name in names.items():
            if before.has_monopoly(number, group) != (completed := after.has_monopoly(number, group)):
                whose = "your" if number == seat else f"{name}'s"
                yield f"The trade {'completes' if completed else 'breaks'} {whose} {group_name(group)} group."


def terms_of(traders: Sequence[Seat], proposer: int, proposal: Offered) -> Terms:
    """Return the terms of a proposal.

    The target is named by its id, in any case, or else by its number; it is `NOBODY` if no player matches.
    """
    named = (proposal.target_player or "").strip().casefold()
    by_id = {trader.id.casefold(): number for number, trader in enumerate(traders)}
    numbers = {str(number): number for number in range(len(traders))}
    target = by_id.get(named, numbers.get(named.removeprefix("player").strip(), NOBODY))
    return Terms(proposer, target, proposal.offer, proposal.request)


def possible(estate: Estate, traders: Sequence[Seat]) -> bool:
    """Return whether any player has anything to trade but cash."""
    for position in DEEDS:
        if estate.owner[position] != BANK and not estate.built_up(position):
            return True
    return any(trader.cards for trader in traders)


def interest_on(mortgaged: Sequence[bool], positions: Iterable[int]) -> int:
    """Return what the receiver of these deeds owes the bank at once: a tenth of every mortgage (S3)."""
    return sum([SPACES[position].interest for position in positions if mortgaged[position]])


def why_not(estate: Estate, traders: Sequence[Seat], terms: Terms) -> str:
    """Return why this trade cannot be made, in words for the table, or "" if it can."""
    if terms.target == NOBODY:
        others = [f"{trader.id} ({number})" for number, trader in enumerate(traders) if number != terms.proposer]
        return f"there is no player of that id or number: it may be {' or '.join(others)}"
    if terms.target == terms.proposer:
        return "a trade needs another player"
    if traders[terms.target].bankrupt:
        return "the other player is out of the game"
    if terms.offer.empty and terms.request.empty:
        return "neither side gives anything"
    sides = (("the proposer", terms.proposer, terms.offer), ("the other player", terms.target, terms.request))
    for who, giver, side in sides:
        if wrong := next(_wrongs(estate, traders[giver], giver, who, side), ""):
            return wrong
    for (who, taker, gives), (_, _, takes) in (sides, sides[::-1]):
        if traders[taker].cash - gives.cash + takes.cash < interest_on(estate.mortgaged, takes.properties):
            return f"{who} could not pay the interest on the mortgaged deeds"
    return ""


def _wrongs(estate: Estate, trader: Seat, giver: int, who: str, side: Side) -> Iterator[str]:
    """Yield why a player cannot give its side."""
    if min(side.cash, side.jail_cards) < 0:
        yield "amounts go from 0 up"
    if side.cash > trader.cash:
        yield f"{who} does not have ${side.cash}"
    if side.jail_cards > len(trader.cards):
        yield f"{who} does not hold so many Get Out of Jail Free cards"
    if len(set(side.properties)) != len(side.properties):
        yield f"{who} gives a deed twice"
    for position in side.properties:
        if position not in DEEDS:
            yield f"position {position} is no property"
        elif estate.owner[position] != giver:
            yield f"{SPACES[position].name} does not belong to {who}"
        elif estate.built_up(position):
            yield f"there are buildings in the group of {SPACES[position].name}"


# -- proposed


class _Trade(Remembered, base=True):
    number: int
    proposer: str
    target: str
    proposer_name: str
    target_name: str


class TradeProposed(_Trade, label="trade offered", heading=_OFFERS, words="pitch", interactions=_PROPOSED):
    """A trade is put before the table; `mortgaged` are the positions of both sides that are mortgaged."""

    short = _OFFERS
    memory_limit = PROPOSALS
    offer: Side
    request: Side
    pitch: str
    mortgaged: tuple[int, ...]


class TradeDiscarded(Remembered, heading="{name}'s proposal is discarded", content="{problem}", private=("proposer",)):
    """A proposal that cannot be made; it counts as a proposal, and only its proposer hears why."""

    memory_limit = PROPOSALS
    proposer: str
    name: str
    problem: Annotated[str, Worded(sentence)]

    @property
    def turned_away(self) -> bool:
        return True


# -- answered


class _TradeAnswered(_Trade, heading="{target_name} {verb} {proposer_name}'s trade", base=True):
    """`number` is that of the proposal, which has the terms."""

    short = "{target_name} {verb} it"
    memory_limit = ANSWERS
    verb: ClassVar[str] = ""
    accepted: ClassVar[bool] = False


class TradeAccepted(_TradeAnswered, content="It is carried out."):
    verb = "accepts"
    accepted = True

    def interactions(self, past: Past) -> Iterator[Interaction]:
        """Yield what each side gave the other, with its value in dollars."""
        terms = past.last(TradeProposed, number=self.number)
        gave, got = (side.value(terms.mortgaged) for side in (terms.offer, terms.request)) if terms else (None, None)
        yield Interaction(self.target, self.proposer, "accepted a trade", FOR, got)
        if gave:
            yield Interaction(self.proposer, self.target, "gave in a trade", FOR, gave)


class TradeRejected(_TradeAnswered, content="Nothing changes hands.", interactions=_REJECTED):
    verb = "rejects"


class Answered(Spoken[str]):
    action: Annotated[Word, Choice(("accept", "reject"))]


class AnswerTrade(TradeRequest[Answered]):
    """The question whether to accept a trade: `terms.offer` is what the player would get."""

    terms: Terms
    pitch: str

    def question(self) -> tuple[str, ...]:
        """Return the terms with everything that determines their worth, and the pitch as its proposer's words."""
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


class React(TradeRequest[Reacted]):
    """The question whether the proposer has anything to say after its trade was accepted and carried out."""

    terms: Terms

    def question(self) -> tuple[str, ...]:
        gave, got = ("; ".join(side.parts(" in cash")) for side in (self.terms.offer, self.terms.request))
        return (
            f"{self.view.seats[self.terms.target].name} has accepted your trade: you gave {gave} and got {got}.",
            "You may say something to the table, or nothing.",
        )

    def fallback(self) -> Reacted:
        return Reacted()


async def deal(match: Match, proposer: int, proposal: Offered) -> None:
    """Announce a proposal, have it answered, and carry it out if it is accepted; an impossible one is discarded."""
    state, seat = match.state, match.seat(proposer)
    terms = terms_of(state.seats, proposer, proposal)
    if wrong := why_not(state.estate, state.seats, terms):
        match.tell(TradeDiscarded(*match.who(proposer), wrong), to=(seat.id,), by=proposer)
        return
    match.proposed += 1
    target, other = terms.target, match.seat(terms.target)
    trade = (match.proposed, seat.id, other.id, seat.name, other.name)
    pitch = match.in_few_words(proposal.pitch)
    moved = (*terms.offer.properties, *terms.request.properties)
    mortgaged = tuple(position for position in moved if state.estate.mortgaged[position])
    match.tell(TradeProposed(*trade, terms.offer, terms.request, pitch, mortgaged), by=proposer)
    answer = await match.ask(target, AnswerTrade, terms=terms, pitch=pitch)
    accepted = answer.action == "accept" and not why_not(state.estate, state.seats, terms)
    both = f"{terms.offer} for {terms.request}"
    match.offers.append(Offer(state.turn, seat.name, other.name, both, accepted))
    if not accepted:
        match.tell(TradeRejected(*trade), by=target)
        return
    match.tell(TradeAccepted(*trade), by=target)
    ways = ((proposer, target, terms.offer), (target, proposer, terms.request))
    cards = [handed_cards(match.seat(giver).cards, side.jail_cards) for giver, _, side in ways]
    for (giver, taker, side), handed in zip(ways, cards, strict=True):
        match.pay(giver, taker, side.cash, "trade")
        for position in side.properties:
            match.give_deed(position, taker, "trade")
        for name in handed:
            match.give_card(giver, taker, name)
    for _, taker, side in ways:
        for position in await received(match, taker, [at for at in side.properties if at in mortgaged]):
            match.pay(taker, BANK, SPACES[position].interest, "interest", position)
    await match.ask(proposer, React, terms=terms)


# -- proposing: whether a player proposes a trade, and what all questions share that may hold one


S = TypeVar("S", bound=Spoken[Any])


Proposed: TypeAlias = Spoken[Proposal]


@cache
def _proposals(path: str, others: tuple[str, ...], words: int) -> Options:
    return {f"{path}.target_player": Choice((None, *others)), f"{path}.pitch": speech(words)}


class Proposing(TradeRequest[S]):
    """Base of questions that a proposal may answer.

    An impossible proposal is a valid answer too: it is discarded, and counts as a proposal.
    """

    @property
    def synonyms(self) -> Mapping[str, tuple[str, ...]]:  # type: ignore[override] # they depend on who plays
        """The seat number of each player, which may stand for its id."""
        return {seat.id: (str(number), f"player {number}") for number, seat in enumerate(self.view.seats)}

    def check(self, decision: S) -> None:
        if reason := self.why_not(decision):
            raise IllegalDecision(reason)

    @property
    def others(self) -> tuple[str, ...]:
        """The ids of the players to whom it may be made."""
        return tuple([seat.id for seat in self.view.seats if not seat.bankrupt and seat.id != self.player])

    def proposals(self, path: str) -> Options:
        """Return the options of a proposal's fields at this path."""
        return _proposals(path, self.others, self.words)

    def objection_to(self, proposal: Offered, estate: Estate, seats: Sequence[Seat]) -> str:
        """Return why the table would discard a proposal, or "" if it would not or none is made."""
        made = getattr(proposal, "propose_trade", True)
        wrong = made and why_not(estate, seats, terms_of(seats, self.seat, proposal))
        return f"{wrong}." if wrong else ""

    def kept(self) -> str:
        """Name the groups whose deeds cannot be traded because of buildings."""
        estate = self.view.estate()
        built = [group_name(group) for group, positions in GROUPS.items() if estate.built_up(positions[0])]
        return f", none of {', '.join(built)} (buildings)" if built else ""

    def for_trade(self) -> Iterator[str]:
        """Yield what each player can trade now."""
        estate = self.view.estate()
        for number, player in enumerate(self.view.seats):
            if not player.bankrupt:
                deeds = ", ".join(deed(estate, position) for position in estate.tradeable(number)) or "no deed"
                who = called(replace(player, personality=""), number, self.seat)
                cards = f"{counted(len(player.cards), 'Get Out of Jail Free card')}"
                yield f"- {who}: {deeds}; up to ${player.cash}; {cards}"

    def trade_that_can_be(self, path: str, seats: Sequence[Seat]) -> Iterator[tuple[str, FieldOverride | None]]:
        """Yield the limits of a proposal's fields at this path: deeds and cards if any are held, cash as there is."""
        estate = self.view.estate()
        others = [number for number in self.view.living if number != self.seat]
        names = [seats[number].id for number in others]
        preset = names[0] if len(names) == 1 else MISSING
        yield f"{path}.target_player", FieldOverride(preset=preset, for_people=Choice(tuple(names)))
        for side, givers in (("offer", [self.seat]), ("request", others)):
            cash, cards = max(seats[giver].cash for giver in givers), max(len(seats[giver].cards) for giver in givers)
            deeds = FieldOverride(DEEDS_IN_WORDS) if any(map(estate.held, givers)) else None
            yield f"{path}.{side}.cash", FieldOverride(preset=0, for_people=Number(0, cash))
            yield f"{path}.{side}.jail_cards", FieldOverride(preset=0, for_people=Number(0, cards)) if cards else None
            yield f"{path}.{side}.properties", deeds
        yield f"{path}.pitch", FieldOverride("your words to that player; empty for none")


class ProposeTrade(Proposing[Proposed]):
    """The question whether to propose a trade.

    `made` trades were proposed in this phase so far, `left` are still allowed; `again` says that doubles give another
    roll.
    """

    null_objects: ClassVar[Mapping[str, Any]] = {"action": {"propose_trade": False}}
    particulars: ClassVar[tuple[str, ...]] = ("when", "made")

    when: When
    made: int
    left: int
    again: bool = False

    def choices(self) -> Options:
        return self.proposals("action")

    def warning(self, decision: Proposed) -> str:
        return self.objection_to(decision.action, self.view.estate(), self.view.seats)

    def question(self) -> tuple[str, ...]:
        return (
            f"You may propose a trade to one player, or none ({moment(self.when, again=self.again)}; {self.made} "
            f"proposed in this phase, {self.left} left). What can change hands now, by position:",
            *self.for_trade(),
        )

    def on_board(self) -> Iterator[tuple[str, FieldOverride | None]]:
        return self.trade_that_can_be("action", self.view.seats)


def left(match: Match, number: int, made: int) -> int:
    """Return how many trades a player may still propose in a phase after `made`; 0 if there is nothing to trade."""
    state, config = match.state, match.config
    most = min(config.proposals_per_phase - made, config.proposals_per_turn - match.proposals[number])
    return max(0, most) if possible(state.estate, state.seats) else 0


async def propose(match: Match, number: int, when: When, *, again: bool) -> None:
    """Let a player propose trades until it proposes none, or nothing is left to propose."""
    made = 0
    while more := left(match, number, made):
        decision = await match.ask(number, ProposeTrade, when=when, made=made, left=more, again=again)
        if not decision.action.propose_trade:
            break
        made += 1
        match.proposals[number] += 1
        await deal(match, number, decision.action)
