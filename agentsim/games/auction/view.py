"""View: what one team may know: the seed's `game_state`. What it knows from the start is `opening`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentsim.games.auction.items import Item
from agentsim.games.auction.pricing import Offer, best
from agentsim.games.auction.state import Auction, Team


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


def view(auction: Auction, team: str) -> GameState:
    """What `team` may know now; of a sealed round, which has no iteration before this one, no bids."""
    assert auction.item is not None, "teams are asked while an item is on sale"
    opponents = tuple(other for other in auction.teams.values() if other.id != team)
    you, offers = auction.teams[team], tuple(auction.offers)
    return GameState(auction.item, offers, auction.round, auction.iteration, you, opponents)
