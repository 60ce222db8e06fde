"""Matches: one game at one table, and the small moves that all rules share.

These are asking and telling; moving cash, deeds and Get Out of Jail Free cards; dice and tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import field
from functools import partial
from itertools import takewhile
from typing import Any, Literal, TypeAlias, TypeVar

from agentsim.engine.event import Audience, Event, Everyone, Nobody
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.engine.wording import CUT, By, If, Rows, Template, cut, first_place
from agentsim.games.monopoly.board import CARDS, JAIL_CARDS, SALARY, Card, DeckName, OfPlayer, OnBoard, Position
from agentsim.games.monopoly.config import LONGEST_WORD, MonopolyConfig
from agentsim.games.monopoly.question import Reacted, Spoken, StandIn, TradeRequest
from agentsim.games.monopoly.state import BANK, Seat, State
from agentsim.games.monopoly.talk import EVERYBODY, Memory, Minutes, Narrated, Offer, Recalled, Spoke, Thought
from agentsim.lazy import dataclass

Q = TypeVar("Q", bound=Request[Any])
S = TypeVar("S", bound=Spoken[Any] | Reacted)

Why: TypeAlias = Literal[
    "salary", "rent", "tax", "fine", "card", "purchase", "auction", "interest", "trade", "bankruptcy"
]
Purpose: TypeAlias = Literal["move", "jail", "rent"]
MovedBy: TypeAlias = Literal["dice", "card"]
_FOR = {
    "salary": "For passing GO",
    "rent": "In rent",
    "tax": "In tax",
    "fine": "To leave jail",
    "card": "As the card says",
    "purchase": "For the deed",
    "auction": "For the deed",
    "interest": "Of interest",
    "trade": "In a trade",
    "bankruptcy": "Of the bankrupt's cash",
}
_SHORT: dict[str, Template] = {  # of the others a line of their own tells
    "rent": "{by} pays {to} ${amount} rent, {position}",
    "tax": "{by} pays ${amount} tax",
    "card": By("payee", {None: "{by} pays ${amount}"}),
    "purchase": "{by} buys {position} for ${amount}",
}


class Paid(
    OnBoard,
    label="payment",
    heading=If("payer", ("{by}", " pays", If("payee", " {to}"), " ${amount}"), "{to} receives ${amount}"),
    content=(By("why", _FOR), By("position", {None: ""}, ", {position}"), "; now {left}."),
):
    """Cash changed hands; `cash` is what each player involved has afterwards, by id."""

    short = By("why", _SHORT)
    payer: str | None
    payee: str | None
    amount: int
    why: Why
    position: Position | None
    cash: dict[str, int]
    names: dict[str, str]

    @property
    def by(self) -> str:
        """The payer's name, or "" for the bank."""
        return self.names.get(self.payer or "", "")

    @property
    def to(self) -> str:
        """The payee's name, or "" for the bank."""
        return self.names.get(self.payee or "", "")

    @property
    def left(self) -> tuple[str, ...]:
        return tuple(f"{self.names[player]} ${cash}" for player, cash in self.cash.items())


class DeedMoved(
    OnBoard,
    label="change of owner",
    heading="{position} goes to {taker_name}",
    content=(
        By(
            "why",
            {"purchase": "Bought at the printed price", "auction": "Won at auction", "trade": "Traded"},
            "From the bankrupt",
        ),
        If("mortgaged", ", mortgaged"),
        ".",
    ),
):
    """A deed changed hands, mortgaged or clear; None is the bank."""

    position: Position
    giver: str | None
    taker: str | None
    mortgaged: bool
    why: Why
    taker_name: str


class CardMoved(
    OnBoard,
    label="Get Out of Jail Free card handed over",
    heading="{giver_name} hands over a Get Out of Jail Free card",
    content=If("taker", "It goes to {taker_name}.", "It lies at the bottom of its deck."),
):
    """A Get Out of Jail Free card changed hands; a `taker` of None is the bottom of its deck."""

    card: str
    giver: str
    taker: str | None
    giver_name: str
    taker_name: str


