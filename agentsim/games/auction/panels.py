"""Panels of prices, budgets, sets and outbidding, and the tables `detailed_logs` and `results` for notebooks.

Given the events that one team heard, panels show only what that team could know. Markup does not belong here.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from agentsim.engine.event import Event, LoggedEvent, PlayerId
from agentsim.engine.panel import (
    Cell,
    Chart,
    DataTable,
    Frame,
    Overview,
    Panel,
    Point,
    Scatter,
    Series,
    TurnedAt,
)
from agentsim.engine.truth import Truth
from agentsim.engine.wording import counted, listed
from agentsim.games.auction.bidding import BidMade
from agentsim.games.auction.lots import AuctionBegan, AuctionEnded, ItemLost, ItemOffered, ItemSold, Paid
from agentsim.games.auction.state import Team

E = TypeVar("E", bound=Event)
_INVALID = {"Pass": "passes", "OverBudget": "{} (over budget)", "Unreadable": "unreadable"}


def panels(log: Sequence[LoggedEvent], players: Sequence[PlayerId] = ()) -> list[Panel]:
    """Return all panels that have data, or none before the auction has begun."""
    return list(_Heard(log).panels())


def overview(log: Sequence[LoggedEvent], players: Sequence[PlayerId] = ()) -> Overview:
    """Return the number of required components of each team, item by item."""
    heard = _Heard(log)
    standing = heard.required() if heard.offered else None
    return Overview(standing, margin=("count", "quality", "budget"), why=heard.why(), turns=tuple(heard.turns(log)))


class _Heard:
    """The events that one audience heard, by kind."""

    def __init__(self, log: Sequence[LoggedEvent]) -> None:
        def of(kind: type[E]) -> list[E]:
            return [told.event for told in log if isinstance(told.event, kind)]

        self.began, self.ended = of(AuctionBegan), of(AuctionEnded)
        self.offered = {event.round: event.item for event in of(ItemOffered)}
        self.bids, self.sold, self.paid = of(BidMade), of(ItemSold), of(Paid)
        ends: list[ItemSold | ItemLost] = [*self.sold, *of(ItemLost)]
        self.ends = {event.round: event for event in ends}
        self.teams = self.began[0].teams if self.began else {}

    def panels(self) -> Iterator[Panel]:
        if not self.offered:
            return
        sealed = self.began[0].sealed
        if self.ended:
            yield self._results()
        if self.bids:
            yield from (self._sealed(),) if sealed else (self._path(), self._prices())
        yield self._by_round("Budgets", "budget", self._budget)
        yield self.required()
        if self.bids and not sealed:
            yield self._outbid()
        if self.sold:
            yield self._curse()

    def why(self) -> str:
        """Say what the first team bought and what it paid, or "" before the end."""
        for first, *others in (event.results for event in self.ended):
            spent = self.began[0].budget - first.budget
            needed = counted(self.began[0].needed, "required component")
            had = f"{first.name} bought {first.count} of {needed} for {spent:,}"
            tied = [other.name for other in others if other.count == first.count]
            return f"{had}; {listed(tied)} bought as many, of lower quality." if tied else f"{had}."
        return ""

    def turns(self, log: Sequence[LoggedEvent]) -> Iterator[TurnedAt]:
        """Yield the item after which the winner led for good, the most expensive item, and the best bargain."""
        sales = [(at, told.event) for at, told in enumerate(log) if isinstance(told.event, ItemSold)]
        teams = {team: Team(team, name, 0) for team, name in self.teams.items()}
        leader, took = "", None
        for at, sold in sales:
            teams[sold.team] = team = replace(teams[sold.team], acquired=(*teams[sold.team].acquired, sold.item))
            if not leader or (leader != team.id and team.score() > teams[leader].score()):
                leader, took = team.id, (at, sold)
        if took:
            yield TurnedAt(took[0], "Decided", f"{took[1].name} is first from here on, with {took[1].item.name}")
        for at, sold in sorted(sales, key=lambda sale: -sale[1].price)[:1]:
            yield TurnedAt(at, "Dearest item", f"{sold.item.name}, to {sold.name} for {sold.price}")
        wanted = [(sold.price / max(1, sold.item.quality), at, sold) for at, sold in sales if sold.item.required]
        for _, at, sold in sorted(wanted, key=lambda sale: sale[:2])[:1]:
            text = f"{sold.item.name}, quality {sold.item.quality}, to {sold.name} for {sold.price}"
            yield TurnedAt(at, "Best bargain", text)

    def required(self) -> Chart:
        return self._by_round("Required components", "different components", self._components)

    def _results(self) -> DataTable:
        rows = tuple((team.name, len(team.items), ", ".join(team.items) or "nothing") for team in self.ended[0].results)
        return DataTable("What each team bought", ("team", "items", "in the order in which they were taken"), rows)

    def _highs(self) -> dict[tuple[int, int], int]:
        """Return the high bid at the end of each iteration, by (round, iteration)."""
        highs: dict[tuple[int, int], int] = defaultdict(int)
        for bid in self.bids:
            at = bid.round, bid.iteration
            highs[at] = max(highs[at], bid.high_before or 0, bid.amount if bid.valid else 0)
        return dict(sorted(highs.items()))

    def _path(self) -> Chart:
        """Return one line through the whole game, broken between items."""
        points: list[tuple[str, float | None]] = []
        for (round_, iteration), high in self._highs().items():
            points += [("", None)] if points and iteration == 1 else []
            points.append((f"{round_}.{iteration}", float(high)))
        x, values = zip(*points, strict=True)
        series = (Series("high bid", values),)
        return Chart("Price paths", "line", x, series, "item.iteration", "high bid", "Each stretch is one item.")

    def _prices(self) -> DataTable:
        highs = self._highs()
        iterations = sorted({iteration for _, iteration in highs})
        rows: list[tuple[Cell, ...]] = []
        for at, item in self.offered.items():
            name = f"{item.name} ({item.quality}{'' if item.required else ', not required'})"
            rows.append((name, *(highs.get((at, iteration)) for iteration in iterations), self._taken(at)[0]))
        columns = ("item (quality)", *map(str, iterations), "taken by")
        return DataTable("High bid by iteration", columns, tuple(rows), heat=True)

    def _taken(self, at: int) -> tuple[str | None, int | None]:
        """Return the winner and the price of a round's item, or (None, None) while it is for sale."""
        end = self.ends.get(at)
        return (end.name, end.price) if isinstance(end, ItemSold) else ("(lost)" if end else None, None)

    def _sealed(self) -> DataTable:
        # only bids that counted are numbers, since numbers are shaded
        made: dict[tuple[int, str], Cell] = {
            (bid.round, bid.team): bid.amount if bid.valid else _INVALID[bid.fail_reason].format(bid.amount)
            for bid in self.bids
        }
        rows = tuple(
            (item.name, *(made.get((at, team)) for team in self.teams), *self._taken(at))
            for at, item in self.offered.items()
        )
        columns = ("item", *self.teams.values(), "taken by", "price")
        return DataTable("Sealed bids", columns, rows, heat=True)

    def _by_round(self, title: str, y: str, value: Callable[[str, int], int]) -> Chart:
        """Return a chart with one line per team. `value` gives a team's value after so many items."""
        rounds = [0, *sorted(self.ends)]
        series = tuple(
            Series(name, tuple(float(value(team, at)) for at in rounds)) for team, name in self.teams.items()
        )
        return Chart(title, "line", tuple(map(str, rounds)), series, "after item", y, "", tuple(rounds))

    def _budget(self, team: str, at: int) -> int:
        paid = [event.budget for event in self.paid if event.team == team and event.round <= at]
        return paid[-1] if paid else self.began[0].budget

    def _components(self, team: str, at: int) -> int:
        return len({e.item.name for e in self.sold if e.team == team and e.round <= at and e.item.required})

    def _outbid(self) -> DataTable:
        counted = [bid for bid in self.bids if bid.valid]
        counts = Counter((bid.team, led.team) for led, bid in pairwise(counted) if led.round == bid.round)
        rows: list[tuple[Cell, ...]] = [
            (name, *(counts[team, other] for other in self.teams)) for team, name in self.teams.items()
        ]
        note = (
            "How often the team of the row took the high bid from the team of the column; its own, where it raised "
            "itself."
        )
        return DataTable("Who outbid whom", ("team", *self.teams.values()), tuple(rows), note=note, heat=True)

    def _curse(self) -> Scatter:
        points = []
        for sold in self.sold:
            kind = "required" if sold.item.required else "not required"
            place = float(sold.item.quality), float(sold.price)
            points.append(Point(*place, f"{sold.item.name}: {sold.name}", kind))
        note = "High and to the left is the winner's curse: much paid for little."
        return Scatter("Price against quality", tuple(points), "quality", "price", note)


