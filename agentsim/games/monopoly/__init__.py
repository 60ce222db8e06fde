"""Monopoly, rule-complete: four personalities and up to eight players."""

from agentsim.games.monopoly.game import Monopoly

GAME = Monopoly()

__all__ = ["GAME"]