class Rolled(
    OfPlayer,
    label="dice roll",
    heading=(
        "{name} ",
        By("purpose", {"move": "rolls", "jail": "rolls for freedom:", "rent": "rolls for the rent:"}),
        " {dice:and}",
    ),
    content=("{total} in all", If("doubles", ", doubles"), "."),
):
    """`purpose` is to move, to leave jail, or to set a utility's rent, which moves no token."""

    dice: tuple[int, int]
    purpose: Purpose

    @property
    def total(self) -> int:
        return sum(self.dice)

    @property
    def doubles(self) -> bool:
        return self.dice[0] == self.dice[1]


class Moved(
    OfPlayer,
    label="move",
    heading="{name} comes to {to}",
    content=("From {start}", By("by", {"card": " by a card"}), "."),
):
    start: Position
    to: Position
    by: MovedBy


class GameBegan(Event, heading="The game begins", content="{players} start on GO with ${cash} each."):
    """`names` are by id, in the order of play; `cash` is what each player begins with."""

    names: dict[str, str]
    cash: int
    max_turns: int

    @property
    def players(self) -> tuple[str, ...]:
        return tuple(self.names.values())


class CardDrawn(
    OfPlayer, heading=("{name} draws ", By("deck", {"chance": "Chance"}, "Community Chest")), content="{says.text}"
):
    """`card` is its id; from now on the player has a card that is kept."""

    short = "{name} draws: {says.text}"
    deck: str
    card: str

    @property
    def says(self) -> Card:
        return CARDS[self.card]


@dataclass(frozen=True)
class Result:
    player: str
    name: str
    rank: int
    net_worth: int
    cash: int
    deeds: int


class GameEnded(Event, content=Rows("results", "{rank}. {name}: net worth ${net_worth}, ${cash} of it cash")):
    """`results` are in rank order."""

    turns: int
    results: tuple[Result, ...]

    @property
    def heading(self) -> str:
        return first_place([result.name for result in self.results if result.rank == 1])


