"""The public names of `agentsim.engine`, which games import."""

from __future__ import annotations

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision, WholeNumber
from agentsim.engine.event import Event, Everyone, LoggedEvent, Nobody, PlayerId
from agentsim.engine.game import Bot, Game, GameConfig, Outcome, RandomDraw, Standing, ranked
from agentsim.engine.options import Choice, Number, Options, Order, PerKey, Subset, Text, Variant
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.engine.wording import Prompt, joined, quoted

__all__ = [
    "Bot",
    "Choice",
    "Decision",
    "Event",
    "Everyone",
    "Game",
    "GameConfig",
    "LoggedEvent",
    "Nobody",
    "Number",
    "Options",
    "Order",
    "Outcome",
    "PerKey",
    "PlayerId",
    "Prompt",
    "RandomDraw",
    "Request",
    "Standing",
    "Stream",
    "Subset",
    "Table",
    "Text",
    "Variant",
    "WholeNumber",
    "joined",
    "quoted",
    "ranked",
]
