"""What players have in common: they answer a request in text. How a reply becomes a decision belongs to the referee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agentsim.engine.play import Ask
from agentsim.models.attempts import AttemptPolicy
from agentsim.models.base import Completion, Message

__all__ = ["Complaint", "Player", "ReaskPolicy"]


@dataclass(frozen=True, slots=True)
class Complaint:
    """A reply that could not be used, and why, in words fit for the player."""

    reply: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReaskPolicy:
    """What follows a bad reply: whether broken JSON is mended first (`repair`); then after which kinds, how often
    (None: without end) and with what the question is put again.
    """

    reasks: int | None = 1
    on: frozenset[str] = frozenset({"unreadable", "ambiguous", "illegal"})
    how: Literal["reason", "same"] = "reason"
    repair: bool = False


class Player(Protocol):
    """Answers requests in text: a model, a script or a person. Bots answer in decisions."""

    @property
    def source(self) -> Literal["model", "human", "script"]:
        """What the history calls such a decision's source."""
        ...

    @property
    def name(self) -> str:
        """Its model's name in the scenario."""
        ...

    @property
    def provider(self) -> str:
        """Whose failures count together."""
        ...

    @property
    def links(self) -> Sequence[Player]:
        """This player, and who takes over from it for a decision, in order: the same seat with other models."""
        ...

    @property
    def attempts(self) -> AttemptPolicy:
        """How often and after what waits a failed call is made again."""
        ...

    @property
    def reasking(self) -> ReaskPolicy:
        """What follows a bad reply."""
        ...

    def messages(self, ask: Ask, complaints: Sequence[Complaint]) -> tuple[Message, ...]:
        """The prompt, after the complaints that earlier replies to it met."""
        ...

    async def reply(self, ask: Ask, messages: tuple[Message, ...], attempt: int) -> Completion:
        """One attempt; raises `ModelError`."""
        ...
