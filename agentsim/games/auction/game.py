"""AgentAuction: the game as the kernel sees it. What happens to one item is `round`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agentsim.engine.event import Event, Everyone, LogEntry, PlayerId
from agentsim.engine.game import Bot, GameConfig, Outcome, Standing
from agentsim.engine.panel import Frame, Panel
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.errors import ScenarioError
from agentsim.games.auction.bots import BOTS
from agentsim.games.auction.config import AuctionConfig, Catalogue
from agentsim.games.auction.drawing import draw
from agentsim.games.auction.events import EVENTS, AuctionBegan, AuctionEnded, Result
from agentsim.games.auction.items import Item
from agentsim.games.auction.panels import panels
from agentsim.games.auction.requests import REQUESTS
from agentsim.games.auction.round import Round
from agentsim.games.auction.state import Auction, Team
from agentsim.games.auction.tables import tables
from agentsim.games.auction.view import terms


class AgentAuction:
    """Teams with strategies of their own bid for the components of the Principal Blaster."""

    name: ClassVar[str] = "auction"
    title: ClassVar[str] = "The Agent Auction Game"
    summary: ClassVar[str] = "teams with strategies of their own bid for the ten components of a set"
    rules_version: ClassVar[int] = 1
    config: ClassVar[type[GameConfig]] = AuctionConfig
    requests: ClassVar[tuple[type[Request[Any]], ...]] = REQUESTS
    events: ClassVar[tuple[type[Event], ...]] = EVENTS
    bots: ClassVar[Mapping[str, Bot]] = BOTS
    staff: ClassVar[frozenset[str]] = frozenset()

    def admit(self, config: AuctionConfig, players: Sequence[PlayerId]) -> None:
        if len(players) < 2:
            raise ScenarioError("an auction needs teams that bid against each other", key="players", valid="2 or more")

    async def play(self, table: Table, config: AuctionConfig) -> Outcome:
        catalogue = _catalogue(table, config)
        names = {player: table.names.get(player, player) for player in table.players}
        auction = Auction(
            teams={player: Team(player, names[player], config.budget) for player in table.players},
            items=catalogue.items,
            budget=config.budget,
            pricing=config.pricing,
        )
        table.watch(auction)
        known = terms(auction, config)
        table.tell(
            AuctionBegan(catalogue.scenario, config.format, config.budget, config.iterations, names, catalogue.items),
            to=Everyone,
        )
        one_round = Round(table, auction, config, known)
        for item in _in_order(table, config, catalogue):
            await one_round.play(item)
        standings = auction.standings()
        table.tell(_ended(auction, standings), to=Everyone)
        return Outcome("all items were offered", standings)

    def panels(self, log: Sequence[LogEntry], players: Sequence[PlayerId]) -> list[Panel]:
        return panels(log)

    def tables(self, log: Sequence[LogEntry], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        return tables(log)


def _catalogue(table: Table, config: AuctionConfig) -> Catalogue:
    if isinstance(config.items, Catalogue):
        return config.items
    seed = table.chance.seed
    return Catalogue.model_construct(scenario=f"random-{seed}", items=draw("random", seed))


def _in_order(table: Table, config: AuctionConfig, catalogue: Catalogue) -> Sequence[Item]:
    if config.item_order == "listed":
        return catalogue.items
    return table.chance.stream("items").shuffled(catalogue.items)


def _ended(auction: Auction, standings: Sequence[Standing]) -> AuctionEnded:
    results = []
    for standing in standings:
        team = auction.teams[standing.player]
        score = team.score()
        items = tuple(item.name for item in team.acquired)
        results.append(Result(team.id, team.name, items, score.count, score.quality, score.budget, standing.rank))
    return AuctionEnded(tuple(results))
