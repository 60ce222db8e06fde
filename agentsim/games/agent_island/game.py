"""AgentIsland: the game as the kernel sees it. Rounds and phases stand in their own modules."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import Everyone, PlayerId
from agentsim.engine.game import Game, Outcome
from agentsim.engine.table import Table
from agentsim.errors import ScenarioError
from agentsim.games.agent_island import panels, rulebook
from agentsim.games.agent_island.bots import BOTS
from agentsim.games.agent_island.config import AgentIslandConfig
from agentsim.games.agent_island.round import Round, RoundContext
from agentsim.games.agent_island.sidebars import NOBODY, AnswerApproach, Approach, Whisper
from agentsim.games.agent_island.speeches import Pitch, Quips
from agentsim.games.agent_island.state import Island
from agentsim.games.agent_island.view import GameBegan, Summarize, phase_summaries
from agentsim.games.agent_island.votes import Vote


class AgentIsland(Game, parts=(panels, rulebook)):
    """N players, N-2 eliminations, a final of two, and a jury of the eliminated."""

    name = "agent_island"
    title = "Agent Island: Deliberations"
    summary = "pitches, secret votes, elimination, and a jury of the eliminated"
    rules_version = 1
    config = AgentIslandConfig
    requests = (Pitch, Vote, Approach, AnswerApproach, Whisper, Quips, Summarize)
    announcements = True
    bots = BOTS
    typical = ("grudge", "loyal")

    def admit(self, config: AgentIslandConfig, players: Sequence[PlayerId]) -> None:
        if len(players) < 3:
            raise ScenarioError(
                f"{self.name} needs players to eliminate and a jury, found {len(players)} players",
                key="players",
                valid="3 or more",
            )
        if NOBODY in {player.casefold() for player in players}:
            raise ScenarioError(f'no player may be called "{NOBODY}": it is an answer in this game', key="players")
        rounds = len(config.schedule(len(players)))
        for override in config.round_overrides:
            if override.round != "final" and override.round > rounds:
                raise ScenarioError(
                    f"there is no round {override.round} with {len(players)} players",
                    key="game_config.round_overrides",
                    valid=f'1 to {rounds}, or "final"',
                )
        for key, named in config.named():
            if named not in players:
                raise ScenarioError(f"there is no player {named[:80]!r}", key=key, valid=", ".join(players[:24]))

    async def play(self, table: Table, config: AgentIslandConfig) -> Outcome:
        schedule = config.schedule(len(table.players))
        rules = rulebook.rules_prompt(len(table.players), schedule, config.rules, config.topic)
        island = Island(table.players, len(schedule), jury=schedule[-1].vote == "win")
        table.watch(island, island.progress)
        table.tell(GameBegan(island.players, island.rounds), to=Everyone)
        while island.round < island.rounds:
            island.round += 1
            context = RoundContext(
                round_index=island.round,
                final_round=island.final,
                players=island.players,
                active_player_ids=island.active,
                eliminated_player_ids=island.eliminated,
                logger=None,
                history=table,
                rules_prompt=rules,
                config=config,
                island=island,
            )
            await Round(context).play()
            if config.summaries == "rounds" and island.round < island.rounds:
                await phase_summaries(context)
        return Outcome(_reason(island), island.standings())


def _reason(island: Island) -> str:
    if island.winner is None:
        return "rounds played"
    last = island.tallies[-1]
    if not last.tied:
        return "jury vote"
    return "lot between tied" if any(votes for _, votes in last.votes) else "lot without votes"
