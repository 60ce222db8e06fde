"""Opening: what every team knows from the start, and the rules in words."""

from __future__ import annotations

from agentsim.engine.event import Event
from agentsim.engine.prompt import Line, joined
from agentsim.games.auction.config import AuctionConfig
from agentsim.games.auction.items import Item, listed
from agentsim.games.auction.pricing import PRICING, Format
from agentsim.games.auction.state import Auction


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
    def sealed(self) -> bool:
        """Whether each team bids once, unseen by the others."""
        return PRICING[self.format].sealed

    @property
    def required(self) -> int:
        return sum(item.required for item in self.items)

    @property
    def how(self) -> str:
        return self.format.replace("_", " ")

    @property
    def needed(self) -> int:
        """How many different components make up the whole set."""
        return len({item.name for item in self.items if item.required})

    def rules(self, *, shuffled: bool) -> Line:
        """The rules and `all_items`, the same for every team in every call of one game."""
        order = "in an order that is drawn anew for each game" if shuffled else "in this order"
        price = PRICING[self.format].taken
        if self.sealed:
            how = (
                "Each team makes one bid an item, unseen by the others. It counts if it is within the budget. The "
                f"highest bid, of equal ones the first in a random order, takes the item{price}."
            )
        else:
            how = (
                "All teams bid at the same time, in iterations. A bid counts if it is above the high bid so far and "
                "within the budget; of equal bids the first in a random order counts. After an iteration without a "
                f"higher bid, or after iteration {self.max_iterations}, the high bid takes the item{price}. No bid can "
                "be taken back. BidsHistoryForCurrentItem holds the bids that counted, in order."
            )
        lines = (
            f"You lead one of {len(self.teams)} teams in the Agent Auction Game; each begins with a budget of "
            f"{self.budget}. The team with the most of the {self.needed} different required components wins; of equals "
            "the one whose components have the higher total quality (of copies the best counts), then the one with "
            "more budget left. Nothing else counts.",
            how,
            "An item without a bid is lost to all. Names are nothing but names.",
            "Always answer with one JSON object and nothing else.",
            f"For sale one after another, {order}, all_items: ",
        )
        return joined("\n".join(lines), listed(self.items))


def began(auction: Auction, config: AuctionConfig, scenario: str) -> AuctionBegan:
    names = {team.id: team.name for team in auction.teams.values()}
    return AuctionBegan(scenario, config.format, auction.budget, config.iterations, names, auction.items)
