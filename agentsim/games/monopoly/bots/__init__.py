"""Bots of Monopoly: one for each personality, and one that takes any legal option."""

from collections.abc import Mapping

from agentsim.engine.game import Bot
from agentsim.games.monopoly.bots.personalities import Hustler, Professor, Shark, Turtle
from agentsim.games.monopoly.bots.randomly import randomly

BOTS: Mapping[str, Bot] = {
    "random": randomly,
    "shark": Shark(),
    "professor": Professor(),
    "hustler": Hustler(),
    "turtle": Turtle(),
}
