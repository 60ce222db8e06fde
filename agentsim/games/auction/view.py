"""View: what one team may know: the seed's `game_state` and the terms of the game. How it is asked is `prompts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentsim.games.auction.config import AuctionConfig
from agentsim.games.auction.items import Item
from agentsim.games.auction.pricing import Format
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


@dataclass(frozen=True, slots=True)
class Placed:
    """A bid that counts; `team` is the name, None where there is no bid yet."""

    amount: int
    team: str | None

    def to_json(self) -> dict[str, Any]:
        return {"Bid": self.amount, "TeamName": self.team}


@dataclass(frozen=True, slots=True)
class TeamState:
    """A team as every team sees it."""

    name: str
    budget: int
    acquired: tuple[Item, ...]

    @classmethod
    def of(cls, team: Team) -> TeamState:
        return cls(team.name, team.budget, tuple(team.acquired))

    def to_json(self) -> dict[str, Any]:
        return {"Name": self.name, "Budget": self.budget, "Acquired": [item.to_json() for item in self.acquired]}


@dataclass(frozen=True, slots=True)
class GameState:
    """The auction from one team's perspective; `round` and `iteration` count from 1."""

    item: Item
    high: Placed
    history: tuple[Placed, ...]
    round: int
    iteration: int
    you: TeamState
    opponents: tuple[TeamState, ...]

    @property
    def leading(self) -> bool:
        """Whether the highest bid is your own."""
        return self.high.team == self.you.name

    def to_json(self) -> Mapping[str, Any]:
        """The dynamic context, in the names and the nesting of the game's own definition."""
        return {
            "CurrentRound": {
                "Item": self.item.to_json(),
                "CurrentHighestBid": self.high.to_json(),
                "BidsHistoryForCurrentItem": {
                    str(place): bid.to_json() for place, bid in enumerate(self.history, start=1)
                },
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
    names = {each.id: each.name for each in auction.teams.values()}
    high = auction.high
    return GameState(
        item=auction.item,
        high=Placed(0, None) if high is None else Placed(high.amount, names[high.team]),
        history=tuple(Placed(offer.amount, names[offer.team]) for offer in auction.offers),
        round=auction.round,
        iteration=auction.iteration,
        you=TeamState.of(auction.teams[team]),
        opponents=tuple(TeamState.of(other) for other in auction.teams.values() if other.id != team),
    )
