"""The public names of `agentsim.engine`, which games import."""

from __future__ import annotations

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision, WholeNumber
from agentsim.engine.event import Event, Everyone, LoggedEvent, Nobody, PlayerId
from agentsim.engine.game import Bot, Game, GameConfig, Lot, Outcome, Standing, ranked
from agentsim.engine.options import Choice, Each, Number, Options, Order, Subset, Text, Variant
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.engine.wording import Prompt, joined, quoted

__all__ = [
    "Bot",
    "Choice",
    "Decision",
    "Each",
    "Event",
    "Everyone",
    "Game",
    "GameConfig",
    "LoggedEvent",
    "Lot",
    "Nobody",
    "Number",
    "Options",
    "Order",
    "Outcome",
    "PlayerId",
    "Prompt",
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
