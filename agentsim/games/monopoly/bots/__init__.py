"""Bots of Monopoly: one policy for each personality, and one that takes any legal option."""

from collections.abc import Mapping

from agentsim.engine.game import Bot
from agentsim.games.monopoly.bots.hustler import Hustler
from agentsim.games.monopoly.bots.professor import Professor
from agentsim.games.monopoly.bots.randomly import randomly
from agentsim.games.monopoly.bots.shark import Shark
from agentsim.games.monopoly.bots.turtle import Turtle

BOTS: Mapping[str, Bot] = {
    "random": randomly,
    "shark": Shark(),
    "professor": Professor(),
    "hustler": Hustler(),
    "turtle": Turtle(),
}
