"""Events of the auction: every bid, every payment, every change of hands, in numbers. Who hears them is `round`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import Event
from agentsim.engine.wording import counted, first_place
from agentsim.games.auction.items import Item
from agentsim.games.auction.pricing import Format
from agentsim.games.auction.state import FailReason

__all__ = [
    "EVENTS",
    "AuctionBegan",
    "AuctionEnded",
    "BidMade",
    "ItemLost",
    "ItemOffered",
    "ItemSold",
    "Paid",
    "Reasoned",
    "Result",
]

_WHY = {
    "Pass": "passes",
    "Unreadable": "gives no readable bid, which is a pass",
    "OverBudget": "bids {amount}, which is more than it has",
    "LowerThanHighBid": "bids {amount}, which is not above the high bid of {before}",
}


@dataclass(frozen=True)
class AuctionBegan(Event):
    """`teams` maps players' ids to the teams' names; `items` are in the order in which they are listed."""

    kind: ClassVar[str] = "auction_began"
    scenario: str
    format: Format
    budget: int
    max_iterations: int
    teams: dict[str, str]
    items: tuple[Item, ...]

    @property
    def heading(self) -> str:
        return f"The auction begins: {self.scenario}"

    @property
    def content(self) -> str:
        required = sum(item.required for item in self.items)
        items = f"{counted(len(self.items), 'item')}, {required} required"
        how = self.format.replace("_", " ")
        return f"{len(self.teams)} teams with {self.budget} each bid for {items} ({how})."


@dataclass(frozen=True)
class ItemOffered(Event):
    kind: ClassVar[str] = "item_offered"
    in_prompt: ClassVar[bool] = False
    round: int
    item: Item

    @property
    def heading(self) -> str:
        return f"For sale: {self.item.name}"

    @property
    def content(self) -> str:
        return f"Quality {self.item.quality}, {'required' if self.item.required else 'not required'}."


@dataclass(frozen=True)
class BidMade(Event):
    """One team's answer in one iteration, and what it came to; an unreadable one is a bid of 0.

    `high_before` is None of a sealed bid: what others bid is not in the event that its team hears.
    """

    kind: ClassVar[str] = "bid"
    in_prompt: ClassVar[bool] = False
    round: int
    iteration: int
    team: str
    name: str
    amount: int
    valid: bool
    fail_reason: FailReason
    high_before: int | None

    @property
    def heading(self) -> str:
        if self.valid:
            return f"{self.name} bids {self.amount}"
        return f"{self.name} {_WHY[self.fail_reason].format(amount=self.amount, before=self.high_before)}"

    @property
    def turned_away(self) -> bool:
        return self.fail_reason in {"OverBudget", "LowerThanHighBid"}

    @property
    def content(self) -> str:
        if self.high_before is None:
            return "A sealed bid."
        return f"Iteration {self.iteration}; the high bid was {self.high_before}."


@dataclass(frozen=True)
class Reasoned(Event):
    """What a team thought about its bid; only that team hears it."""

    kind: ClassVar[str] = "reasoning"
    words: ClassVar[str] = "text"
    round: int
    iteration: int
    team: str
    name: str
    text: str

    @property
    def heading(self) -> str:
        return f"{self.name} to itself"


@dataclass(frozen=True)
class ItemSold(Event):
    """`price` is what the winner pays."""

    kind: ClassVar[str] = "item_sold"
    in_prompt: ClassVar[bool] = False
    round: int
    item: Item
    team: str
    name: str
    price: int

    @property
    def heading(self) -> str:
        return f"Sold to {self.name} for {self.price}"

    @property
    def content(self) -> str:
        return f"{self.item.name}, quality {self.item.quality}."


@dataclass(frozen=True)
class ItemLost(Event):
    kind: ClassVar[str] = "item_lost"
    in_prompt: ClassVar[bool] = False
    round: int
    item: Item

    @property
    def heading(self) -> str:
        return "Nobody bids"

    @property
    def content(self) -> str:
        return f"{self.item.name} is lost."


@dataclass(frozen=True)
class Paid(Event):
    """`budget` is what is left afterwards."""

    kind: ClassVar[str] = "paid"
    in_prompt: ClassVar[bool] = False
    round: int
    team: str
    name: str
    amount: int
    budget: int

    @property
    def heading(self) -> str:
        return f"{self.name} pays {self.amount}"

    @property
    def content(self) -> str:
        return f"{self.budget} left."


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


@dataclass(frozen=True)
class AuctionEnded(Event):
    """`results` are in rank order."""

    kind: ClassVar[str] = "auction_ended"
    results: tuple[Result, ...]

    @property
    def heading(self) -> str:
        return first_place([result.name for result in self.results if result.rank == 1])

    @property
    def content(self) -> str:
        return "\n".join(
            f"{result.rank}. {result.name}: {result.count} required, quality {result.quality}, {result.budget} left"
            for result in self.results
        )


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
