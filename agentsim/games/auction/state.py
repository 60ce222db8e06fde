"""Auction: teams, the item for sale, the validity of bids, the price in each format, and the view of one team.

Words and prompts do not belong here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import Any, Literal, TypeAlias

from agentsim.engine.game import Standing, ranked
from agentsim.engine.panel import Progress
from agentsim.games.auction.items import Item
from agentsim.lazy import dataclass

Format: TypeAlias = Literal["ascending", "sealed_first_price", "sealed_second_price", "all_pay"]


@dataclass(frozen=True, slots=True)
class Offer:
    """A valid bid: the team's id ("" if there is no bid) and the amount."""

    team: str
    amount: int


def best(offers: Sequence[Offer]) -> Offer:
    """Return the highest offer, the first processed of equal ones, or an offer of 0 by no team if there are none."""
    return max(offers, key=lambda offer: offer.amount, default=Offer("", 0))


def _winner_pays_its_bid(offers: Sequence[Offer]) -> dict[str, int]:
    return {best(offers).team: best(offers).amount}


def _winner_pays_the_second_bid(offers: Sequence[Offer]) -> dict[str, int]:
    won = best(offers)
    return {won.team: best([offer for offer in offers if offer.team != won.team]).amount}


def _everyone_pays(offers: Sequence[Offer]) -> dict[str, int]:
    return {offer.team: offer.amount for offer in offers}


@dataclass(frozen=True, slots=True)
class Pricing:
    """The pricing of a format: whether bids are sealed (one each, unseen), who pays what, and the same in words.

    `payments` takes the valid offers for one item, at least one, in the order in which they were processed, and returns
    what each team pays.
    """

    sealed: bool
    payments: Callable[[Sequence[Offer]], dict[str, int]]
    taken: str


_ITS_BID = " and pays its bid"
PRICING: Mapping[Format, Pricing] = {
    "ascending": Pricing(False, _winner_pays_its_bid, _ITS_BID),
    "sealed_first_price": Pricing(True, _winner_pays_its_bid, _ITS_BID),
    # Vickrey, "Counterspeculation, Auctions, and Competitive Sealed Tenders", Journal of Finance 16 (1961).
    "sealed_second_price": Pricing(
        True,
        _winner_pays_the_second_bid,
        " and pays the second highest bid, or nothing if there is no other",
    ),
    "all_pay": Pricing(True, _everyone_pays, ", and every team pays its own bid, the losers too"),
}


FailReason: TypeAlias = Literal["", "Pass", "OverBudget", "LowerThanHighBid", "Unreadable"]


def why_not(amount: int | None, budget: int, high: int) -> FailReason:
    """Return why a bid does not count, or "" if it does. An `amount` of None is a reply that could not be read.

    If several reasons apply, the budget comes first. `high` is the bid to beat, 0 if bids are sealed.
    """
    if amount is None:
        return "Unreadable"
    if amount == 0:
        return "Pass"
    if amount > budget:
        return "OverBudget"
    return "" if amount > high else "LowerThanHighBid"


@dataclass(frozen=True, order=True, slots=True)
class Score:
    """The numbers that rank teams, in this order."""

    count: int
    quality: int
    budget: int


@dataclass(frozen=True, slots=True)
class Team:
    """One team at present. `name` is its public name, `id` the player's."""

    id: str
    name: str
    budget: int
    acquired: tuple[Item, ...] = ()

    def score(self) -> Score:
        """Return the count of distinct required items, the sum of their best copies' qualities, and the budget left."""
        rising = sorted(self.acquired, key=lambda item: item.quality)
        best_copies = {item.name: item.quality for item in rising if item.required}
        return Score(len(best_copies), sum(best_copies.values()), self.budget)

    def to_json(self) -> dict[str, Any]:
        """Return the team as every team sees it."""
        return {"Name": self.name, "Budget": self.budget, "Acquired": [item.to_json() for item in self.acquired]}


@dataclass(frozen=True, slots=True)
class Sale:
    """The end of a round. `payments` are by team; `winner` is "" if the item was lost."""

    item: Item
    winner: str
    payments: Mapping[str, int]


