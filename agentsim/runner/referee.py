"""Referee: turns one player's replies into one decision that the rules can use.

A bad reply is put to the player again, then the request's own fallback decides; both are counted. Sending, waiting,
spending and writing to disk are the dispatcher's (`Calls`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from agentsim.engine.codec import values
from agentsim.engine.decision import Decision, Reading
from agentsim.engine.play import Ask
from agentsim.engine.request import Request
from agentsim.engine.survey import Survey, SurveyPlace
from agentsim.errors import (
    DecisionError,
    ModelError,
    ModelRefused,
    ProviderRejected,
    RateLimited,
    TransportFailed,
    UnreadableReply,
)
from agentsim.history.journal import TICK_DEADLINE, DecisionRecord, Parse, Source
from agentsim.models.attempts import Attempts, held, pause, persevere
from agentsim.models.base import MOST_TEXT, Attempt, Completion, Message
from agentsim.models.faults import may_be_the_prompt
from agentsim.players.human import HumanPlayer
from agentsim.players.model import Complaint, Player, emptiness
from agentsim.players.web import NO_ANSWER, WebPlayer


class Calls(Protocol):
    """Makes the calls of one decision, and keeps their record."""

    @property
    def order(self) -> Sequence[int]:
        """Places among `player.links` of the models that may be asked; the next where the one before is unreachable."""

    async def call(self, messages: tuple[Message, ...], number: int, link: int, used: Attempts) -> Completion:
        """The decision's attempt `number`, from 1, by the model at place `link`; raises `ModelError`."""

    def keep(self, attempt: Attempt) -> None:
        """Put an attempt that is not the decision on disk, before anything follows: it is not paid for again."""

    async def rest(self, seconds: float) -> None:
        """Wait before the next attempt; what this raises ends the decision."""


class Ruling(NamedTuple):
    """A decision, where it came from, and every attempt at it."""

    decision: Decision
    source: Source
    attempts: tuple[Attempt, ...] = ()
    reading: Reading[Any] | None = None
    fallback_reason: str | None = None


def decision_record_of(ask: Ask, ruling: Ruling) -> DecisionRecord:
    """The ruling as it is kept."""
    request = ask.request
    return DecisionRecord(
        index=ask.index,
        wave=ask.wave,
        place=ask.place,
        player=request.player,
        kind=request.kind,
        fingerprint=request.fingerprint,
        decision=values(ruling.decision),
        source=ruling.source,
        fallback_reason=ruling.fallback_reason,
        attempts=ruling.attempts,
        parse=None if ruling.reading is None else Parse.of(ruling.reading),
        survey=SurveyPlace(request.interview, request.round) if isinstance(request, Survey) else None,
    )


class _RetryLoop:
    """One decision in the making: its attempts, the complaints about them, and what is used up of the policy."""

    def __init__(self, ask: Ask, player: Player, calls: Calls) -> None:
        self.ask, self.player, self._calls = ask, player, calls
        self._links, self._order = player.links, calls.order
        self._link = self._order[0]
        self.attempts: list[Attempt] = []
        self.complaints: list[Complaint] = []
        self.used = self._unused()

    def _unused(self) -> Attempts:
        return Attempts(decision=f"{self.ask.request.player} {self.ask.index}")

    def take(self, attempt: Attempt) -> None:
        """Count an attempt that is not the decision."""
        self.attempts.append(attempt)
        self._calls.keep(attempt)

    def resume(self, attempt: Attempt) -> None:
        """Count an earlier process's attempt as if it had just been made."""
        self.attempts.append(attempt)
        if attempt.takeover:
            self.take_over()
        elif attempt.code == "rate_limited":
            self.used.waited_s += attempt.wait_s
            self.used.limited += 1
        else:
            self.used.made += 1
            self.used.retries += attempt.completion is None

    async def complete(self, messages: tuple[Message, ...]) -> Attempt:
        """The next attempt that brings a completion; `ModelError` where the attempts of the last model are used up."""
        clock, policy = asyncio.get_running_loop().time, self.player.attempts
        started = clock()

        async def once() -> Completion:
            nonlocal started
            started = clock()
            return await self._calls.call(messages, len(self.attempts) + 1, self._link, self.used)

        def failed(error: ModelError) -> None:
            wait = pause(error, policy, self.used)
            takeover = wait is None and self.may_take_over(error)
            attempt = Attempt.failed(
                messages,
                error,
                latency_s=clock() - started,
                wait_s=wait or 0.0,
                model=self._named(),
                takeover=takeover,
                final=wait is None and not takeover,
                held=held(error, policy, self.used),
            )
            self.take(attempt)

        while True:
            try:
                completion = await persevere(once, policy, self.used, failed, self._calls.rest)
            except ModelError as error:
                if not self.may_take_over(error):
                    raise
                self.take_over()
            else:
                return Attempt(messages, latency_s=clock() - started, completion=completion, model=self._named())

    def _named(self) -> str | None:
        return self._links[self._link].name if len(self._links) > 1 else None

    def was_asked(self, model: str | None) -> None:
        """An earlier process's attempt was made by this model; one that took over has attempts of its own."""
        for place, link in enumerate(self._links):
            if link.name == model and place != self._link:
                self._link, self.used = place, self._unused()

    def may_take_over(self, error: ModelError) -> bool:
        """Whether another model is asked where this error is final: this one cannot be reached, rather than refuses."""
        doubtful = may_be_the_prompt(isinstance(error, ModelRefused), error.code)
        unreachable = isinstance(error, TransportFailed | RateLimited | ProviderRejected) or doubtful
        return unreachable and any(place > self._link for place in self._order)

    def take_over(self) -> None:
        """The next model is asked from now on, with attempts of its own."""
        self._link = next((place for place in self._order if place > self._link), self._link)
        self.used = self._unused()

    def judge(self, attempt: Attempt, *, resumed: bool) -> Ruling | None:
        """The ruling that a completion leads to; None where the player is to be asked again."""
        completion, count = attempt.completion, self.resume if resumed else self.take
        assert completion is not None, "only completions are judged"
        if completion.refusal is not None:  # it would only be refused again
            count(replace(attempt, code=completion.refusal, error="The model or a filter refused to answer."))
            return self.fallback(completion.refusal)
        try:
            if completion.unusable is not None:
                raise UnreadableReply(completion.unusable)
            if completion.cut:
                raise UnreadableReply(f"The reply is longer than {MOST_TEXT:,} bytes.")
            reading = self._read(completion, resumed=resumed)
        except DecisionError as error:
            code, reason = _bad(completion, error)
            count(replace(attempt, code=code, error=reason))
            if not self.may_reask(error):
                return self.fallback(code)
            self.complaints.append(Complaint(completion.text, reason))
            return None
        self.attempts.append(attempt)
        return Ruling(reading.decision, self._links[self._link].source, tuple(self.attempts), reading)

    def _read(self, completion: Completion, *, resumed: bool) -> Reading[Any]:
        """The decision of a reply, which is legal; raises `DecisionError`."""
        request, length = self.ask.request, completion.ended_early
        # an attempt of an earlier process is counted once it is judged
        last = length and not self.may_reask(UnreadableReply("cut off"), self.used.made + resumed)
        repair = self.player.reasking.repair
        reading: Reading[Any] = request.parse(completion.text, cut=length, last=last, repair=repair)
        if not reading.checked:
            request.check(reading.decision)
        return reading

    def may_reask(self, error: DecisionError, made: int | None = None) -> bool:
        policy, made = self.player.reasking, self.used.made if made is None else made
        if error.code not in policy.on or made >= self.player.attempts.max_attempts:
            return False
        return policy.reasks is None or len(self.complaints) < policy.reasks

    def fallback(self, reason: str) -> Ruling:
        return fallen_back(self.ask, self.attempts, reason)


