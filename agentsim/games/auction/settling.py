"""Settling: what is offered, who takes it, who pays, and the ranking at the end. Bids are `bidding`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentsim.engine.event import Event, Everyone
from agentsim.engine.game import Standing
from agentsim.engine.table import Table
from agentsim.engine.wording import If, Rows, first_place
from agentsim.games.auction.items import Item
from agentsim.games.auction.state import Auction


class ItemOffered(
    Event,
    heading="For sale: {item.name}",
    content=("Quality {item.quality}, ", If("item.required", "required", "not required"), "."),
    in_prompt=False,
):
    round: int
    item: Item


class ItemSold(
    Event, heading="Sold to {name} for {price}", content="{item.name}, quality {item.quality}.", in_prompt=False
):
    """`price` is what the winner pays."""

    round: int
    item: Item
    team: str
    name: str
    price: int


class ItemLost(Event, heading="Nobody bids", content="{item.name} is lost.", in_prompt=False):
    round: int
    item: Item


class Paid(Event, heading="{name} pays {amount}", content="{budget} left.", in_prompt=False):
    """`budget` is what is left afterwards."""

    round: int
    team: str
    name: str
    amount: int
    budget: int


@dataclass(frozen=True)
class Result:
    """A team's end: what it holds, and the three numbers it is ranked by."""

    team: str
    name: str
    items: tuple[str, ...]
    count: int
    quality: int
    budget: int
    rank: int


class AuctionEnded(
    Event, content=Rows("results", "{rank}. {name}: {count} required, quality {quality}, {budget} left")
):
    """`results` are in rank order."""

    results: tuple[Result, ...]

    @property
    def heading(self) -> str:
        return first_place([result.name for result in self.results if result.rank == 1])


def offer(table: Table, auction: Auction, item: Item) -> None:
    auction.offer(item)
    table.round(f"Item {auction.round}: {item.name}")
    table.tell(ItemOffered(auction.round, item), to=Everyone)


def settle(table: Table, auction: Auction) -> None:
    """End the round: the item is sold or lost, and every payment is told."""
    sale = auction.settle()
    winner = auction.teams.get(sale.winner)
    if winner is None:
        table.tell(ItemLost(auction.round, sale.item), to=Everyone)
    else:
        price = sale.payments[winner.id]
        table.tell(ItemSold(auction.round, sale.item, winner.id, winner.name, price), to=Everyone)
    for payer, amount in sale.payments.items():
        team = auction.teams[payer]
        table.tell(Paid(auction.round, payer, team.name, amount, team.budget), to=Everyone)


def ended(auction: Auction, standings: Sequence[Standing]) -> AuctionEnded:
    """What is told after the last item."""
    results = []
    for standing in standings:
        team = auction.teams[standing.player]
        score, items = team.score(), tuple(item.name for item in team.acquired)
        results.append(Result(team.id, team.name, items, score.count, score.quality, score.budget, standing.rank))
    return AuctionEnded(tuple(results))
