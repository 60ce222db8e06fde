"""Bots of Monopoly: scripted policies."""

from collections.abc import Mapping

from agentsim.engine.game import Bot
from agentsim.games.monopoly.bots.randomly import randomly

BOTS: Mapping[str, Bot] = {"random": randomly}

__all__ = ["BOTS"]
