"""Lots: the start of the auction, the offer and sale of each item, and the final ranking.

`bidding` has the bids.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import Event, Everyone
from agentsim.engine.game import Standing
from agentsim.engine.table import Table
from agentsim.engine.wording import If, Rows, first_place
from agentsim.games.auction.config import AuctionConfig
from agentsim.games.auction.items import Item
from agentsim.games.auction.state import PRICING, Auction, Format
from agentsim.lazy import dataclass


class AuctionBegan(
    Event,
    heading="The auction begins: {scenario}",
    content="{teams:#} teams with {budget} each bid for {items:item}, {required} required ({how}).",
):
    """The start of the auction. `teams` maps players' ids to the teams' names; `items` are in the order of the list."""

    scenario: str
    format: Format
    budget: int
    max_iterations: int
    teams: dict[str, str]
    items: tuple[Item, ...]

    @property
    def sealed(self) -> bool:
        """True if each team makes one bid, unseen by the others."""
        return PRICING[self.format].sealed

    @property
    def required(self) -> int:
        return sum(item.required for item in self.items)

    @property
    def how(self) -> str:
        return self.format.replace("_", " ")

    @property
    def needed(self) -> int:
        """The number of different components in the whole set."""
        return len({item.name for item in self.items if item.required})


def began(auction: Auction, config: AuctionConfig, scenario: str) -> AuctionBegan:
    names = {team.id: team.name for team in auction.teams.values()}
    return AuctionBegan(scenario, config.format, auction.budget, config.iterations, names, auction.items)


class ItemOffered(
    Event,
    label="item for sale",
    heading="For sale: {item.name}",
    content=("Quality {item.quality}, ", If("item.required", "required", "not required"), "."),
    in_prompt=False,
):
    round: int
    item: Item


class ItemSold(
    Event, heading="Sold to {name} for {price}", content="{item.name}, quality {item.quality}.", in_prompt=False
):
    """The sale of an item. `price` is the amount that the winner pays."""

    round: int
    item: Item
    team: str
    name: str
    price: int


class ItemLost(Event, label="item unsold", heading="Nobody bids", content="{item.name} is lost.", in_prompt=False):
    round: int
    item: Item


class Paid(Event, label="payment", heading="{name} pays {amount}", content="{budget} left.", in_prompt=False):
    """A team's payment. `budget` is what is left afterwards."""

    round: int
    team: str
    name: str
    amount: int
    budget: int


@dataclass(frozen=True)
class Result:
    """The final result of a team: its items, and the three numbers that rank it."""

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
    """The end of the auction. `results` are in rank order."""

    results: tuple[Result, ...]

    @property
    def heading(self) -> str:
        return first_place([result.name for result in self.results if result.rank == 1])


def offer(table: Table, auction: Auction, item: Item) -> None:
    auction.offer(item)
    table.round(f"Item {auction.round}: {item.name}")
    table.tell(ItemOffered(auction.round, item), to=Everyone)


def settle(table: Table, auction: Auction) -> None:
    """End the round: tell whether the item is sold or lost, and every payment."""
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
    """Return the event that follows the last item."""
    results = []
    for standing in standings:
        team = auction.teams[standing.player]
        score, items = team.score(), tuple(item.name for item in team.acquired)
        results.append(Result(team.id, team.name, items, score.count, score.quality, score.budget, standing.rank or 0))
    return AuctionEnded(tuple(results))
