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
        """How many of the items are required."""
        return sum(item.required for item in self.items)

    @property
    def how(self) -> str:
        """The format in words."""
        return self.format.replace("_", " ")

    def rules(self, *, shuffled: bool) -> Line:
        """The rules and `all_items`, the same for every team in every call of one game."""
        needed = len({item.name for item in self.items if item.required})
        order = "in an order that is drawn anew for each game" if shuffled else "in the order of this list"
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


def began(auction: Auction, config: AuctionConfig, scenario: str) -> AuctionBegan:
    """What is told before the first item."""
    names = {team.id: team.name for team in auction.teams.values()}
    return AuctionBegan(scenario, config.format, config.budget, config.iterations, names, auction.items)
