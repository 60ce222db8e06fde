"""Decide: turning one request into a decision that the rules can use.

The player is asked. A failed call is retried, a bad reply is put to the player again, another model takes over, and at
last the request's own fallback decides. Each step is counted, and on disk before the rules see the decision. `limits`
says whether a call may be made; `loop` orders the decisions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeAlias

from agentsim.engine.chance import Stream
from agentsim.engine.codec import json_fields
from agentsim.engine.decision import Decision, Reading
from agentsim.engine.request import Ask, Request, Wave
from agentsim.engine.survey import Survey, SurveyPlace
from agentsim.errors import (
    AgentsimError,
    DecisionError,
    ModelError,
    ProviderRejected,
    RateLimited,
    RequestRefused,
    RunStopped,
    TransportFailed,
    UnreadableReply,
)
from agentsim.lazy import dataclass
from agentsim.models.base import MOST_TEXT, UNADJUSTED, Attempt, Completion, Message
from agentsim.models.faults import may_be_the_prompt
from agentsim.models.pacing import RetryCount, RetryVerdict, call_with_retries, retry_wait
from agentsim.models.remote import adjustment_words
from agentsim.players.base import BadReply, Player
from agentsim.players.human import HumanPlayer
from agentsim.players.model import BotPlayer, ModelPlayer
from agentsim.players.web import NO_ANSWER, WITHDRAWN, PersonLeft, WebPlayer
from agentsim.records.diagnostics import diagnostics, empty_reply_code
from agentsim.records.history import Branch
from agentsim.records.journal import WAVE_DEADLINE, DecisionRecord, Journal, Parse, Source, Totals
from agentsim.runs.limits import CallLimits, ModelId
from agentsim.runs.watcher import Watcher

SeatedPlayer: TypeAlias = Player | BotPlayer
BeforeDecision: TypeAlias = Callable[[Ask], Awaitable[None]]
"""An awaitable check before each decision that is not on record: the player is asked when it returns."""
UNSYNCED_S = 0.05
"""Seconds after which an attempt or a decision is synced to disk. A killed process loses none, a power loss may."""


class Calls(Protocol):
    """The calls of one decision, and their record."""

    @property
    def order(self) -> Sequence[int]:
        """The indices in `player.chain` of the models to ask, in the order in which they take over."""

    async def call(self, messages: tuple[Message, ...], number: int, model_index: int) -> Completion:
        """Make the decision's attempt `number` (from 1) with the model at index `model_index`. Raises `ModelError`."""

    def failed(self, attempt: Attempt, error: ModelError, model_index: int) -> None:
        """Count an attempt that ended in this error.

        Raises `RunStopped`, with the attempt in the journal, if it ends the run.
        """

    def journal_attempt(self, attempt: Attempt) -> None:
        """Journal an attempt that is not the decision before anything follows, so that it is not paid for again."""

    async def sleep(self, seconds: float) -> None:
        """Wait before the next attempt. Any error that this raises ends the decision."""


class DecisionResult(NamedTuple):
    """A decision, its source, and every attempt at it."""

    decision: Decision
    source: Source
    attempts: tuple[Attempt, ...] = ()
    reading: Reading[Any] | None = None
    fallback_reason: str | None = None


def decision_record_of(ask: Ask, result: DecisionResult) -> DecisionRecord:
    """Return the journal's record of a result."""
    request = ask.request
    return DecisionRecord(
        index=ask.index,
        wave=ask.wave,
        place=ask.place,
        player=request.player,
        kind=request.kind,
        fingerprint=request.fingerprint,
        decision=json_fields(result.decision),
        source=result.source,
        fallback_reason=result.fallback_reason,
        attempts=result.attempts,
        parse=None if result.reading is None else Parse.of(result.reading),
        survey=SurveyPlace.of(request) if isinstance(request, Survey) else None,
        round=ask.round,
    )


