"""AgentAuction: the game as the kernel sees it, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from agentsim.engine.event import Everyone, PlayerId
from agentsim.engine.game import Game, Outcome, Score
from agentsim.engine.table import Table
from agentsim.engine.wording import counted
from agentsim.games.auction import invariants, panels
from agentsim.games.auction.bidding import Bid, BidMade, Reasoned, take_bids
from agentsim.games.auction.bots import BOTS
from agentsim.games.auction.config import AuctionConfig, Catalogue
from agentsim.games.auction.items import REQUIRED, draw
from agentsim.games.auction.lots import (
    AuctionBegan,
    AuctionEnded,
    ItemLost,
    ItemOffered,
    ItemSold,
    Paid,
    began,
    ended,
    offer,
    settle,
)
from agentsim.games.auction.state import Auction, Team


class AgentAuction(Game):
    """Teams with strategies of their own bid for the components of the Principal Blaster."""

    name = "auction"
    title = "The Agent Auction Game"
    summary = "teams with strategies of their own bid for the ten components of a set"
    scores: ClassVar[Mapping[str, Score]] = {
        "count": Score("required components"),
        "budget": Score("budget left"),
    }
    config = AuctionConfig
    requests = (Bid,)
    events = (
        AuctionBegan,
        ItemOffered,
        ItemSold,
        ItemLost,
        Paid,
        AuctionEnded,
        BidMade,
        Reasoned,
    )
    announcements = "restated"
    bots = BOTS
    typical = ("truthful", "hoarder", "sniper")
    seats = (2, None)
    public_scores = True
    facts = panels.FACTS
    overview = staticmethod(panels.overview)
    truths = staticmethod(panels.truths)
    tables = staticmethod(panels.tables)
    invariants = staticmethod(invariants.invariants)
    panels = staticmethod(panels.panels)

    def doubts(self, config: AuctionConfig, players: Sequence[PlayerId]) -> Iterator[str]:
        listed = config.items.items if isinstance(config.items, Catalogue) else ()
        required = {item.name for item in listed if item.required}
        if listed and len(required) < REQUIRED:
            names = counted(len(required), "required name", "different required names")
            yield f"game_config.items has {names}, and the set has {REQUIRED}"

    async def play(self, table: Table, config: AuctionConfig) -> Outcome:
        catalogue, seed = config.items, table.chance.seed
        if not isinstance(catalogue, Catalogue):
            catalogue = Catalogue.model_construct(scenario=f"random-{seed}", items=draw("random", seed))
        names = {player: table.names.get(player, player) for player in table.players}
        budget = config.starting_budget(len(table.players))
        teams = {player: Team(player, names[player], budget) for player in table.players}
        auction = Auction(teams, catalogue.items, budget, config.pricing)
        terms = began(auction, config, catalogue.scenario)
        table.watch(auction, auction.progress)
        table.tell(terms, to=Everyone)
        shuffled = config.item_order == "shuffled"
        for item in table.chance.stream("items").shuffled(auction.items) if shuffled else auction.items:
            offer(table, auction, item)
            raised = True
            while raised and auction.iteration < config.iterations:
                raised = await take_bids(table, auction, config, terms)
            settle(table, auction)
        standings = auction.standings()
        table.tell(ended(auction, standings), to=Everyone)
        return Outcome("all items were offered", standings)
