"""Agent Island: Deliberations. Pitches, secret votes, elimination, and a jury of the eliminated players."""

from agentsim.games.agent_island.game import AgentIsland

GAME = AgentIsland()

__all__ = ["GAME"]
