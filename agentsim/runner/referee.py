"""The referee: turns one player's replies into one decision that the rules can use.

A bad reply is put to the player again, then the request's own fallback decides; both are counted. Sending,
waiting, spending and writing to disk belong to those it is given (`attempt`, `keep`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentsim.engine.play import Ask
from agentsim.engine.reading import Decision, Reading
from agentsim.errors import DecisionError, ModelError, ProviderRejected
from agentsim.history.entry import Entry, Parse
from agentsim.history.record import Source
from agentsim.models.attempts import Attempts, pause, persevere
from agentsim.models.base import Completion
from agentsim.players.base import Complaint, Message, Player, Try

__all__ = ["Ruling", "rule", "to_entry"]

Attempt = Callable[[tuple[Message, ...], int], Awaitable[Completion]]
"""One call with these messages; the number counts this decision's attempts from 1. Raises `ModelError`."""
Keep = Callable[[Sequence[Try]], None]
"""Puts tries of an unfinished decision on disk: what was paid for is not paid for again."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision, where it came from, and every attempt at it."""

    decision: Decision
    source: Source
    tries: tuple[Try, ...] = ()
    reading: Reading[Any] | None = None
    fallback_reason: str | None = None


def to_entry(ask: Ask, ruling: Ruling) -> Entry:
    """The ruling as it is kept."""
    return Entry(
        index=ask.index,
        wave=ask.wave,
        place=ask.place,
        player=ask.request.player,
        kind=ask.request.kind,
        fingerprint=ask.request.fingerprint(),
        decision=ruling.decision.model_dump(mode="json"),
        source=ruling.source,
        fallback_reason=ruling.fallback_reason,
        tries=ruling.tries,
        parse=None if ruling.reading is None else Parse.of(ruling.reading),
    )


class _Hearing:
    """One decision in the making: its tries, complaints and what is used up of its attempts."""

    def __init__(self, ask: Ask, player: Player, attempt: Attempt, keep: Keep) -> None:
        self.ask, self.player, self._attempt, self._keep = ask, player, attempt, keep
        self.tries: list[Try] = []
        self.complaints: list[Complaint] = []
        self.used = Attempts()

    def take(self, attempt: Try) -> None:
        """Count an attempt after which another one follows: it is on disk before that."""
        self.tries.append(attempt)
        self._keep([attempt])

    def resume(self, attempt: Try) -> None:
        """Count an earlier process's attempt as if it had just been made."""
        self.tries.append(attempt)
        if attempt.code == "rate_limited":
            self.used.waited_s += attempt.wait_s
        else:
            self.used.made += 1
            self.used.retries += attempt.completion is None

    async def complete(self, messages: tuple[Message, ...]) -> Try:
        """The next attempt that brings a completion; `ModelError` where the attempts are used up."""
        clock = asyncio.get_running_loop().time
        started = clock()

        async def once() -> Completion:
            nonlocal started
            started = clock()
            return await self._attempt(messages, len(self.tries) + 1)

        def failed(error: ModelError) -> None:
            wait = pause(error, self.player.attempts, self.used)
            attempt = Try(messages, None, error.code, str(error), clock() - started, wait or 0.0)
            self.tries.append(attempt) if wait is None else self.take(attempt)

        completion = await persevere(once, self.player.attempts, self.used, failed)
        return Try(messages, completion, latency_s=clock() - started)

    def judge(self, attempt: Try, *, resumed: bool) -> Ruling | None:
        """The ruling that a completion leads to; None where the player is to be asked again."""
        completion = attempt.completion
        assert completion is not None, "only completions are judged"
        try:
            reading = self.ask.request.parse(completion.text)
            self.ask.request.check(reading.decision)
        except DecisionError as error:
            reason = str(error)
            if completion.finish_reason == "length" and error.code == "unreadable":
                reason += " The reply was cut off at its longest allowed length: be shorter."
            bad = replace(attempt, code=error.code, error=reason)
            if resumed:
                self.resume(bad)
            if not self.may_reask(error):
                self.tries += [] if resumed else [bad]
                return self.fallback(error.code)
            if not resumed:
                self.take(bad)
            self.complaints.append(Complaint(completion.text, reason))
            return None
        self.tries.append(attempt)
        return Ruling(reading.decision, self.player.source, tuple(self.tries), reading)

    def may_reask(self, error: DecisionError) -> bool:
        policy = self.player.reasking
        if error.code not in policy.on or self.used.made >= self.player.attempts.max_attempts:
            return False
        return policy.reasks is None or len(self.complaints) < policy.reasks

    def given_up(self, error: ModelError) -> Ruling:
        if isinstance(error, ProviderRejected):
            raise error
        return self.fallback(error.code)

    def fallback(self, reason: str) -> Ruling:
        decision = self.ask.request.fallback()
        self.ask.request.check(decision)
        return Ruling(decision, "fallback", tuple(self.tries), fallback_reason=reason)


async def rule(ask: Ask, player: Player, attempt: Attempt, keep: Keep, earlier: Sequence[Try] = ()) -> Ruling:
    """Decide one request. `earlier` are the tries an interrupted process left for it.

    `ProviderRejected`, every `RunStopped` and cancellation go through; any other `ModelError` ends in the fallback.
    """
    hearing = _Hearing(ask, player, attempt, keep)
    pending = list(earlier)
    ruling: Ruling | None = None
    while ruling is None:
        messages = player.messages(ask, hearing.complaints)
        tried = pending.pop(0) if pending else None
        if tried is None:
            try:
                ruling = hearing.judge(await hearing.complete(messages), resumed=False)
            except ModelError as error:
                return hearing.given_up(error)
        elif tried.completion is None:
            hearing.resume(tried)
        else:
            ruling = hearing.judge(replace(tried, code=None, error=None), resumed=True)
    return ruling
