"""OnBoard: what happens on the board. Prompts show what comes of it, the board as it is then, and not each move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentsim.engine.event import Event

__all__ = ["OnBoard"]


@dataclass(frozen=True)
class OnBoard(Event):
    """Base of the events of tokens, property and money."""

    in_prompt: ClassVar[bool] = False
