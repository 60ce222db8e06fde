"""Citizen: one agent's own part of the state. What it may do is `actions`, what it is shown `view`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentsim.games.society.config import Personality
from agentsim.games.society.terms import Resource

Status: TypeAlias = Literal["active", "dormant", "dead"]


@dataclass
class Citizen:
    """An agent; `number` is what the others know it by, `player` whose seat it is; amounts are hundredths.

    `worked` are the hours of today, `turns` its turns.
    """

    number: int
    player: str
    personality: Personality
    stock: dict[Resource, int]
    name: str = ""
    status: Status = "active"
    starved: int = 0
    worked: int = 0
    turns: int = 0
    posts: int = 0
    messages: int = 0
    proposals: int = 0
    votes: int = 0
    breaches: int = 0
    hours: int = 0

    @property
    def wealth(self) -> int:
        """All that it holds."""
        return sum(self.stock.values())

    @property
    def took_part(self) -> bool:
        """Whether it ever voted or proposed."""
        return self.votes + self.proposals > 0
