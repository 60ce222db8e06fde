"""Deals: every trade that was put before the table, with what it was worth to either side when it was proposed.

By list price a clear deed counts its price, a mortgaged one half of it, a card out of jail $50 and cash itself. By rent
counts how the sum of all rents that a player's deeds bring changes: one visit to each, 7 pips for utilities, and the
whole groups that the trade makes or breaks are in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from agentsim.engine.event import LogEntry, PlayerId
from agentsim.games.monopoly.board import FINE, SPACES
from agentsim.games.monopoly.estate import Estate
from agentsim.games.monopoly.replay import Replay, began
from agentsim.games.monopoly.trade import Side
from agentsim.games.monopoly.trading import TradeAccepted, TradeProposed, TradeRejected

Answer: TypeAlias = Literal["accepted", "rejected", "open"]
_PIPS = 7


@dataclass(frozen=True, slots=True)
class Deal:
    """`list_balance` is what the proposer stands to gain in dollars by list price; the other side loses as much.

    `rent_proposer` and `rent_target` are the changes of their rents in dollars. An `open` one has no answer yet.
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


def deals(log: Sequence[LogEntry]) -> list[Deal]:
    """All that were proposed, in order; the discarded ones are not among them."""
    start = began(log)
    game = Replay.begin(start) if start else None
    found: dict[int, Deal] = {}
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
    for position in event.offer.properties:
        after.owner[position] = target
    for position in event.request.properties:
        after.owner[position] = proposer
    rents = [_rents(after, seat) - _rents(before, seat) for seat in (proposer, target)]
    balance = _listed(before, event.request) - _listed(before, event.offer)
    parties = (event.proposer, event.target)
    return Deal(event.number, turn, *parties, event.offer, event.request, event.pitch, "open", balance, *rents)


def _listed(estate: Estate, side: Side) -> int:
    deeds = (SPACES[at].mortgage if estate.mortgaged[at] else SPACES[at].price for at in side.properties)
    return sum(deeds) + side.cash + FINE * side.jail_cards


def _rents(estate: Estate, seat: int) -> int:
    return sum(estate.rent(position, _PIPS) for position in estate.held(seat))
