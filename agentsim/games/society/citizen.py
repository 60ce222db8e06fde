"""Citizen: one agent's own part of the state. What it may do is `action_handler`, what it is shown `view`."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentsim.games.society.config import Personality
from agentsim.games.society.terms import Resource

Status: TypeAlias = Literal["active", "dormant", "dead"]
NoticeKind: TypeAlias = Literal[
    "message",
    "reply",
    "mention",
    "gift",
    "payment",
    "proposal_passed",
    "proposal_failed",
    "rejected",
    "dormant",
    "woke",
]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that touched an agent since its last turn.

    `by` is the agent whose doing it was, 0 for the common pool and for its own; `about` a post, proposal or law;
    `amount` hundredths of `resource`; `text` an agent's words, or the reason of a rejection.
    """

    kind: NoticeKind
    by: int = 0
    name: str = ""
    about: int = 0
    resource: Resource | None = None
    amount: int = 0
    text: str = ""


@dataclass
class Citizen:
    """An agent; `number` is what the others know it by, `player` whose seat it is; amounts are hundredths.

    `missed` counts the notices that no longer fitted into the inbox. `worked` are the hours of today, `turns` its
    turns.
    """

    number: int
    player: str
    personality: Personality
    stock: dict[Resource, int]
    inbox: deque[Notice]
    name: str = ""
    status: Status = "active"
    starved: int = 0
    worked: int = 0
    turns: int = 0
    missed: int = 0
    posts: int = 0
    messages: int = 0
    proposals: int = 0
    votes: int = 0
    breaches: int = 0
    hours: int = 0

    def notify(self, notice: Notice, room: int) -> None:
        """Put a notice into the inbox; the oldest goes where there is no room."""
        self.inbox.append(notice)
        if len(self.inbox) > room:
            self.inbox.popleft()
            self.missed += 1

    def read(self) -> tuple[tuple[Notice, ...], int]:
        """Empty the inbox: its notices, oldest first, and how many were lost before them."""
        found, missed = tuple(self.inbox), self.missed
        self.inbox.clear()
        self.missed = 0
        return found, missed

    @property
    def wealth(self) -> int:
        """All that it holds."""
        return sum(self.stock.values())

    @property
    def took_part(self) -> bool:
        """Whether it ever voted or proposed."""
        return self.votes + self.proposals > 0
