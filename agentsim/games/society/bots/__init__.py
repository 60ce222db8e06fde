"""Bots of Society: scripted agents. Each is a pure function of the request and of streams of its own."""

from __future__ import annotations

from collections.abc import Mapping

from agentsim.engine.game import Bot
from agentsim.games.society.bots.citizen import CHARACTERS, citizen
from agentsim.games.society.bots.commoners import conditional, fair, selfish
from agentsim.games.society.bots.needs import farmer, idle
from agentsim.games.society.bots.randomly import random

__all__ = ["BOTS"]

BOTS: Mapping[str, Bot] = {
    "random": random,
    "idle": idle,
    "farmer": farmer,
    "citizen": citizen,
    "selfish": selfish,
    "conditional": conditional,
    "fair": fair,
    **{str(name): character for name, character in CHARACTERS.items()},
}