_LOT = ("ScenarioID", "RoundID", "ItemName", "ItemQuality", "IsRequired", "IterationID")
DETAILED_LOGS = (*_LOT, "TeamName", "BidAmount", "IsValid", "FailReason", "CurrentHighBidBefore")
RESULTS = ("ScenarioID", "TeamName", "CollectedItems", "Score_Count", "Score_Quality", "Score_Budget", "FinalRank")


FACTS = {"buyer": "the team that buys the item for sale, or else the next one; nobody if it is lost"}


def truths(log: Sequence[LoggedEvent], players: Sequence[PlayerId] = ()) -> Iterator[Truth]:
    """Yield the buyer of every item, or `nobody`."""
    for at, event in enumerate((told.event for told in log), start=1):
        if isinstance(event, ItemSold | ItemLost):
            yield Truth("buyer", event.team if isinstance(event, ItemSold) else "nobody", at, public=at)


def tables(log: Sequence[LoggedEvent], players: Sequence[PlayerId] = ()) -> Mapping[str, Frame]:
    """Return `detailed_logs` with one row per bid as processed, and `results` with one row per team, best first.

    `CollectedItems` is a JSON list of names. `CurrentHighBidBefore` is the highest valid bid for the item among those
    that were processed before, computed here because events of sealed bids do not have it.
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
