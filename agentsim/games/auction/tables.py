"""Tables: `detailed_logs` and `results`, the columns that notebooks rely on. What a page shows is `panels`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Cell, Frame
from agentsim.games.auction.bidding import BidMade
from agentsim.games.auction.opening import AuctionBegan
from agentsim.games.auction.settling import AuctionEnded, ItemOffered

_LOT = ("ScenarioID", "RoundID", "ItemName", "ItemQuality", "IsRequired", "IterationID")
DETAILED_LOGS = (*_LOT, "TeamName", "BidAmount", "IsValid", "FailReason", "CurrentHighBidBefore")
RESULTS = ("ScenarioID", "TeamName", "CollectedItems", "Score_Count", "Score_Quality", "Score_Budget", "FinalRank")


def tables(log: Sequence[LogEntry]) -> Mapping[str, Frame]:
    """`detailed_logs`: a row a team an iteration, in the order of processing. `results`: a row a team, best first.

    `CollectedItems` is a JSON list of names. `CurrentHighBidBefore` is worked out, since no event says it of a sealed
    bid: the highest valid bid for the item among those that were processed before.
    """
    scenario = ""
    lot: tuple[Cell, ...] = ()
    high = 0
    bids: list[tuple[Cell, ...]] = []
    results: list[tuple[Cell, ...]] = []
    for event in (told.event for told in log):
        match event:
            case AuctionBegan():
                scenario = event.scenario
            case ItemOffered():
                item, high = event.item, 0
                lot = (scenario, event.round, item.name, item.quality, item.required)
            case BidMade():
                made = (event.name, event.amount, event.valid, event.fail_reason, high)
                bids.append((*lot, event.iteration, *made))
                high = max(high, event.amount) if event.valid else high
            case AuctionEnded():
                for team in event.results:
                    owned = json.dumps(team.items, ensure_ascii=False)
                    results.append((scenario, team.name, owned, team.count, team.quality, team.budget, team.rank))
            case _:
                pass
    return {"detailed_logs": Frame(DETAILED_LOGS, tuple(bids)), "results": Frame(RESULTS, tuple(results))}
