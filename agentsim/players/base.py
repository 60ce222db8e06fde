"""What players have in common: the messages of a request, one attempt at answering it, and its policy.

How a reply is judged is the referee's business, how a model is reached that of `models`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

from agentsim.engine.play import Ask
from agentsim.errors import ModelError, ProviderRejected, RateLimited, TransportFailed
from agentsim.models.attempts import AttemptPolicy
from agentsim.models.base import Completion, Usage

__all__ = ["Complaint", "Fault", "Message", "Player", "ReaskPolicy", "Try", "fault_of", "wasted_by"]

Fault: TypeAlias = Literal["transport", "limited", "refused", "rejected"]
"""Which of the four kinds of `ModelError` a failed call met."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt; its text is its segments, joined by newlines."""

    role: str
    segments: tuple[str, ...]

    @property
    def text(self) -> str:
        """The message as it is sent."""
        return "\n".join(self.segments)


@dataclass(frozen=True, slots=True)
class Complaint:
    """A reply that could not be used, and why, in words fit for whoever gave it."""

    reply: str
    reason: str


class Try(NamedTuple):
    """One attempt at a decision: a completion, an error, or a completion that could not be used (both).

    `code` is a stable word (`timeout`, `unreadable`), `error` the sentence; `wait_s` is how long the next
    attempt was put off. `fault` says of a failed call what kind of error it was. Where several models may answer for
    one player, `model` is the one that was called, and `takeover` says that the next one took over after this attempt.
    After a failed call that is `final` nobody is asked any more; `held` says that its host wanted more time than the
    decision had patience left. `wasted` is what a failed call used all the same.
    """

    messages: tuple[Message, ...]
    completion: Completion | None = None
    code: str | None = None
    error: str | None = None
    latency_s: float = 0.0
    wait_s: float = 0.0
    fault: Fault | None = None
    model: str | None = None
    takeover: bool = False
    final: bool = False
    wasted: Usage | None = None
    held: bool = False

    @property
    def usage(self) -> Usage | None:
        """What it used; None of a call of which nobody says so."""
        return self.wasted if self.completion is None else self.completion.usage


def wasted_by(error: ModelError) -> Usage | None:
    """What a failed call used, where its provider says so."""
    return error.usage if isinstance(error.usage, Usage) else None


def fault_of(error: ModelError) -> Fault:
    """The kind of an error."""
    if isinstance(error, TransportFailed):
        return "transport"
    if isinstance(error, RateLimited):
        return "limited"
    return "rejected" if isinstance(error, ProviderRejected) else "refused"


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
    """Somebody who answers requests in text: a model, a script or a person. Bots answer in decisions."""

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