class _DecisionAttempts:
    """The retries of one decision: its attempts, the bad replies so far, and what they used of the policies."""

    def __init__(self, ask: Ask, player: Player, calls: Calls) -> None:
        self.ask, self.player, self._calls = ask, player, calls
        self._models, self._order = player.chain, calls.order
        self._model_index = self._order[0]
        self.attempts: list[Attempt] = []
        self.bad_replies: list[BadReply] = []
        self.wait_s = 0.0
        """The wait after the last reply, if it was bad."""
        self.used = self._new_count()

    def _new_count(self) -> RetryCount:
        return RetryCount(decision=f"{self.ask.request.player} {self.ask.index}")

    def record_failure(self, attempt: Attempt) -> None:
        """Add and journal an attempt that is not the decision."""
        self.attempts.append(attempt)
        self._calls.journal_attempt(attempt)

    def resume(self, attempt: Attempt) -> None:
        """Count an earlier process's attempt as if it had just been made."""
        self.attempts.append(attempt)
        if attempt.takeover:
            self.take_over()
        elif attempt.code == "rate_limited":
            self.used.waited_s += attempt.wait_s
            self.used.rate_limited += 1
        else:
            self.used.made += 1
            self.used.retries += attempt.completion is None

    async def complete(self, messages: tuple[Message, ...]) -> Attempt:
        """Return the next attempt that brings a completion.

        Raises `ModelError` if the last model's attempts are used up.
        """
        clock = asyncio.get_running_loop().time
        started = clock()

        async def once() -> Completion:
            nonlocal started
            started = clock()
            return await self._calls.call(messages, len(self.attempts) + 1, self._model_index)

        def failed(error: ModelError, verdict: RetryVerdict) -> None:
            attempt = Attempt.failed(messages, error, model=self._named(), exceeds_patience=verdict.exceeds_patience)
            self._calls.failed(attempt, error, self._model_index)
            over = verdict.wait_s is None
            takeover = over and self.may_take_over(error)
            self.record_failure(
                replace(
                    attempt,
                    latency_s=clock() - started,
                    wait_s=verdict.wait_s or 0.0,
                    takeover=takeover,
                    final=over and not takeover,
                )
            )

        while True:
            try:
                completion = await call_with_retries(
                    once, self.player.retry_policy, self.used, failed, self._calls.sleep
                )
            except ModelError as error:
                if not self.may_take_over(error):
                    raise
                self.take_over()
            else:
                return Attempt(messages, latency_s=clock() - started, completion=completion, model=self._named())

    def _named(self) -> str | None:
        return self._models[self._model_index].name if len(self._models) > 1 else None

    def switch_to(self, model: str | None) -> None:
        """Switch to the model that made an earlier process's attempt; another model has attempts of its own."""
        for index, each in enumerate(self._models):
            if each.name == model and index != self._model_index:
                self._model_index, self.used = index, self._new_count()

    def may_take_over(self, error: ModelError) -> bool:
        """Return whether another model takes over after this final error.

        One does if this model is unreachable, and none if it refuses, unless the error may be about its every call.
        """
        unclear = may_be_the_prompt(isinstance(error, RequestRefused), error.code)
        unreachable = isinstance(error, TransportFailed | RateLimited | ProviderRejected)
        return (unreachable or unclear) and any(index > self._model_index for index in self._order)

    def take_over(self) -> None:
        """Switch to the next model, with attempts of its own."""
        self._model_index = next((index for index in self._order if index > self._model_index), self._model_index)
        self.used = self._new_count()

    def judge(self, attempt: Attempt, *, resumed: bool) -> DecisionResult | None:
        """Return the result that a completion leads to, or None if the player is to be asked again.

        A `resumed` attempt was made by an earlier process, and is in the journal already.
        """
        completion, record = attempt.completion, self.resume if resumed else self.record_failure
        assert completion is not None, "only completions are judged"
        if completion.refusal is not None:  # another attempt would only be refused again
            record(replace(attempt, code=completion.refusal, error="The model or a filter refused to answer."))
            return self.fallback(completion.refusal)
        if self._is_forfeit(completion):
            record(replace(attempt, code=UnreadableReply.code, error="The reply holds no JSON object."))
            return self.fallback(UnreadableReply.code)
        try:
            if completion.unusable is not None:
                raise UnreadableReply(completion.unusable)
            if completion.oversized:
                raise UnreadableReply(f"The reply is longer than {MOST_TEXT:,} bytes.")
            reading = self._read(completion, resumed=resumed)
        except DecisionError as error:
            code, reason = _code_and_reason(completion, error)
            again = self.may_reask(error, self.used.made + resumed)
            self.wait_s = self._reask_wait() if again and not resumed else 0.0
            record(replace(attempt, code=code, error=reason, wait_s=self.wait_s))
            if not again:
                return self.fallback(code)
            self.bad_replies.append(BadReply(completion.text, reason))
            return None
        if reading.rejection is not None:  # the game has a decision of its own for the reply
            code, reason = _code_and_reason(completion, reading.rejection)
            record(replace(attempt, code=code, error=reason))
            return DecisionResult(reading.decision, "fallback", tuple(self.attempts), reading, fallback_reason=code)
        self.attempts.append(attempt)
        return DecisionResult(reading.decision, self._models[self._model_index].source, tuple(self.attempts), reading)

    def _is_forfeit(self, completion: Completion) -> bool:
        """Return whether a model's reply is one that the question neither reads nor asks again."""
        if self.player.source == "human" or completion.unusable is not None or completion.oversized:
            return False
        return empty_reply_code(completion) is None and self.ask.request.is_forfeit(completion.text)

    def _read(self, completion: Completion, *, resumed: bool) -> Reading[Any]:
        """Return the legal decision of a reply. Raises `DecisionError`."""
        request, truncated = self.ask.request, completion.ended_early
        made = self.used.made + resumed  # an attempt of an earlier process is counted once it is judged
        last_attempt = truncated and not self.may_reask(UnreadableReply("cut off"), made)
        repair = self.player.reasking.repair
        reading: Reading[Any] = request.parse(
            completion.text, truncated=truncated, last_attempt=last_attempt, repair=repair
        )
        if not reading.checked:
            request.check(reading.decision)
        if reading.rejection is not None and self.may_reask(reading.rejection, made):
            raise reading.rejection
        return reading

    def may_reask(self, error: DecisionError, made: int | None = None) -> bool:
        """Return whether the player is asked again after this error and `made` attempts, by default those so far."""
        policy, made = self.player.reasking, self.used.made if made is None else made
        if error.code not in policy.on or made >= self.player.retry_policy.max_attempts:
            return False
        return policy.reasks is None or len(self.bad_replies) < policy.reasks

    def _reask_wait(self) -> float:
        """Return the seconds to wait before the player is asked again: as after a failed call if nothing is explained.

        An explained question is a new one, and is asked at once.
        """
        if self.player.reasking.how == "reason":
            return 0.0
        return retry_wait(self.player.retry_policy, self.used.retries + len(self.bad_replies))

    async def sleep(self) -> None:
        """Wait before the player is asked again."""
        if self.wait_s and self.player.retry_policy.waits:
            await self._calls.sleep(self.wait_s)

    def fallback(self, reason: str) -> DecisionResult:
        return fallback_result(self.ask, self.attempts, reason)


