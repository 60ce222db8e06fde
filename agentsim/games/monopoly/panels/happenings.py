"""Happenings: a turn in a few short lines for a board's notes: what happened in it, what was said and thought."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import Event
from agentsim.engine.wording import cut
from agentsim.games.monopoly.board import name_of
from agentsim.games.monopoly.building import Built, Lifted, Mortgaged, Sold
from agentsim.games.monopoly.buying import AuctionClosed
from agentsim.games.monopoly.debts import Bankrupted
from agentsim.games.monopoly.jail import Freed, Jailed, StayedInJail
from agentsim.games.monopoly.landing import CardDrawn
from agentsim.games.monopoly.match import DeedMoved, Moved, Paid, Rolled
from agentsim.games.monopoly.talk import Spoke, Thought
from agentsim.games.monopoly.trading import TradeAccepted, TradeProposed, TradeRejected

_MOST = 12
_LONGEST = 110
_QUOTED = 160
_ROW_END = 30  # characters of a line's last row that stay empty, more or less
_PLAIN = (Built, Sold, Mortgaged, Lifted, Jailed, Freed, StayedInJail, Bankrupted, TradeProposed)
_TOLD_BY_DEED = {"purchase", "auction", "trade", "bankruptcy"}


def happenings(events: Sequence[Event]) -> tuple[str, ...]:
    """One line each, in order; of very many the first, and how many more there are."""
    lines: list[str] = []
    rolled: Event | None = None  # whose line is the last
    offers: dict[int, int] = {}  # which line each trade stands in
    for event in events:
        match event:
            case Moved(by="dice") if rolled is not None:
                lines[-1] += f": {name_of(event.to)}"
            case TradeAccepted() | TradeRejected() if event.number in offers:
                lines[offers[event.number]] += ": accepted" if isinstance(event, TradeAccepted) else ": rejected"
            case _ if line := _line(event):
                if isinstance(event, TradeProposed):
                    offers[event.number] = len(lines)
                lines.append(cut(line, _LONGEST))
            case _:
                continue
        rolled = event if isinstance(event, Rolled) and event.purpose != "rent" else None
    return (*lines[:_MOST], f"and {len(lines) - _MOST} more") if len(lines) > _MOST + 1 else tuple(lines)


def _line(event: Event) -> str:
    match event:
        case Rolled():
            return event.heading
        case Moved():
            return event.heading
        case CardDrawn():
            return f"{event.heading}: {event.content}"
        case Paid() if event.why not in _TOLD_BY_DEED:
            where = f" for {name_of(event.position)}" if event.position is not None and event.why == "rent" else ""
            return f"{event.heading}{where or f' ({event.why})'}"
        case DeedMoved() if event.why == "purchase":
            return f"{event.taker_name} buys {name_of(event.position)}"
        case AuctionClosed():
            return f"{event.heading}: {event.content}"
        case _:
            return event.heading if isinstance(event, _PLAIN) else ""


def quotations(events: Sequence[Event], room: int) -> tuple[str, ...]:
    """The last words of a turn, a line for each speech, pitch or thought, in at most `room` characters altogether."""
    found: list[str] = []
    for event in events:
        match event:
            case Spoke():
                found.append(f"{event.name}: \u201c{cut(event.text, _QUOTED)}\u201d")
            case Thought():
                found.append(f"{event.name}, to itself: \u201c{cut(event.text, _QUOTED)}\u201d")
            case TradeProposed() if event.pitch:
                found.append(f"{event.proposer_name} to {event.target_name}: \u201c{cut(event.pitch, _QUOTED)}\u201d")
            case _:
                pass
    last: list[str] = []
    for line in reversed(found):
        room -= len(line) + _ROW_END
        if room < 0:
            break
        last.insert(0, line)
    return tuple(last)
