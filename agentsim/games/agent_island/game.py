"""AgentIsland: the game as the kernel sees it. Rounds and phases stand in their own modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agentsim.engine.event import Event, Everyone, PlayerId, Told
from agentsim.engine.game import Bot, GameConfig, Outcome
from agentsim.engine.panel import Frame, Panel
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.engine.wording import cut
from agentsim.errors import ScenarioError
from agentsim.games.agent_island.bots import BOTS
from agentsim.games.agent_island.config import AgentIslandConfig
from agentsim.games.agent_island.events import EVENTS, GameBegan, Summarized
from agentsim.games.agent_island.panels import panels
from agentsim.games.agent_island.requests import NOBODY, REQUESTS, Summarize
from agentsim.games.agent_island.round import Round, RoundContext
from agentsim.games.agent_island.state import Island
from agentsim.games.agent_island.tables import tables
from agentsim.games.agent_island.view import view

__all__ = ["AgentIsland"]


class AgentIsland:
    """N players, N-2 eliminations, a final of two, and a jury of the eliminated."""

    name: ClassVar[str] = "agent_island"
    title: ClassVar[str] = "Agent Island: Deliberations"
    summary: ClassVar[str] = "pitches, secret votes, elimination, and a jury of the eliminated"
    rules_version: ClassVar[int] = 1
    config: ClassVar[type[GameConfig]] = AgentIslandConfig
    requests: ClassVar[tuple[type[Request[Any]], ...]] = REQUESTS
    events: ClassVar[tuple[type[Event], ...]] = EVENTS
    bots: ClassVar[Mapping[str, Bot]] = BOTS
    staff: ClassVar[frozenset[str]] = frozenset()

    def admit(self, config: AgentIslandConfig, players: Sequence[PlayerId]) -> None:
        if len(players) < 3:
            raise ScenarioError(
                f"{self.name} needs players to eliminate and a jury, found {len(players)} players",
                key="players",
                valid="3 or more",
            )
        if NOBODY in {player.casefold() for player in players}:
            raise ScenarioError(f'no player may be called "{NOBODY}": it is an answer in this game', key="players")
        rounds = config.round_count(len(players))
        for override in config.round_overrides:
            if override.round != "final" and override.round > rounds:
                raise ScenarioError(
                    f"there is no round {override.round} with {len(players)} players",
                    key="game_config.round_overrides",
                    valid=f'1 to {rounds}, or "final"',
                )

    async def play(self, table: Table, config: AgentIslandConfig) -> Outcome:
        island = Island(table.players, config.round_count(len(table.players)))
        table.watch(island)
        table.tell(GameBegan(island.players, island.rounds), to=Everyone)
        while island.winner is None:
            island.begin_round()
            context = RoundContext(table, island, config.settings(island.round, island.rounds))
            await Round(context).play()
            if config.memory == "summary" and island.winner is None:
                await self._remember(table, island, config.summary_chars)
        return Outcome(_reason(island), island.standings())

    async def _remember(self, table: Table, island: Island, limit: int) -> None:
        """Everybody, the jury too, writes a private summary of the round, all at once."""
        requests = [
            Summarize(player=player, view=view(table, island, player), limit=limit) for player in island.players
        ]
        for request, note in zip(requests, await table.ask_all(requests), strict=True):
            summarized = Summarized(request.player, island.round, cut(note.text, limit))
            table.tell(summarized, to=(request.player,), by=request.player)

    def panels(self, log: Sequence[Told], players: Sequence[PlayerId]) -> list[Panel]:
        return panels(log, players)

    def tables(self, log: Sequence[Told], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        return tables(log)


def _reason(island: Island) -> str:
    last = island.tallies[-1]
    if not last.tied:
        return "jury vote"
    return "lot between tied" if any(votes for _, votes in last.votes) else "lot without votes"