def deadline(player: Player, wave_ends: float | None) -> tuple[float | None, str]:
    """Return when a player's decision falls back, in the loop's time or None for never, and the reason."""
    if isinstance(player, WebPlayer) and player.timeout_s is not None:
        return asyncio.get_running_loop().time() + player.timeout_s, NO_ANSWER
    return None if isinstance(player, HumanPlayer | WebPlayer) else wave_ends, WAVE_DEADLINE


def fallback_result(ask: Ask, attempts: Sequence[Attempt], reason: str) -> DecisionResult:
    """Return the result of a decision that was not made, or not in time, after these attempts."""
    decision = decision_without_reply(ask.request, attempts)
    ask.request.check(decision)
    return DecisionResult(decision, "fallback", tuple(attempts), fallback_reason=reason)


def unanswered_attempt(messages: tuple[Message, ...], latency_s: float, model: str | None) -> Attempt:
    """Return the record of a call that was in flight when its wave ended.

    It is final, and does not blame the provider.
    """
    why = "No answer came before the end of the wave."
    return Attempt(messages, WAVE_DEADLINE, why, latency_s=latency_s, model=model, final=True)


def decision_without_reply(request: Request[Any], attempts: Sequence[Attempt]) -> Decision:
    """Return the fallback after attempts that brought no decision; if the last brought a reply, the one for that."""
    last = attempts[-1] if attempts else None
    replied = last is not None and last.completion is not None and last.completion.refusal is None
    decision: Decision = request.fallback_after(last.error) if replied and last and last.error else request.fallback()
    return decision


