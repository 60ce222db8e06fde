"""Events of the auction: every bid, every payment, every change of hands, in numbers. Who hears them is `round`."""

from __future__ import annotations

from dataclasses import dataclass

from agentsim.engine.event import Event
from agentsim.engine.template import By, If, Rows
from agentsim.engine.wording import first_place
from agentsim.games.auction.items import Item
from agentsim.games.auction.pricing import Format
from agentsim.games.auction.state import FailReason


class AuctionBegan(
    Event,
    heading="The auction begins: {scenario}",
    content="{teams:#} teams with {budget} each bid for {items:item}, {required} required ({how}).",
):
    """`teams` maps players' ids to the teams' names; `items` are in the order in which they are listed."""

    scenario: str
    format: Format
    budget: int
    max_iterations: int
    teams: dict[str, str]
    items: tuple[Item, ...]

    @property
    def required(self) -> int:
        """How many of the items are required."""
        return sum(item.required for item in self.items)

    @property
    def how(self) -> str:
        """The format in words."""
        return self.format.replace("_", " ")


class ItemOffered(
    Event,
    heading="For sale: {item.name}",
    content=("Quality {item.quality}, ", If("item.required", "required", "not required"), "."),
    in_prompt=False,
):
    round: int
    item: Item


class BidMade(
    Event,
    kind="bid",
    heading=(
        "{name} ",
        By(
            "fail_reason",
            {
                "Pass": "passes",
                "Unreadable": "gives no readable bid, which is a pass",
                "OverBudget": "bids {amount}, which is more than it has",
                "LowerThanHighBid": "bids {amount}, which is not above the high bid of {high_before}",
            },
            "bids {amount}",
        ),
    ),
    content=By("high_before", {None: "A sealed bid."}, "Iteration {iteration}; the high bid was {high_before}."),
    in_prompt=False,
):
    """One team's answer in one iteration, and what it came to; an unreadable one is a bid of 0.

    `high_before` is None of a sealed bid: what others bid is not in the event that its team hears.
    """

    round: int
    iteration: int
    team: str
    name: str
    amount: int
    valid: bool
    fail_reason: FailReason
    high_before: int | None

    @property
    def turned_away(self) -> bool:
        return self.fail_reason in {"OverBudget", "LowerThanHighBid"}


class Reasoned(Event, kind="reasoning", heading="{name} to itself", words="text"):
    """What a team thought about its bid; only that team hears it."""

    round: int
    iteration: int
    team: str
    name: str
    text: str


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


EVENTS: tuple[type[Event], ...] = (
    AuctionBegan,
    ItemOffered,
    BidMade,
    Reasoned,
    ItemSold,
    ItemLost,
    Paid,
    AuctionEnded,
)
