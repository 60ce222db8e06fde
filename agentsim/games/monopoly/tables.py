"""Tables of Monopoly for export, from the events alone. What a page shows is `panels`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from agentsim.engine.event import LogEntry, PlayerId
from agentsim.engine.panel import Cell, Frame
from agentsim.games.monopoly.board import name_of
from agentsim.games.monopoly.buying import AuctionClosed, AuctionOpened, BidMade
from agentsim.games.monopoly.match import DeedMoved, Paid
from agentsim.games.monopoly.replay import deals, snapshots
from agentsim.games.monopoly.talk import Spoke, Thought
from agentsim.games.monopoly.trading import TradeProposed

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


def tables(log: Sequence[LogEntry], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
    """Every table with the columns of `COLUMNS`; the page on tables says what they hold. None and "" is the bank."""
    rents = [entry for entry in log if isinstance(entry.event, Paid) and entry.event.why == "rent"]
    rows = {
        "turns": _turns(log),
        "rents": _told(rents, Paid, "rents"),
        "trades": _trades(log),
        "deeds": _told(log, DeedMoved, "deeds"),
        "auctions": _auctions(log),
        "talk": iter(utterances(log)),
    }
    return {name: Frame(columns, tuple(rows[name])) for name, columns in COLUMNS.items()}


def _turns(log: Sequence[LogEntry]) -> Iterator[Row]:
    for turn in snapshots(log):
        for number, player in enumerate(turn.cash):
            out, deeds = player in turn.bankrupt, len(turn.estate.held(number))
            stands = (None if out else turn.positions[player], player in turn.jailed, out, deeds)
            yield turn.turn, turn.active, player, turn.cash[player], turn.worth(player), *stands


def _told(log: Sequence[LogEntry], kind: type[Paid | DeedMoved], table: str) -> Iterator[Row]:
    """A row for every event of a kind, of its fields and of its space by name."""
    for told in log:
        if isinstance(told.event, kind) and told.event.position is not None:
            fields: dict[str, Cell] = {"turn": told.round, "space": name_of(told.event.position), **vars(told.event)}
            yield tuple(fields[name] for name in COLUMNS[table])


def _trades(log: Sequence[LogEntry]) -> Iterator[Row]:
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


def _auctions(log: Sequence[LogEntry]) -> Iterator[Row]:
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
"""(turn, the player's id, what was said, what was thought); either may be empty."""


def utterances(log: Sequence[LogEntry]) -> list[Utterance]:
    """One for each decision with words, in order; a pitch is said aloud. Of others only what was heard is there."""
    found: dict[tuple[str, int], Utterance] = {}
    for place, told in enumerate(log):
        match told.event:
            case Spoke() as event:
                player, turn, said, thought = event.player, event.turn, event.text, ""
            case Thought() as event:
                player, turn, said, thought = event.player, event.turn, "", event.text
            case TradeProposed() as event if event.pitch:
                player, turn, said, thought = event.proposer, told.round, event.pitch, ""
            case _:
                continue
        # Of a decision that the log does not name, every event stands for itself.
        key = (player, told.decision if told.decision is not None else -1 - place)
        _, _, before, mind = found.get(key, (0, "", "", ""))
        found[key] = (turn, player, " ".join(filter(None, (before, said))), mind or thought)
    return list(found.values())
