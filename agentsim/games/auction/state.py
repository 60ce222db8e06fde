"""Auction: who has what, what is for sale now, what a bid comes to and what winning costs in each format; and what one
team may know of it.

Words and prompts do not belong here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias

from agentsim.engine.game import Standing, ranked
from agentsim.engine.panel import Progress
from agentsim.games.auction.items import Item

Format: TypeAlias = Literal["ascending", "sealed_first_price", "sealed_second_price", "all_pay"]


@dataclass(frozen=True, slots=True)
class Offer:
    """A bid that counts: whose (a team's id, "" where there is no bid), and how much."""

    team: str
    amount: int


def best(offers: Sequence[Offer]) -> Offer:
    """The highest offer, of equal ones the first that was processed; 0 of no team where there is none."""
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
    """A format: whether bids are sealed (one each, unseen), who pays what, and what the winner takes, in words.

    `payments` takes the valid offers for one item, at least one, in the order in which they were processed, and
    gives what each team pays.
    """

    sealed: bool
    payments: Callable[[Sequence[Offer]], dict[str, int]]
    taken: str


_ITS_BID = ", and its team pays it"
PRICING: Mapping[Format, Pricing] = {
    "ascending": Pricing(False, _winner_pays_its_bid, _ITS_BID),
    "sealed_first_price": Pricing(True, _winner_pays_its_bid, _ITS_BID),
    # Vickrey, "Counterspeculation, Auctions, and Competitive Sealed Tenders", Journal of Finance 16 (1961).
    "sealed_second_price": Pricing(
        True,
        _winner_pays_the_second_bid,
        ", and its team pays the second highest bid, or nothing where there is no other",
    ),
    "all_pay": Pricing(True, _everyone_pays, ", and every team pays its own bid, the losers too"),
}


FailReason: TypeAlias = Literal["", "Pass", "OverBudget", "LowerThanHighBid", "Unreadable"]


def why_not(amount: int | None, budget: int, high: int) -> FailReason:
    """Why a bid does not count, or "" where it does; None is a reply that could not be read.

    The budget comes first where several reasons apply. `high` is the bid to beat: 0 where bids are sealed.
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
    """What teams are ranked by, in this order."""

    count: int
    quality: int
    budget: int


@dataclass(frozen=True, slots=True)
class Team:
    """One team as it stands now; `name` is its public name, `id` the player's."""

    id: str
    name: str
    budget: int
    acquired: tuple[Item, ...] = ()

    def score(self) -> Score:
        """Distinct required items; the sum of their qualities, each by its best copy; what is left of the budget."""
        rising = sorted(self.acquired, key=lambda item: item.quality)
        best_copies = {item.name: item.quality for item in rising if item.required}
        return Score(len(best_copies), sum(best_copies.values()), self.budget)

    def to_json(self) -> dict[str, Any]:
        """The team as every team sees it."""
        return {"Name": self.name, "Budget": self.budget, "Acquired": [item.to_json() for item in self.acquired]}


@dataclass(frozen=True, slots=True)
class Sale:
    """How a round ended: `payments` by team, all who paid; `winner` "" where the item was lost."""

    item: Item
    winner: str
    payments: Mapping[str, int]


@dataclass
class Auction:
    """The state of one game; `round` is 0 before the first item, `offers` are the valid bids for the present one."""

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

    def why_not(self, team: str, amount: int | None) -> FailReason:
        """Why a bid of this team does not count now. A sealed bid need not be higher than unseen ones."""
        return why_not(amount, self.teams[team].budget, 0 if self.pricing.sealed else self.high.amount)

    def place(self, team: str, amount: int) -> None:
        """Let a valid bid count."""
        assert not self.why_not(team, amount), "only a valid bid is placed"
        self.offers.append(Offer(team, amount))

    def settle(self) -> Sale:
        """End the round: the highest bid takes the item, and the format says who pays."""
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
        """By required items, then their quality, then the budget left; equal on all three, equal rank."""
        scores = {team.id: team.score() for team in self.teams.values()}
        return ranked([(team, score, asdict(score)) for team, score in scores.items()])

    def progress(self) -> Progress:
        """The item under the hammer, and what each team has of the set and of its budget."""
        scores = ((each.player, each.score) for each in self.standings())
        rows = ((team, f"{score['count']} of the set, ${score['budget']:,}", True) for team, score in scores)
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
    """The auction from one team's perspective; `round` and `iteration` count from 1."""

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
        """Whether the highest bid is your own."""
        return self.high.team == self.you.id

    @property
    def names(self) -> Mapping[str, str]:
        """What teams are called, by id."""
        return {team.id: team.name for team in (self.you, *self.opponents)}

    def to_json(self) -> Mapping[str, Any]:
        """The dynamic context, in the names and the nesting of the game's own definition."""
        names = self.names
        high, *bids = ({"Bid": bid.amount, "TeamName": names.get(bid.team)} for bid in (self.high, *self.offers))
        return {
            "CurrentRound": {
                "Item": self.item.to_json(),
                "CurrentHighestBid": high,
                "BidsHistoryForCurrentItem": {str(place): bid for place, bid in enumerate(bids, start=1)},
                "RoundNumber": self.round,
                "RoundIteration": self.iteration,
            },
            "YourTeam": self.you.to_json(),
            "OpponentTeams": [team.to_json() for team in self.opponents],
        }


def view(auction: Auction, team: str) -> GameState:
    """What `team` may know now; of a sealed round, which has no iteration before this one, no bids."""
    assert auction.item is not None, "teams are asked while an item is on sale"
    opponents = tuple(other for other in auction.teams.values() if other.id != team)
    you, offers = auction.teams[team], tuple(auction.offers)
    return GameState(auction.item, offers, auction.round, auction.iteration, you, opponents, tuple(auction.sales))