@dataclass
class Match:
    """One game at one table; seats are numbers, and `BANK` is -1.

    `proposals` counts this turn's proposed trades by seat, `proposed` the trades put before the table in the whole
    game, and `bankrupt_seats` are in the order of their bankruptcies.
    """

    table: Table
    config: MonopolyConfig
    state: State
    proposals: Counter[int] = field(default_factory=Counter)
    proposed: int = 0
    bankrupt_seats: list[int] = field(default_factory=list)
    offers: list[Offer] = field(default_factory=list)
    """All trades that were proposed and answered, in order."""
    _minutes: Callable[[str], Minutes] = field(init=False)
    _limits: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        config = self.config
        self._minutes = partial(Minutes, titles=self.table.rounds, turns=config.talk_turns, chars=config.talk_chars)
        self._limits = {
            "words": config.speech_words,
            "chars": config.thought_chars,
            "max_turns": config.max_turns,
            "auctioned": config.house_shortage == "auction",
            "start_cash": config.start_cash,
        }

    def seat(self, number: int) -> Seat:
        return self.state.seats[number]

    def who(self, number: int) -> tuple[str, str]:
        """Return a player's id and name, in the order in which events have them."""
        return self.state.seats[number].id, self.state.seats[number].name

    def name(self, number: int) -> str:
        """Return the name of a seat's player, or of the bank."""
        return "the bank" if number == BANK else self.state.seats[number].name

    def id(self, number: int) -> str | None:
        """Return the id that events have: a player's, or None for the bank."""
        return None if number == BANK else self.state.seats[number].id

    @property
    def minutes(self) -> Minutes:
        return self.table.memory(EVERYBODY, self._minutes)

    def memory(self, number: int) -> Memory:
        """Return what a player remembers of all that it has heard."""
        return Recalled(self.table, self._minutes, self.state.seats[number].id, self.state.turn)

    @property
    def talk_since(self) -> int:
        """The first of the turns whose talk and offers every player remembers word for word."""
        return max(1, self.state.turn - self.config.talk_turns)

    def request(self, number: int, kind: Callable[..., Q], **fields: Any) -> Q:
        """Build a request to a player from the board as it is now and what the player remembers."""
        seat, memory = self.state.seats[number], self.memory(number)
        if isinstance(kind, type) and issubclass(kind, TradeRequest):
            since = self.talk_since
            recent = takewhile(lambda offer: offer.turn >= since, reversed(self.offers))
            fields |= {"since": since, "offers": tuple(recent)[::-1]}
        return kind(player=seat.id, memory=memory, view=self.state.view(), **self._limits, **fields)

    async def ask(self, number: int, kind: Callable[..., Request[S]], **fields: Any) -> S:
        """Ask a player for a decision, and tell its words to those who hear them."""
        request = self.request(number, kind, **fields)
        decision = await self.table.ask(request)
        self.voice(number, decision, request.kind)
        return decision

    def voice(self, number: int, decision: Spoken[Any] | Reacted, asked: str) -> None:
        """Tell the words that came with a decision: the player's, or the narrator's instead.

        `asked` is the kind of the question. The narrator's lines are not by the player; the second is
        for the log alone.
        """
        if not (decision.public_speech or decision.private_thought or isinstance(decision, StandIn)):
            return
        who = (*self.who(number), self.state.turn)
        if isinstance(decision, StandIn):
            for line, to in ((decision.narrated, Everyone), (decision.noted, Nobody)):
                if line:
                    self.tell(Narrated(*who, line), to=to)
        if speech := self.in_few_words(decision.public_speech):
            self.tell(Spoke(*who, speech, asked), by=number)
        if thought := cut(decision.private_thought, self.config.thought_chars):
            self.tell(Thought(*who, thought), to=who[:1], by=number)

    def in_few_words(self, text: str) -> str:
        """Return a speech as one line within the limits on words and characters; what is cut ends with a mark."""
        words, most = text.split(), self.config.speech_words
        return cut(f"{' '.join(words[:most])}{CUT * (len(words) > most)}", most * LONGEST_WORD + len(CUT))

    def tell(self, event: Event, *, by: int = BANK, to: Audience = Everyone) -> None:
        self.table.tell(event, to=to, by=self.id(by))

    def pay(self, payer: int, payee: int, amount: int, why: Why, position: int | None = None) -> None:
        """Move cash that the payer has, and announce it; for 0 do nothing."""
        if amount:
            self.state.move_cash(payer, payee, amount)
            involved = [self.seat(number) for number in (payer, payee) if number != BANK]
            cash, names = {seat.id: seat.cash for seat in involved}, {seat.id: seat.name for seat in involved}
            self.tell(Paid(self.id(payer), self.id(payee), amount, why, position, cash, names), by=payer)

    def give_deed(self, position: int, taker: int, why: Why) -> None:
        """Move a deed as it is, and announce it; the bank clears its mortgage."""
        giver = self.state.estate.owner[position]
        mortgaged = self.state.estate.mortgaged[position] and taker != BANK
        self.state.give_deed(position, taker)
        self.tell(DeedMoved(position, self.id(giver), self.id(taker), mortgaged, why, self.name(taker)))

    def give_card(self, giver: int, taker: int, name: DeckName) -> None:
        """Move a Get Out of Jail Free card to another player, or to the bottom of its deck if the taker is the bank."""
        self.state.give_card(name, giver, taker)
        played, seat = taker == BANK, self.seat(giver)
        moved = CardMoved(JAIL_CARDS[name], seat.id, self.id(taker), seat.name, "" if played else self.name(taker))
        self.tell(moved, by=giver if played else BANK)

    def roll(self, number: int, purpose: Purpose) -> tuple[int, int]:
        """Roll two dice; a roll for the rent is not the last roll by which utilities charge."""
        stream = self.table.chance.stream("dice")
        dice = (stream.integer(1, 6), stream.integer(1, 6))
        if purpose != "rent":
            self.state.roll, self.state.roller = dice, number
            self.state.version += 1
        self.tell(Rolled(*self.who(number), dice, purpose))
        return dice

    def move(self, number: int, to: int, by: MovedBy) -> None:
        """Move a token without any further effect."""
        moved = Moved(*self.who(number), self.seat(number).position, to, by)
        self.state.put(number, to)
        self.tell(moved)

    def advance(self, number: int, to: int, by: MovedBy) -> None:
        """Move a token forward; if it passes GO or lands there, its player is paid the salary."""
        start = self.seat(number).position
        self.move(number, to, by)
        if to <= start:
            self.pay(BANK, number, SALARY, "salary")
