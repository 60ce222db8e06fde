"""Invariants of every game of Monopoly, stated independently of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agentsim.engine.event import Event, LoggedEvent, PlayerId
from agentsim.engine.game import RandomDraw
from agentsim.engine.request import Request
from agentsim.games.monopoly.auctions import AuctionBid, AuctionLot
from agentsim.games.monopoly.board import CARDS, SALARY, SPACES
from agentsim.games.monopoly.building import Built, Mortgaged, Sold, Unmortgaged
from agentsim.games.monopoly.buying import BuyOrAuction
from agentsim.games.monopoly.match import CardDrawn, GameBegan, Moved, Paid
from agentsim.games.monopoly.question import MonopolyRequest


def invariants(steps: Iterable[LoggedEvent | Request[Any]], players: Sequence[PlayerId]) -> Iterator[str | RandomDraw]:
    """Yield what is broken: cash is what was paid, also in requests; passing GO pays; requests tell the price."""
    cash: Counter[PlayerId] = Counter()
    told: list[Event] = []
    for step in steps:
        if isinstance(step, LoggedEvent):
            left = _paid(step.event, cash)
            if any(cash[player] != amount for player, amount in left.items()):
                yield f"after {step.event.heading!r} there is {left}, and payments make it {dict(cash)}"
            told.append(step.event)
        elif isinstance(step, MonopolyRequest):
            shown = {seat.id: seat.cash for seat in step.view.seats}
            if any(cash[player] != amount for player, amount in shown.items()):
                yield f"{step.player} is shown {shown} as cash, and payments make it {dict(cash)}"
            yield from _unpriced(step)
    yield from _salaries(told)


def _paid(event: Event, cash: Counter[PlayerId]) -> dict[PlayerId, int]:
    """Book the payments of an event, and return the cash that it says is left, by player."""
    match event:
        case GameBegan():
            cash.update(dict.fromkeys(event.names, event.cash))
        case Paid():
            for player, sign in ((event.payer, -1), (event.payee, 1)):
                cash.update({player: sign * event.amount} if player else {})
            return event.cash
        case Built() | Unmortgaged() | Sold() | Mortgaged():
            cash[event.player] += event.amount if isinstance(event, Sold | Mortgaged) else -event.amount
            return {event.player: event.cash}
    return {}


def _unpriced(asked: MonopolyRequest[Any]) -> Iterator[str]:
    """Yield an offer of a deed that does not tell its price."""
    match asked:
        case BuyOrAuction(position=position) | AuctionBid(lot=AuctionLot(position=position)):
            price = asked.lot.price if isinstance(asked, AuctionBid) else SPACES[position].price
            if f"${price}" not in " ".join(map(str, asked.question())):
                yield f"{asked.player} is asked {asked.kind}, and not told the price of {SPACES[position].name}"


def _salaries(told: Iterable[Event]) -> Iterator[str]:
    """Yield moves over or onto GO without a salary, and salaries without one; a card's move back earns none."""
    due, back = "", False
    for event in told:
        match event:
            case CardDrawn():
                back = CARDS[event.card].effect == "back"
            case Moved():
                if due:
                    yield f"{due} passed GO, and had no salary"
                due, back = event.player if event.to <= event.start and not back else "", False
            case Paid(why="salary"):
                if (event.payee, event.amount) != (due, SALARY):
                    yield f"{event.payee} has a salary of {event.amount}, and has not passed GO"
                due = ""
