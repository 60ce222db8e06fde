"""Market: agents that trade through artifacts, such as a continuous double auction, and classic market experiments."""

from agentsim.games.market.game import MarketGame

GAME = MarketGame()

__all__ = ["GAME"]