def _code_and_reason(completion: Completion, error: DecisionError) -> tuple[str, str]:
    """Return the code of a bad reply, more exact than `unreadable` if it is empty, and the reason for its player."""
    if error.code != "unreadable":
        return error.code, str(error)
    code = (None if completion.unusable else empty_reply_code(completion)) or error.code
    if code == "empty_reasoning":
        return code, f"{error} All of it went into thinking: think less, and then answer."
    if completion.ended_early:
        return code, f"{error} The reply was cut off at its longest allowed length: be shorter."
    return code, str(error)


async def reach_decision(ask: Ask, player: Player, calls: Calls, earlier: Sequence[Attempt] = ()) -> DecisionResult:
    """Decide one request; `earlier` are the attempts that an interrupted process left for it.

    Raises `ProviderRejected` of a player's only model, every `RunStopped`, and cancellation; any other `ModelError`
    ends in the fallback.
    """
    ongoing = _DecisionAttempts(ask, player, calls)
    pending = list(earlier)
    result: DecisionResult | None = None
    while result is None:
        messages = player.messages(ask, ongoing.bad_replies)
        if not pending:
            try:
                result = ongoing.judge(await ongoing.complete(messages), resumed=False)
            except ModelError as error:
                if isinstance(error, ProviderRejected) and len(player.chain) == 1:
                    raise  # of several models another may answer the next time; the circuit breaker judges that
                return ongoing.fallback(error.code)
            if result is None:
                await ongoing.sleep()
            continue
        tried = pending.pop(0)
        ongoing.switch_to(tried.model)
        if tried.completion is None:
            ongoing.resume(tried)
            result = ongoing.fallback(str(tried.code)) if tried.final else None
        else:
            result = ongoing.judge(replace(tried, code=None, error=None), resumed=True)
    return result


