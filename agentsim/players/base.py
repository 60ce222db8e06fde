"""The protocol of players that answer in text, and their policies for failed calls and bad replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from agentsim.engine.request import Ask
from agentsim.lazy import dataclass
from agentsim.models.base import Completion, Message
from agentsim.models.pacing import RetryPolicy

PATIENT = RetryPolicy(retries=0, max_attempts=10**9)
"""The attempt policy of a person: without a limit."""


@dataclass(frozen=True, slots=True)
class BadReply:
    """A reply that could not be used, and the reason in words for the player."""

    reply: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReaskPolicy:
    """The policy after a bad reply: repair broken JSON (`repair`), then ask again.

    `on` are the codes of errors after which the player is asked again, `reasks` the maximum number of times (None: no
    limit). `how` says whether the question is followed by the bad reply and its `reason`, or asked again the `same`.
    """

    reasks: int | None = 1
    on: frozenset[str] = frozenset({"unreadable", "ambiguous", "illegal"})
    how: Literal["reason", "same"] = "reason"
    repair: bool = False


class Player(Protocol):
    """An answerer of requests in text: a model, a script or a person. Bots answer in decisions."""

    @property
    def source(self) -> Literal["model", "human", "script"]:
        """The source of its decisions in the history."""

    @property
    def name(self) -> str:
        """Its model's name in the scenario."""

    @property
    def provider(self) -> str:
        """The provider: failures of players with the same one count together."""

    @property
    def chain(self) -> Sequence[Player]:
        """This player and those that take over from it, in order: the same seat with other models."""

    @property
    def retry_policy(self) -> RetryPolicy:
        """The number of attempts, and the waits between them."""

    @property
    def reasking(self) -> ReaskPolicy:
        """The policy after a bad reply."""

    def messages(self, ask: Ask, bad_replies: Sequence[BadReply]) -> tuple[Message, ...]:
        """Return the prompt, followed by the bad replies with their reasons."""

    async def reply(self, ask: Ask, messages: tuple[Message, ...], attempt: int) -> Completion:
        """Make one attempt. Raises `ModelError`."""
