"""The bots of Society: each is a pure function of the request and its own random streams."""

from __future__ import annotations

from collections.abc import Mapping

from agentsim.engine.game import Bot
from agentsim.games.society.bots.citizen import CHARACTERS, citizen
from agentsim.games.society.bots.commoners import conditional, fair, selfish
from agentsim.games.society.bots.interviewed import interviewed
from agentsim.games.society.bots.needs import farmer, idle
from agentsim.games.society.bots.randomly import random

__all__ = ["BOTS"]

BOTS: Mapping[str, Bot] = {
    "random": random,
    "idle": interviewed(idle),
    "farmer": interviewed(farmer),
    "citizen": interviewed(citizen),
    "selfish": interviewed(selfish),
    "conditional": interviewed(conditional),
    "fair": interviewed(fair),
    **{str(name): interviewed(character) for name, character in CHARACTERS.items()},
}