@dataclass
class Decider:
    """Has each request of a run decided by its player; `totals` counts every call, also those of open decisions."""

    seats: Mapping[str, SeatedPlayer]
    journal: Journal
    limits: CallLimits
    watcher: Watcher
    branch: Branch | None = None
    wave_deadline_s: float | None = None
    before_decision: BeforeDecision | None = None

    def __post_init__(self) -> None:
        self.totals = Totals.zero()
        # no prompt tells staff about the game, the screen does
        people = (player for player, seat in self.seats.items() if isinstance(seat, HumanPlayer))
        self.terminal_players = {player for player in people if not player.startswith("@")}
        self._breaker_indices: Mapping[int, int] = {}  # by place in the wave, the number of its request among non-bots
        self._warned: set[tuple[str, str]] = set()
        self._hosts: dict[str, str] = {}  # the host that answered first, by model
        self._sync_due: asyncio.TimerHandle | None = None
        self._wave_ends: float | None = None  # in the event loop's time

    def asks_person(self, wave: Wave) -> bool:
        """Return whether the wave asks a player at this terminal."""
        return any(ask.request.player in self.terminal_players for ask in wave.asks)

    def begin_wave(self, asks: Sequence[Ask]) -> None:
        """Begin to decide a wave's requests. Recorded calls count for the breaker, the totals and the budget."""
        asked = [ask for ask in asks if not isinstance(self.seats[ask.request.player], BotPlayer)]
        if self.wave_deadline_s is not None:
            self._wave_ends = asyncio.get_running_loop().time() + self.wave_deadline_s
        self._breaker_indices = {ask.place: order for order, ask in enumerate(asked)}
        breaker, contents = self.limits.breaker, self.journal.contents
        breaker.begin_wave(
            [[ModelId(model.name, model.provider) for model in self._player(ask).chain] for ask in asked]
        )
        for index, ask in enumerate(asked):
            key = (ask.wave, ask.place)
            record = contents.decisions.get(key)
            for attempt in contents.open_attempts(*key) if record is None else record.attempts:
                breaker.add_earlier(index, attempt, before_stop=key in contents.decided_before_stop)
            if record is not None:
                breaker.mark_decided(index)
            player = self._player(ask)
            inherited = self.branch is not None and self.branch.inherits(ask.wave, ask.index)  # the parent has paid
            if isinstance(player, ModelPlayer) and not inherited:
                # a call of an earlier process counts against the run's limits, and is shown
                for attempt in contents.calls(*key):
                    self.totals.add_call(attempt)
                    used = self.limits.cost(ask, player.with_model(attempt.model), attempt.messages, attempt.usage)
                    self.limits.budget.add_earlier(1, used)

    def _player(self, ask: Ask) -> Player:
        player = self.seats[ask.request.player]
        assert not isinstance(player, BotPlayer), "bots decide at once, without calls"
        return player

    async def decide_by_bot(self, ask: Ask, bot: BotPlayer, rng: Stream) -> tuple[Decision, DecisionRecord]:
        """Have a bot decide one request, and journal the decision without syncing it."""
        if self.before_decision is not None:
            await self.before_decision(ask)
        decision = bot.decide(ask, rng)
        record = decision_record_of(ask, DecisionResult(decision, "bot"))
        self.journal.append_decision(record, write_now=False)
        self.watcher.decided(record)
        return decision, record

    async def decide(self, ask: Ask) -> tuple[Decision, DecisionRecord]:
        """Have one request of the wave decided by its player, and journal the decision.

        A sync is scheduled; the rules may not see the decision before `journal.sync()`. Raises `RunStopped`, also if
        calls that were judged after this decision end the run.
        """
        player, breaker_index, breaker = self._player(ask), self._breaker_indices[ask.place], self.limits.breaker
        try:
            clock, wave_ends = asyncio.get_running_loop().time, self._wave_ends
            if self.before_decision is not None:
                held_since = clock()
                await self.before_decision(ask)
                if wave_ends is not None:  # a pause uses up none of the wave's time
                    wave_ends += clock() - held_since
            earlier = self.journal.contents.open_attempts(ask.wave, ask.place)
            ends, code = deadline(player, wave_ends)
            try:
                async with asyncio.timeout_at(ends) as wave_timeout:
                    result = await reach_decision(
                        ask, player, _AdmittedCalls(self, ask, player, breaker_index, wave_timeout), earlier
                    )
            except (TimeoutError, PersonLeft) as ended:
                if isinstance(ended, TimeoutError) and not wave_timeout.expired():
                    raise
                code = WITHDRAWN if isinstance(ended, PersonLeft) else code
                result = fallback_result(ask, self.journal.contents.open_attempts(ask.wave, ask.place), code)
            late = result.fallback_reason == WAVE_DEADLINE
            if (
                breaker.is_unreachable(breaker_index)
                if late
                else result.fallback_reason not in {None, NO_ANSWER, WITHDRAWN}
            ):
                if breaker.waits_for_earlier(breaker_index):
                    self.limits.check()  # or it would wait for requests that are not asked any more
                await breaker.stop_if_unavailable(breaker_index, late=late)
            record = decision_record_of(ask, result)
            self.journal.append_decision(record, write_now=True)
            self.sync_soon()
            self.watcher.decided(record)
            breaker.mark_decided(breaker_index)
        except Exception as error:  # also our own bugs: other decisions must not wait for this one forever
            self.limits.stopped = self.limits.stopped or error
            raise
        return result.decision, record

    def sync_soon(self) -> None:
        """Schedule an fsync within `UNSYNCED_S` seconds, shared with other pending writes."""
        if self._sync_due is None:
            self._sync_due = asyncio.get_running_loop().call_later(UNSYNCED_S, self._sync)

    def _sync(self) -> None:
        self._sync_due = None
        with suppress(AgentsimError):  # the journal keeps the error and raises it at the end of the wave at the latest
            self.journal.sync()

    def answered(self, player: ModelPlayer, attempt: Attempt, completion: Completion) -> None:
        """Count a call that brought a completion, and warn once about its model.

        A completion carries the newest adjustments for its host, or none if the scenario's own settings hold again.
        Changed adjustments are journaled.
        """
        self.totals.add_call(attempt)
        self.diagnose(player, attempt)
        known = self.journal.contents.negotiated.get(player.name, UNADJUSTED)
        adjustments = completion.adjustments or UNADJUSTED
        if adjustments != known:
            self.journal.append_adjustments(player.name, adjustments)
            for words in adjustment_words(adjustments, known):
                if (words, player.name) not in self._warned:
                    self._warned.add((words, player.name))
                    self.watcher.warned(f"{player.name}: {words}")

    def diagnose(self, player: ModelPlayer, attempt: Attempt) -> None:
        """Warn once of each diagnostic of a model's calls."""
        for diagnostic in diagnostics(player.model.name, attempt, self._hosts):
            if (diagnostic.code, diagnostic.model) not in self._warned:
                self._warned.add((diagnostic.code, diagnostic.model))
                self.watcher.warned(diagnostic.message)


