"""Invariants of every auction, stated independently of the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agentsim.engine.event import LoggedEvent, PlayerId
from agentsim.engine.game import RandomDraw
from agentsim.engine.request import Request
from agentsim.games.auction.bidding import BidMade
from agentsim.games.auction.lots import AuctionBegan, AuctionEnded, ItemLost, ItemOffered, ItemSold, Paid


def invariants(steps: Iterable[LoggedEvent | Request[Any]], players: Sequence[PlayerId]) -> Iterator[str | RandomDraw]:
    """Yield each bid that is judged wrongly or comes after the last iteration, and each wrong winner, price or payment.

    The first of the highest valid bids wins. Open bids rise; the winner pays its bid, in a second-price auction the
    highest bid of another team, and in an all-pay auction every team pays its bid. No bid is above its team's budget.
    """
    began: AuctionBegan | None = None
    budgets: dict[str, int] = {}
    bids: list[tuple[str, int]] = []  # the valid bids for the item, as processed
    owed: dict[str, int] = {}
    for event in (step.event for step in steps if isinstance(step, LoggedEvent)):
        match event:
            case AuctionBegan():
                began, budgets = event, dict.fromkeys(event.teams, event.budget)
            case ItemOffered() | AuctionEnded():
                yield from (f"{team} does not pay {amount}" for team, amount in owed.items())
                bids, owed = [], {}
            case BidMade() if began is not None:
                yield from _bid(event, began, budgets[event.team], max((bid for _, bid in bids), default=0))
                if event.valid:
                    bids.append((event.team, event.amount))
            case ItemSold() if began is not None:
                yield from _sale(event, began, bids)
                owed = _debts(began, bids)
            case ItemLost() if bids:
                yield f"{event.item.name} is lost, and {max(bid for _, bid in bids)} was bid"
            case Paid():
                yield from _payment(event, owed.pop(event.team, 0), budgets[event.team])
                budgets[event.team] -= event.amount
            case _:
                pass


def _bid(bid: BidMade, began: AuctionBegan, budget: int, high: int) -> Iterator[str]:
    if bid.iteration > began.max_iterations:
        yield f"{bid.team} bids in iteration {bid.iteration} of at most {began.max_iterations}"
    if bid.valid != ((0 if began.sealed else high) < bid.amount <= budget):
        found = "counts" if bid.valid else "does not count"
        yield f"the bid of {bid.amount} by {bid.team} {found}, with {budget} to spend and a high bid of {high}"


def _first_highest(bids: Sequence[tuple[str, int]]) -> tuple[str, int]:
    return max(bids, key=lambda bid: bid[1], default=("", 0))


def _sale(sold: ItemSold, began: AuctionBegan, bids: Sequence[tuple[str, int]]) -> Iterator[str]:
    winner, bid = _first_highest(bids)
    if sold.team != winner:
        yield f"{sold.team} takes {sold.item.name}, and {winner or 'no team'} had the highest bid"
        return
    _, second = _first_highest([other for other in bids if other[0] != winner])
    price = second if began.format == "sealed_second_price" else bid
    if sold.price != price:
        yield f"{sold.team} takes {sold.item.name} for {sold.price}, and its price is {price}"


def _payment(paid: Paid, owed: int, budget: int) -> Iterator[str]:
    if paid.amount != owed:
        yield f"{paid.team} pays {paid.amount}, and owes {owed}"
    if paid.budget != budget - paid.amount or paid.budget < 0:
        yield f"{paid.team} has {paid.budget} left of {budget} after it pays {paid.amount}"


def _debts(began: AuctionBegan, bids: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return what each team has to pay."""
    winner, bid = _first_highest(bids)
    if began.format == "all_pay":
        return dict(bids)
    if began.format == "sealed_second_price":
        return {winner: _first_highest([other for other in bids if other[0] != winner])[1]}
    return {winner: bid}