@dataclass
class Auction:
    """The state of one game. `round` is 0 before the first item; `offers` are the valid bids for the present item."""

    teams: dict[str, Team]
    items: tuple[Item, ...]
    budget: int
    pricing: Pricing
    round: int = 0
    iteration: int = 0
    item: Item | None = None
    offers: list[Offer] = field(default_factory=list)
    sales: list[Sale] = field(default_factory=list)

    @property
    def high(self) -> Offer:
        """The highest bid for the present item so far."""
        return best(self.offers)

    def offer(self, item: Item) -> None:
        self.round += 1
        self.iteration, self.item, self.offers = 0, item, []

    def item_of(self, round_: int) -> Item:
        """Return the item of a round up to the present one."""
        item = self.sales[round_ - 1].item if round_ <= len(self.sales) else self.item
        assert item is not None, "rounds count up to the present one"
        return item

    def why_not(self, team: str, amount: int | None) -> FailReason:
        """Return why a bid of this team does not count now, or "". A sealed bid need not exceed the other bids."""
        return why_not(amount, self.teams[team].budget, 0 if self.pricing.sealed else self.high.amount)

    def place(self, team: str, amount: int) -> None:
        """Record a valid bid."""
        assert not self.why_not(team, amount), "only a valid bid is placed"
        self.offers.append(Offer(team, amount))

    def settle(self) -> Sale:
        """End the round: the highest bid takes the item, and the format decides who pays."""
        assert self.item is not None, "a round is settled once an item is on sale"
        sale = Sale(self.item, self.high.team, self.pricing.payments(self.offers) if self.offers else {})
        for payer, amount in sale.payments.items():
            self.teams[payer] = replace(self.teams[payer], budget=self.teams[payer].budget - amount)
        if winner := self.teams.get(sale.winner):
            self.teams[sale.winner] = replace(winner, acquired=(*winner.acquired, sale.item))
        self.sales.append(sale)
        self.item, self.offers, self.iteration = None, [], 0
        return sale

    def standings(self) -> tuple[Standing, ...]:
        """Return the ranking by required items, then their quality, then the budget left.

        Teams equal in all three share a rank.
        """
        scores = {team.id: team.score() for team in self.teams.values()}
        return ranked([(team, score, asdict(score)) for team, score in scores.items()])

    def progress(self) -> Progress:
        """Return the number of the item for sale, and each team's part of the set and budget."""
        scores = ((each.player, each.score) for each in self.standings())
        rows = ((team, f"{score['count']} of the set, {score['budget']:,} left", True) for team, score in scores)
        return Progress("item", self.round, len(self.items), tuple(rows))

    def check(self) -> Sequence[str]:
        broken = []
        teams = self.teams.values()
        paid = sum(sum(sale.payments.values()) for sale in self.sales)
        if sum(team.budget for team in teams) + paid != self.budget * len(teams):
            broken.append("money left and money paid make up what there was")
        for team in teams:
            if team.budget < 0:
                broken.append(f"{team.name}: no budget below zero")
            if team.acquired != tuple(sale.item for sale in self.sales if sale.winner == team.id):
                broken.append(f"{team.name} holds what it won and nothing else")
        if len(self.sales) + (self.item is not None) != self.round:
            broken.append("every round but the present one has ended in a sale or a loss")
        amounts = [offer.amount for offer in self.offers]
        if not self.pricing.sealed and amounts != sorted(set(amounts)):
            broken.append("open bids rise")
        bidders = ((self.teams[offer.team], offer.amount) for offer in self.offers)
        broken += [f"{team.name} can pay its bid" for team, amount in bidders if why_not(amount, team.budget, 0)]
        return broken


@dataclass(frozen=True, slots=True)
class GameState:
    """The auction from one team's perspective. `round` and `iteration` count from 1."""

    item: Item
    offers: tuple[Offer, ...]
    round: int
    iteration: int
    you: Team
    opponents: tuple[Team, ...]
    sales: tuple[Sale, ...] = ()

    @property
    def high(self) -> Offer:
        """The highest bid that the team knows of."""
        return best(self.offers)

    @property
    def leading(self) -> bool:
        """True if the highest bid is the team's own."""
        return self.high.team == self.you.id

    @property
    def names(self) -> Mapping[str, str]:
        """The public names of the teams, by id."""
        return {team.id: team.name for team in (self.you, *self.opponents)}

    def to_json(self) -> Mapping[str, Any]:
        """Return the dynamic context, in the names and the nesting of the game's own definition."""
        names = self.names
        high, *bids = ({"Bid": bid.amount, "TeamName": names.get(bid.team)} for bid in (self.high, *self.offers))
        return {
            "CurrentRound": {
                "Item": self.item.to_json(),
                "CurrentHighestBid": high,
                "BidsHistoryForCurrentItem": {str(index): bid for index, bid in enumerate(bids, start=1)},
                "RoundNumber": self.round,
                "RoundIteration": self.iteration,
            },
            "YourTeam": self.you.to_json(),
            "OpponentTeams": [team.to_json() for team in self.opponents],
        }


def view(auction: Auction, team: str) -> GameState:
    """Return what `team` may know now. In a sealed round no bids are visible, since all teams bid in one iteration."""
    assert auction.item is not None, "teams are asked while an item is on sale"
    opponents = tuple(other for other in auction.teams.values() if other.id != team)
    you, offers = auction.teams[team], tuple(auction.offers)
    return GameState(auction.item, offers, auction.round, auction.iteration, you, opponents, tuple(auction.sales))
