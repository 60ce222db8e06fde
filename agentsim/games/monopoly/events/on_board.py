"""OnBoard: what happens on the board. Prompts show what comes of it, the board as it is then, and not each move."""

from __future__ import annotations

from agentsim.engine.event import Event


class OnBoard(Event, in_prompt=False):
    """Base of the events of tokens, property and money."""