class _AdmittedCalls:
    """The calls of one decision, each admitted by the limits before it is made; implements `Calls`."""

    def __init__(self, decider: Decider, ask: Ask, player: Player, index: int, wave_timeout: asyncio.Timeout) -> None:
        self._decider, self._limits, self._watcher = decider, decider.limits, decider.watcher
        self._ask, self._player, self._breaker_index, self._wave_timeout = ask, player, index, wave_timeout
        self.order = self._limits.breaker.order(index)

    def journal_attempt(self, attempt: Attempt) -> None:
        self._decider.journal.append_attempts(self._ask.wave, self._ask.place, self._ask.request.player, [attempt])
        self._decider.sync_soon()
        self._decider.totals.takeovers += attempt.takeover

    async def sleep(self, seconds: float) -> None:
        self._limits.check()
        await self._limits.budget.sleep(seconds)

    async def call(self, messages: tuple[Message, ...], number: int, model_index: int) -> Completion:
        player = self._player.chain[model_index]
        if isinstance(player, WebPlayer):
            return await player.reply(self._ask, messages, number)
        if isinstance(player, HumanPlayer):  # a person takes no slot, costs no money and has no deadline
            if (answer := player.fallback_on_call(self._ask)) is not None:
                return answer
            async with player.terminal.turn:
                self._watcher.person(asked=True)
                try:
                    return await player.reply(self._ask, messages, number)
                finally:
                    self._watcher.person(asked=False)
        assert isinstance(player, ModelPlayer), "a seat is a model's, a person's or a bot's"
        return await self._model_call(player, messages, number, model_index)

    async def _model_call(
        self, player: ModelPlayer, messages: tuple[Message, ...], number: int, model_index: int
    ) -> Completion:
        decider, ask, watcher = self._decider, self._ask, self._watcher
        clock = asyncio.get_running_loop().time
        sent_at: float | None = None
        try:
            async with self._limits.admitted(ask, player, messages, lambda: watcher.delayed(ask)) as call:
                sent_at = clock()
                watcher.calling(ask)
                completion = await player.reply(ask, messages, number)
                call.usage = completion.usage
            decider.answered(player, Attempt(messages, completion=completion), completion)
            self._limits.breaker.count_call(self._breaker_index, None, model_index)
        except ModelError:
            raise  # the retry loop judges it and hands it to `failed`, where the call ends
        except BaseException as error:
            if sent_at is None:  # it was never sent
                watcher.counted(decider.totals)
                raise
            if isinstance(error, asyncio.CancelledError) and self._wave_timeout.expired():  # it may be billed
                attempt = unanswered_attempt(
                    messages, clock() - sent_at, player.name if len(self._player.chain) > 1 else None
                )
                decider.totals.add_call(attempt)
                self.journal_attempt(attempt)
            watcher.called(ask, decider.totals)
            raise
        watcher.called(ask, decider.totals)
        return completion

    def failed(self, attempt: Attempt, error: ModelError, model_index: int) -> None:
        decider, watcher, player = self._decider, self._watcher, self._player.chain[model_index]
        assert isinstance(player, ModelPlayer), "calls are those of models"
        decider.totals.add_call(attempt)
        decider.diagnose(player, attempt)
        watcher.waiting(self._ask, str(error))
        try:
            self._limits.breaker.count_call(
                self._breaker_index, error, model_index, exceeds_patience=attempt.exceeds_patience
            )
        except RunStopped:
            self.journal_attempt(attempt)  # the decision is not made, so `_DecisionAttempts` will not keep this attempt
            raise
        finally:
            watcher.called(self._ask, decider.totals)
