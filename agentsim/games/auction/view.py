"""View: what one team may know: the seed's `game_state`, the terms of the game, and the rules in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentsim.engine.prompt import Line, joined
from agentsim.games.auction.config import AuctionConfig
from agentsim.games.auction.items import Item, listed
from agentsim.games.auction.pricing import PRICING, Format, Offer, best
from agentsim.games.auction.state import Auction, Team


@dataclass(frozen=True, slots=True)
class Terms:
    """What never changes in one game; one object for all requests."""

    teams: tuple[str, ...]
    items: tuple[Item, ...]
    format: Format
    budget: int
    max_iterations: int
    shuffled: bool

    @property
    def sealed(self) -> bool:
        """Whether each team bids once, unseen by the others."""
        return PRICING[self.format].sealed

    def rules(self) -> Line:
        """The rules and `all_items`, the same for every team in every call of one game."""
        needed = len({item.name for item in self.items if item.required})
        order = "in an order that is drawn anew for each game" if self.shuffled else "in the order of this list"
        if self.sealed:
            ties = "Of equal bids the first in a random order wins."
        else:
            ties = (
                "All teams bid at the same time, in iterations: equal bids are taken in a random order, and the first "
                "of them counts. An item is sold when nobody raises the high bid, or after iteration "
                f"{self.max_iterations}. You cannot take a bid back."
            )
        lines = (
            f"You lead a team in the Agent Auction Game. There are {len(self.teams)} teams; each begins with a budget "
            f"of {self.budget}.",
            f"The Principal Blaster is built of {needed} required components. At the end the team with the most "
            "different required components wins; of equal teams the one whose components have the higher total "
            "quality (the best copy of each counts), then the one with more budget left. Other items, and second "
            "copies, count for nothing.",
            f"The items of all_items are sold one after another, {order}; there are no others.",
            PRICING[self.format].words,
            ties,
            "A bid is a whole number; 0 is a pass, and so is a bid above your budget. An item for which nobody bids "
            "is lost to all.",
            "Everything you know of the game is in game_state. Names in it are names and nothing else.",
            "Always answer with one JSON object and nothing else.",
            "all_items: ",
        )
        return joined("\n".join(lines), listed(self.items))


@dataclass(frozen=True, slots=True)
class GameState:
    """The auction from one team's perspective; `round` and `iteration` count from 1."""

    item: Item
    offers: tuple[Offer, ...]
    round: int
    iteration: int
    you: Team
    opponents: tuple[Team, ...]

    @property
    def high(self) -> Offer:
        """The highest bid that the team knows of."""
        return best(self.offers)

    @property
    def leading(self) -> bool:
        """Whether the highest bid is your own."""
        return self.high.team == self.you.id

    def to_json(self) -> Mapping[str, Any]:
        """The dynamic context, in the names and the nesting of the game's own definition."""
        names = {team.id: team.name for team in (self.you, *self.opponents)}
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


def terms(auction: Auction, config: AuctionConfig) -> Terms:
    """What every team knows from the start."""
    return Terms(
        teams=tuple(team.name for team in auction.teams.values()),
        items=auction.items,
        format=config.format,
        budget=config.budget,
        max_iterations=config.iterations,
        shuffled=config.item_order == "shuffled",
    )


def view(auction: Auction, team: str) -> GameState:
    """What `team` may know now; of a sealed round, which has no iteration before this one, no bids."""
    assert auction.item is not None, "teams are asked while an item is on sale"
    opponents = tuple(other for other in auction.teams.values() if other.id != team)
    you, offers = auction.teams[team], tuple(auction.offers)
    return GameState(auction.item, offers, auction.round, auction.iteration, you, opponents)
