"""Auction: who has what, what is for sale now, and what a bid comes to. Words and prompts do not belong here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agentsim.engine.game import Standing, ranked
from agentsim.games.auction.items import Item
from agentsim.games.auction.pricing import Offer, Pricing, best

FailReason: TypeAlias = Literal["", "Pass", "OverBudget", "LowerThanHighBid", "Unreadable"]


@dataclass(frozen=True, order=True, slots=True)
class Score:
    """What teams are ranked by, in this order."""

    count: int
    quality: int
    budget: int


@dataclass
class Team:
    """One team; `name` is its public name, `id` the player's."""

    id: str
    name: str
    budget: int
    acquired: list[Item] = field(default_factory=list)

    def score(self) -> Score:
        """Distinct required items; the sum of their qualities, each by its best copy; what is left of the budget."""
        copies: dict[str, int] = {}
        for item in self.acquired:
            if item.required:
                copies[item.name] = max(item.quality, copies.get(item.name, 0))
        return Score(len(copies), sum(copies.values()), self.budget)


@dataclass(frozen=True, slots=True)
class Sale:
    """How a round ended: `payments` by team, all who paid; `winner` None where the item was lost."""

    item: Item
    winner: str | None
    payments: Mapping[str, int]


@dataclass
class Auction:
    """The state of one game; `round` is 0 before the first item, `offers` are the valid bids for the present one.

    `refused` holds by team the bid of the latest iteration that did not count, and why.
    """

    teams: dict[str, Team]
    items: tuple[Item, ...]
    budget: int
    pricing: Pricing
    round: int = 0
    iteration: int = 0
    item: Item | None = None
    offers: list[Offer] = field(default_factory=list)
    refused: dict[str, tuple[int, FailReason]] = field(default_factory=dict)
    sales: list[Sale] = field(default_factory=list)

    @property
    def high(self) -> Offer | None:
        """The highest bid for the present item so far."""
        return best(self.offers) if self.offers else None

    @property
    def high_amount(self) -> int:
        """Its amount; 0 where there is none."""
        return self.high.amount if self.high else 0

    @property
    def leader(self) -> str | None:
        """The team that has it."""
        return self.high.team if self.high else None

    def offer(self, item: Item) -> None:
        """Put an item up for sale."""
        self.round += 1
        self.iteration, self.item, self.offers = 0, item, []

    def ask_again(self) -> None:
        """Begin the next iteration."""
        self.iteration += 1

    def judge(self, team: str, amount: int | None) -> FailReason:
        """Why a bid does not count, or "" where it does; None is a reply that could not be read.

        The budget comes first where several reasons apply. A sealed bid need not be higher than unseen ones.
        """
        if amount is None:
            return "Unreadable"
        if amount == 0:
            return "Pass"
        if amount > self.teams[team].budget:
            return "OverBudget"
        if not self.pricing.sealed and amount <= self.high_amount:
            return "LowerThanHighBid"
        return ""

    def place(self, team: str, amount: int) -> None:
        """Let a valid bid count."""
        assert not self.judge(team, amount), "only a valid bid is placed"
        self.offers.append(Offer(team, amount))

    def refuse(self, team: str, amount: int, reason: FailReason) -> None:
        """Remember a bid that does not count; a pass is no mistake."""
        if reason != "Pass":
            self.refused[team] = (amount, reason)

    def settle(self) -> Sale:
        """End the round: the highest bid takes the item, and the format says who pays."""
        assert self.item is not None, "a round is settled once an item is on sale"
        payments = self.pricing.payments(self.offers) if self.offers else {}
        for team, amount in payments.items():
            self.teams[team].budget -= amount
        if self.leader is not None:
            self.teams[self.leader].acquired.append(self.item)
        sale = Sale(self.item, self.leader, payments)
        self.sales.append(sale)
        self.item, self.offers, self.iteration = None, [], 0
        return sale

    def standings(self) -> tuple[Standing, ...]:
        """By required items, then their quality, then the budget left; equal on all three, equal rank."""
        entries = []
        for team in self.teams.values():
            score = team.score()
            entries.append((team.id, score, {"count": score.count, "quality": score.quality, "budget": score.budget}))
        return ranked(entries)

    def check(self) -> Sequence[str]:
        """Every broken invariant, in words."""
        broken = []
        paid = sum(sum(sale.payments.values()) for sale in self.sales)
        if sum(team.budget for team in self.teams.values()) + paid != self.budget * len(self.teams):
            broken.append("money left and money paid make up what there was")
        broken += [f"{team.name}: no budget below zero" for team in self.teams.values() if team.budget < 0]
        for team in self.teams.values():
            won = [sale.item for sale in self.sales if sale.winner == team.id]
            if team.acquired != won:
                broken.append(f"{team.name} holds what it won and nothing else")
        if len(self.sales) + (self.item is not None) != self.round:
            broken.append("every round but the present one has ended in a sale or a loss")
        amounts = [offer.amount for offer in self.offers]
        if not self.pricing.sealed and amounts != sorted(set(amounts)):
            broken.append("open bids rise")
        broken += [
            f"{self.teams[offer.team].name} can pay its bid"
            for offer in self.offers
            if not 0 < offer.amount <= self.teams[offer.team].budget
        ]
        return broken