def deadline(player: Player, tick_ends: float | None) -> tuple[float | None, str]:
    """When a player's decision falls back, in the loop's time, and why; a person without a clock has all the time."""
    if isinstance(player, WebPlayer) and player.timeout_s is not None:
        return asyncio.get_running_loop().time() + player.timeout_s, NO_ANSWER
    return None if isinstance(player, HumanPlayer | WebPlayer) else tick_ends, TICK_DEADLINE


def fallen_back(ask: Ask, attempts: Sequence[Attempt], reason: str) -> Ruling:
    """The ruling of a decision that was not made, or not in its time, after these attempts."""
    decision = without_reply(ask.request, attempts)
    ask.request.check(decision)
    return Ruling(decision, "fallback", tuple(attempts), fallback_reason=reason)


def unanswered(messages: tuple[Message, ...], latency_s: float, model: str | None) -> Attempt:
    """The attempt that was under way when its tick ended: it says nothing of its provider, and none follows."""
    why = "No answer came before the end of the tick."
    return Attempt(messages, TICK_DEADLINE, why, latency_s=latency_s, model=model, final=True)


def without_reply(request: Request[Any], attempts: Sequence[Attempt]) -> Decision:
    """What comes of attempts that brought no decision: a forfeit if the last brought a reply, else the fallback."""
    last = attempts[-1] if attempts else None
    replied = last is not None and last.completion is not None and last.completion.refusal is None
    decision: Decision = request.forfeit(last.error) if replied and last and last.error else request.fallback()
    return decision


def _bad(completion: Completion, error: DecisionError) -> tuple[str, str]:
    """The word for a bad reply, which for an empty one says more than `unreadable`, and the reason for its player."""
    if error.code != "unreadable":
        return error.code, str(error)
    code = (None if completion.unusable else emptiness(completion)) or error.code
    if code == "empty_reasoning":
        return code, f"{error} All of it went into thinking: think less, and then answer."
    if completion.ended_early:
        return code, f"{error} The reply was cut off at its longest allowed length: be shorter."
    return code, str(error)


async def rule(ask: Ask, player: Player, calls: Calls, earlier: Sequence[Attempt] = ()) -> Ruling:
    """Decide one request. `earlier` are the attempts an interrupted process left for it.

    `ProviderRejected` of a player's only model, every `RunStopped` and cancellation go through; any other `ModelError`
    ends in the fallback.
    """
    loop = _RetryLoop(ask, player, calls)
    pending = list(earlier)
    ruling: Ruling | None = None
    while ruling is None:
        messages = player.messages(ask, loop.complaints)
        if not pending:
            try:
                ruling = loop.judge(await loop.complete(messages), resumed=False)
            except ModelError as error:
                if isinstance(error, ProviderRejected) and len(player.links) == 1:
                    raise  # of several models another may answer the next time; whether one will is for others to judge
                return loop.fallback(error.code)
            continue
        tried = pending.pop(0)
        loop.was_asked(tried.model)
        if tried.completion is None:
            loop.resume(tried)
            ruling = loop.fallback(str(tried.code)) if tried.final else None
        else:
            ruling = loop.judge(replace(tried, code=None, error=None), resumed=True)
    return ruling
