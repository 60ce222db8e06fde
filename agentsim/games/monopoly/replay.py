"""Replays: a game rebuilt from its events alone, for any moment and after every turn; its trades and export tables.

Public events are enough, so the log of one player gives the same. `panels` draws it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby
from typing import Literal, TypeAlias

from agentsim.engine.event import Event, LoggedEvent, PlayerId
from agentsim.engine.panel import Cell, Frame
from agentsim.engine.truth import Truth
from agentsim.games.monopoly.auctions import AuctionClosed, AuctionOpened, BidMade
from agentsim.games.monopoly.board import CARDS, JAIL, name_of
from agentsim.games.monopoly.building import Built, Mortgaged, Sold, Unmortgaged
from agentsim.games.monopoly.debts import Bankrupted
from agentsim.games.monopoly.jail import Freed, Jailed
from agentsim.games.monopoly.match import CardDrawn, CardMoved, DeedMoved, GameBegan, Moved, Paid
from agentsim.games.monopoly.state import BANK, Estate
from agentsim.games.monopoly.talk import Spoke, Thought
from agentsim.games.monopoly.trade import Side, TradeAccepted, TradeProposed, TradeRejected
from agentsim.lazy import dataclass

Answer: TypeAlias = Literal["accepted", "rejected", "open"]
_PIPS = 7


@dataclass
class Replay:
    """A game as far as it was told; players are ids in the order of play, and numbers in the estate.

    After a `turn` (0 is the setup), `active` is the player whose turn it was, and `events` are what happened in it.
    """

    names: dict[PlayerId, str]
    cash: dict[PlayerId, int]
    positions: dict[PlayerId, int]
    cards: dict[PlayerId, int]
    jailed: set[PlayerId] = field(default_factory=set)
    bankrupt: set[PlayerId] = field(default_factory=set)
    estate: Estate = field(default_factory=Estate)
    turn: int = 0
    active: PlayerId | None = None
    events: tuple[Event, ...] = ()

    @classmethod
    def begin(cls, event: GameBegan) -> Replay:
        ids = list(event.names)
        return cls(dict(event.names), dict.fromkeys(ids, event.cash), dict.fromkeys(ids, 0), dict.fromkeys(ids, 0))

    def copy(self) -> Replay:
        copied = replace(self, cash=dict(self.cash), positions=dict(self.positions), cards=dict(self.cards))
        copied.jailed, copied.bankrupt, copied.estate = set(self.jailed), set(self.bankrupt), self.estate.copy()
        return copied

    def seat(self, player: PlayerId | None) -> int:
        """Return a player's number in the estate; None is the bank."""
        return BANK if player is None else list(self.names).index(player)

    def worth(self, player: PlayerId) -> int:
        """Return the net worth in dollars, as the end of the game counts it; 0 for a bankrupt player."""
        return 0 if player in self.bankrupt else self.cash[player] + self.estate.worth(self.seat(player))

    def apply(self, event: Event) -> None:
        """Apply an event; those that change nothing on the board are ignored."""
        match event:
            case Paid():
                self.cash.update(event.cash)
            case Moved():
                self.positions[event.player] = event.to
            case Jailed():
                self.positions[event.player] = JAIL
                self.jailed.add(event.player)
            case Freed():
                self.jailed.discard(event.player)
            case CardDrawn():
                self.cards[event.player] += CARDS[event.card].effect == "jail_card"
            case CardMoved():
                self.cards[event.giver] -= 1
                if event.taker is not None:
                    self.cards[event.taker] += 1
            case Bankrupted():
                self.bankrupt.add(event.player)
                self.jailed.discard(event.player)
            case _:
                self._property(event)

    def _property(self, event: Event) -> None:
        match event:
            case DeedMoved():
                self.estate.owner[event.position] = self.seat(event.taker)
                self.estate.mortgaged[event.position] = event.mortgaged
            case Built() | Sold():
                self.estate.houses[event.position] = event.after
                self.cash[event.player] = event.cash
            case Mortgaged() | Unmortgaged():
                self.estate.mortgaged[event.position] = isinstance(event, Mortgaged)
                self.cash[event.player] = event.cash


def began(log: Sequence[LoggedEvent]) -> GameBegan | None:
    return next((told.event for told in log if isinstance(told.event, GameBegan)), None)


