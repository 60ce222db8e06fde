"""Market: agents and artifacts, a continuous double auction, and the experiments that economists know."""

from agentsim.games.market.game import MarketGame

GAME = MarketGame()

__all__ = ["GAME"]
