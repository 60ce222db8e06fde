"""Panels: prices, budgets, sets, and who outbid whom, from the events that one audience heard.

Given the events one team heard, they show what that team could know. Markup does not belong here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Cell, Chart, DataTable, Panel, Point, Scatter, Series
from agentsim.games.auction.events import (
    AuctionBegan,
    AuctionEnded,
    BidMade,
    ItemLost,
    ItemOffered,
    ItemSold,
    Paid,
)
from agentsim.games.auction.pricing import PRICING

_INVALID = {"Pass": "passes", "OverBudget": "{} (over budget)", "Unreadable": "unreadable"}


def panels(log: Sequence[LogEntry]) -> list[Panel]:
    """Everything there is to show; nothing before the auction has begun, and no panel without data."""
    events = [told.event for told in log]
    began = next((event for event in events if isinstance(event, AuctionBegan)), None)
    if began is None or not any(isinstance(event, ItemOffered) for event in events):
        return []
    bids = [event for event in events if isinstance(event, BidMade)]
    out: list[Panel] = []
    if ended := [event for event in events if isinstance(event, AuctionEnded)]:
        out.append(_results(ended[0]))
    if PRICING[began.format].sealed:
        out += [_sealed(began, bids, events)] if bids else []
    else:
        out += [_path(bids), _prices(bids, events)] if bids else []
    sold = [event for event in events if isinstance(event, ItemSold)]
    out += [_budgets(began, events), _completion(began, events)]
    if not PRICING[began.format].sealed and bids:
        out.append(_outbid(began, bids))
    if sold:
        out.append(_curse(sold))
    return out


def _results(ended: AuctionEnded) -> DataTable:
    rows = tuple((team.name, len(team.items), ", ".join(team.items) or "nothing") for team in ended.results)
    return DataTable("What everybody took home", ("team", "items", "in the order in which they were taken"), rows)


def _ends(events: Iterable[object]) -> dict[int, ItemSold | ItemLost]:
    return {event.round: event for event in events if isinstance(event, ItemSold | ItemLost)}


def _highs(bids: Sequence[BidMade]) -> dict[tuple[int, int], int]:
    """The high bid at the end of each iteration, by (round, iteration)."""
    highs: dict[tuple[int, int], int] = {}
    for bid in bids:
        key = (bid.round, bid.iteration)
        highs[key] = max(highs.get(key, 0), bid.high_before or 0, bid.amount if bid.valid else 0)
    return highs


def _path(bids: Sequence[BidMade]) -> Chart:
    """One line through the whole game, broken between items."""
    x: list[str] = []
    values: list[float | None] = []
    before = 0
    for (round_, iteration), high in sorted(_highs(bids).items()):
        if before and round_ != before:
            x.append("")
            values.append(None)
        before = round_
        x.append(f"{round_}.{iteration}")
        values.append(float(high))
    series = (Series("high bid", tuple(values)),)
    return Chart("Price paths", "line", tuple(x), series, "item.iteration", "high bid", "Each stretch is one item.")


def _prices(bids: Sequence[BidMade], events: Sequence[object]) -> DataTable:
    offered = {event.round: event.item for event in events if isinstance(event, ItemOffered)}
    highs, ends = _highs(bids), _ends(events)
    iterations = sorted({iteration for _, iteration in highs})
    rows: list[tuple[Cell, ...]] = []
    for round_, item in offered.items():
        end = ends.get(round_)
        winner = end.name if isinstance(end, ItemSold) else ("(lost)" if end else None)
        name = f"{item.name} ({item.quality})" if item.required else f"{item.name} ({item.quality}, not required)"
        rows.append((name, *(highs.get((round_, iteration)) for iteration in iterations), winner))
    columns = ("item (quality)", *map(str, iterations), "taken by")
    return DataTable("High bid by iteration", columns, tuple(rows), heat=True)


def _sealed(began: AuctionBegan, bids: Sequence[BidMade], events: Sequence[object]) -> DataTable:
    offered = {event.round: event.item for event in events if isinstance(event, ItemOffered)}
    # a number is a bid that counted; any other stays out of the shading
    made: dict[tuple[int, str], Cell] = {
        (bid.round, bid.team): bid.amount if bid.valid else _INVALID[bid.fail_reason].format(bid.amount) for bid in bids
    }
    ends = _ends(events)
    rows: list[tuple[Cell, ...]] = []
    for round_, item in offered.items():
        end = ends.get(round_)
        winner, price = (end.name, end.price) if isinstance(end, ItemSold) else ("(lost)" if end else None, None)
        rows.append((item.name, *(made.get((round_, team)) for team in began.teams), winner, price))
    columns = ("item", *began.teams.values(), "taken by", "price")
    return DataTable("Sealed bids", columns, tuple(rows), heat=True)


def _rounds(events: Sequence[object]) -> list[int]:
    return [0, *_ends(events)]


def _budgets(began: AuctionBegan, events: Sequence[object]) -> Chart:
    rounds = _rounds(events)
    series = []
    for team, name in began.teams.items():
        paid = {event.round: event.budget for event in events if isinstance(event, Paid) and event.team == team}
        values, left = [], began.budget
        for round_ in rounds:
            left = paid.get(round_, left)
            values.append(float(left))
        series.append(Series(name, tuple(values)))
    return Chart("Budgets", "line", tuple(map(str, rounds)), tuple(series), "after item", "budget")


def _completion(began: AuctionBegan, events: Sequence[object]) -> Chart:
    rounds, ends = _rounds(events), _ends(events)
    series = []
    for team, name in began.teams.items():
        owned: set[str] = set()
        values = []
        for round_ in rounds:
            end = ends.get(round_)
            if isinstance(end, ItemSold) and end.team == team and end.item.required:
                owned.add(end.item.name)
            values.append(float(len(owned)))
        series.append(Series(name, tuple(values)))
    labels = tuple(map(str, rounds))
    return Chart("Required components", "line", labels, tuple(series), "after item", "different components")


def _outbid(began: AuctionBegan, bids: Sequence[BidMade]) -> DataTable:
    counts = {(over, under): 0 for over in began.teams for under in began.teams}
    leader: str | None = None
    round_ = 0
    for bid in bids:
        if bid.round != round_:
            round_, leader = bid.round, None
        if bid.valid:
            if leader is not None:
                counts[bid.team, leader] += 1
            leader = bid.team
    rows: list[tuple[Cell, ...]] = [
        (name, *(counts[team, other] for other in began.teams)) for team, name in began.teams.items()
    ]
    note = (
        "How often the team of the row took the high bid from the team of the column; its own, where it raised itself."
    )
    return DataTable("Who outbid whom", ("team", *began.teams.values()), tuple(rows), note=note, heat=True)


def _curse(sold: Sequence[ItemSold]) -> Scatter:
    points = tuple(
        Point(
            float(event.item.quality),
            float(event.price),
            f"{event.item.name}: {event.name}",
            "required" if event.item.required else "not required",
        )
        for event in sold
    )
    note = "High and to the left is the winner's curse: much paid for little."
    return Scatter("Price against quality", points, "quality", "price", note)
