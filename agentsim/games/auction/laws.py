"""Laws: invariants of every auction, stated independently of the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agentsim.engine.event import LoggedEvent, PlayerId
from agentsim.engine.game import Lot
from agentsim.engine.request import Request
from agentsim.games.auction.bidding import BidMade
from agentsim.games.auction.lots import AuctionBegan, ItemLost, ItemOffered, ItemSold


def laws(course: Iterable[LoggedEvent | Request[Any]], players: Sequence[PlayerId]) -> Iterator[str | Lot]:
    """Yield each bid after the last iteration, each price above the highest bid, and each lost item that had a bid."""
    most, high = 0, 0
    for event in (step.event for step in course if isinstance(step, LoggedEvent)):
        match event:
            case AuctionBegan():
                most = event.max_iterations
            case ItemOffered():
                high = 0
            case BidMade():
                high = max(high, event.amount if event.valid else 0)
                if event.iteration > most:
                    yield f"{event.team} bids in iteration {event.iteration} of at most {most}"
            case ItemSold() if event.price > high:
                yield f"{event.team} pays {event.price}, and the highest bid was {high}"
            case ItemLost() if high:
                yield f"{event.item.name} is lost, and {high} was bid"
