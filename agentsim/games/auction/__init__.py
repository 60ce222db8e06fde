"""The Agent Auction Game: teams with strategies of their own bid for the ten components of a set."""

from agentsim.games.auction.game import AgentAuction

GAME = AgentAuction()

__all__ = ["GAME"]