def snapshots(log: Sequence[LoggedEvent]) -> list[Replay]:
    """Return the game at the setup and after every turn begun; empty before the game has begun."""
    start = began(log)
    return list(_turns(log, Replay.begin(start))) if start else []


def _turns(log: Sequence[LoggedEvent], game: Replay) -> Iterator[Replay]:
    order = list(game.names)
    for game.turn, told in groupby(log, key=lambda told: told.round):
        game.events = tuple(entry.event for entry in told)
        if game.turn:
            start = order.index(game.active) + 1 if game.active else 0
            after = (player for player in (*order[start:], *order[:start]) if player not in game.bankrupt)
            game.active = next(after, game.active)
        for event in game.events:
            game.apply(event)
        yield game.copy()


FACTS = {
    "bankrupt": "the player who goes bankrupt next",
    "cash": "the cash of the player, in dollars",
    "deeds": "the properties of the player, in the order of the board",
}


def truths(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Iterator[Truth]:
    """Yield every bankruptcy, and the cash and the properties of a player whenever they change."""
    game: Replay | None = None
    known: dict[tuple[str, PlayerId], int | str] = {}
    for at, event in enumerate((told.event for told in log), start=1):
        if isinstance(event, GameBegan):
            game = Replay.begin(event)
        elif game is not None:
            game.apply(event)
        if isinstance(event, Bankrupted):
            yield Truth("bankrupt", event.player, at, public=at)
        if game is None:
            continue
        for number, (player, cash) in enumerate(game.cash.items()):
            deeds = ", ".join(name_of(position) for position in sorted(game.estate.held(number)))
            for name, value in (("cash", cash), ("deeds", deeds)):
                if known.get((name, player)) != value:
                    known[name, player] = value
                    yield Truth(name, value, at, player, lasting=True)


# -- trades


@dataclass(frozen=True, slots=True)
class Deal:
    """A proposed trade, with its worth to both sides when it was proposed.

    `list_balance` is what the proposer would gain in dollars, and the other side lose, by list price: a clear deed
    counts its price, a mortgaged one half of it, a Get Out of Jail Free card $50. `rent_proposer` and `rent_target` are
    the changes in the sum of all rents of each side in dollars: one visit to each deed, 7 pips for utilities, and the
    monopolies that the trade completes or breaks. `answer` is "open" while there is none.
    """

    number: int
    turn: int
    proposer: PlayerId
    target: PlayerId
    offer: Side
    request: Side
    pitch: str
    answer: Answer
    list_balance: int
    rent_proposer: int
    rent_target: int


def deals(log: Sequence[LoggedEvent]) -> list[Deal]:
    """Return all proposed trades in order, without those that were discarded."""
    start, found = began(log), dict[int, Deal]()
    game = Replay.begin(start) if start else None
    for told in log if game else ():
        assert game is not None
        match told.event:
            case TradeProposed() as proposed:
                found[proposed.number] = _deal(game, told.round, proposed)
            case TradeAccepted() | TradeRejected() as answered:
                answer: Answer = "accepted" if isinstance(answered, TradeAccepted) else "rejected"
                found[answered.number] = replace(found[answered.number], answer=answer)
            case event:
                game.apply(event)
    return list(found.values())


def _deal(game: Replay, turn: int, event: TradeProposed) -> Deal:
    before, after = game.estate, game.estate.copy()
    proposer, target = game.seat(event.proposer), game.seat(event.target)
    for side, taker in ((event.offer, target), (event.request, proposer)):
        for position in side.properties:
            after.owner[position] = taker
    rents = [_rents(after, seat) - _rents(before, seat) for seat in (proposer, target)]
    balance = event.request.value(event.mortgaged) - event.offer.value(event.mortgaged)
    parties = (event.proposer, event.target)
    return Deal(event.number, turn, *parties, event.offer, event.request, event.pitch, "open", balance, *rents)


def _rents(estate: Estate, seat: int) -> int:
    """Return the sum of a seat's rents: one visit to each deed, 7 pips for utilities."""
    return sum(estate.rent(position, _PIPS) for position in estate.held(seat))


# -- tables for export


Row = tuple[Cell, ...]

COLUMNS: dict[str, tuple[str, ...]] = {
    "turns": ("turn", "active", "player", "cash", "net_worth", "position", "in_jail", "bankrupt", "deeds"),
    "rents": ("turn", "payer", "payee", "position", "space", "amount"),
    "trades": (
        *("number", "turn", "proposer", "target", "offer", "offer_cash", "offer_jail_cards"),
        *("request", "request_cash", "request_jail_cards", "answer", "list_balance", "rent_proposer", "rent_target"),
        "pitch",
    ),
    "deeds": ("turn", "position", "space", "giver", "taker", "why", "mortgaged"),
    "auctions": ("turn", "position", "space", "bidders", "bids", "winner", "price"),
    "talk": ("turn", "player", "said", "thought"),
}


def tables(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
    """Return every table with the columns of `COLUMNS`, which docs/tables.md explains; None or "" is the bank."""
    rents = [entry for entry in log if isinstance(entry.event, Paid) and entry.event.why == "rent"]
    rows = {
        "turns": _stands(log),
        "rents": _told(rents, Paid, "rents"),
        "trades": _trades(log),
        "deeds": _told(log, DeedMoved, "deeds"),
        "auctions": _auctions(log),
        "talk": iter(utterances(log)),
    }
    return {name: Frame(columns, tuple(rows[name])) for name, columns in COLUMNS.items()}


def _stands(log: Sequence[LoggedEvent]) -> Iterator[Row]:
    for turn in snapshots(log):
        for number, player in enumerate(turn.cash):
            out, deeds = player in turn.bankrupt, len(turn.estate.held(number))
            stands = (None if out else turn.positions[player], player in turn.jailed, out, deeds)
            yield turn.turn, turn.active, player, turn.cash[player], turn.worth(player), *stands


def _told(log: Sequence[LoggedEvent], kind: type[Paid | DeedMoved], table: str) -> Iterator[Row]:
    """Yield a row for every event of a kind that has a position."""
    for told in log:
        if isinstance(told.event, kind) and told.event.position is not None:
            fields: dict[str, Cell] = {"turn": told.round, "space": name_of(told.event.position), **vars(told.event)}
            yield tuple(fields[name] for name in COLUMNS[table])


def _trades(log: Sequence[LoggedEvent]) -> Iterator[Row]:
    for deal in deals(log):
        offer, request = deal.offer, deal.request
        yield (
            *(deal.number, deal.turn, deal.proposer, deal.target),
            *(_listed(offer.properties), offer.cash, offer.jail_cards),
            *(_listed(request.properties), request.cash, request.jail_cards),
            *(deal.answer, deal.list_balance, deal.rent_proposer, deal.rent_target, deal.pitch),
        )


def _listed(positions: Sequence[int]) -> str:
    return " ".join(map(str, positions))


def _auctions(log: Sequence[LoggedEvent]) -> Iterator[Row]:
    bidders = bids = 0
    for told in log:
        match told.event:
            case AuctionOpened() as opened:
                bidders, bids = len(opened.bidders), 0
            case BidMade() as bid:
                bids += bid.amount > 0
            case AuctionClosed(position=at, winner=winner, price=price):
                yield told.round, at, name_of(at), bidders, bids, winner, price if winner else None
            case _:
                pass


Utterance: TypeAlias = tuple[int, str, str, str]
"""(turn, player id, speech, thought); either text may be empty."""


def utterances(log: Sequence[LoggedEvent]) -> list[Utterance]:
    """Return an entry for each decision with words, in order; a pitch counts as speech.

    In the log of one player the thoughts of the others are missing.
    """
    found: dict[tuple[str, int], Utterance] = {}
    for index, told in enumerate(log):
        match told.event:
            case Spoke() as event:
                player, turn, said, thought = event.player, event.turn, event.text, ""
            case Thought() as event:
                player, turn, said, thought = event.player, event.turn, "", event.text
            case TradeProposed() as event if event.pitch:
                player, turn, said, thought = event.proposer, told.round, event.pitch, ""
            case _:
                continue
        # Without the number of a decision, every event is an entry of its own.
        key = (player, told.decision if told.decision is not None else -1 - index)
        _, _, before, mind = found.get(key, (0, "", "", ""))
        found[key] = (turn, player, " ".join(filter(None, (before, said))), mind or thought)
    return list(found.values())
