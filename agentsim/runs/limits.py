"""CallLimits: whether and when a call of a run may be made.

`Budget` counts calls, US dollars and seconds; `models.prices` knows what a call costs. `CircuitBreaker` counts
consecutive decisions that a provider failed or refused alike; `models.faults` classifies the errors. `Warming` lets one
call of a wave fill a prompt cache for the others. `CallLimits.admitted` applies all of them to one call, with the
provider's slots and the rate limiter of its host (`models.pacing`).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field
from typing import Any, Literal, NamedTuple, TypeVar

from agentsim.engine.request import Ask
from agentsim.engine.wording import TOKEN_BYTES, counted
from agentsim.errors import BudgetReached, ModelError, ProviderRejected, ProviderStopped
from agentsim.lazy import dataclass
from agentsim.models.base import UNADJUSTED, Attempt, Fault, Message, Usage, fault_of
from agentsim.models.faults import UNACCEPTED, ErrorKind, error_kind, may_be_the_prompt
from agentsim.models.prices import Prices, longest_reply, most_tokens
from agentsim.models.remote import cap_under
from agentsim.players.model import ModelPlayer
from agentsim.records.journal import Journal

T = TypeVar("T")
_ROUNDING_USD = 1e-9  # the rounding error of a sum of floats that exactly reaches a limit


class Budget:
    """The calls, US dollars and seconds that are spent; calls in flight also reserve dollars.

    The seconds are wall-clock time since the budget was made. `within` is a budget that several games share: it must
    admit each call too.
    """

    def __init__(
        self,
        max_calls: int | None = None,
        max_cost_usd: float | None = None,
        max_wall_s: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        within: Budget | None = None,
    ) -> None:
        self.max_calls, self.max_cost_usd, self.max_wall_s = max_calls, max_cost_usd, max_wall_s
        self.calls, self.cost_usd = 0, 0.0
        self._within = within
        self.reserved_usd = 0.0
        self._released = asyncio.Event()
        self._clock, self._started = clock, clock()

    async def admit(self, worst_case_usd: float) -> None:
        """Reserve one call that costs at most `worst_case_usd`. Raises `BudgetReached` if a limit would be passed.

        If only reservations of calls in flight stand in the way, wait until they are released, so that the number of
        concurrent calls does not decide whether the budget is reached.
        """
        self.check_time()
        self._check_calls()
        while self._passes(self.reserved_usd + worst_case_usd):
            if self._passes(worst_case_usd):
                raise BudgetReached(
                    f"limits.max_cost_usd = {self.max_cost_usd:g} is reached: {self.cost_usd:.4f} spent, "
                    f"and the next call reserves {worst_case_usd:.4f}"
                )
            self._released.clear()
            await self._released.wait()
            self._check_calls()  # others that waited may have gone out
        self.calls += 1
        self.reserved_usd += worst_case_usd
        if self._within is not None:
            try:
                await self._within.admit(worst_case_usd)
            except BaseException:
                self.calls -= 1
                self._release(worst_case_usd)
                raise

    def _check_calls(self) -> None:
        if self.max_calls is not None and self.calls + 1 > self.max_calls:
            raise BudgetReached(f"limits.max_calls = {self.max_calls} is reached")

    def charge(self, worst_case_usd: float, cost_usd: float | None, *, sent: bool = True) -> None:
        """Replace a call's reservation by its cost. A call that was never sent is not counted.

        A cost of None counts as 0.
        """
        self.calls -= not sent
        self.cost_usd += cost_usd or 0.0
        self._release(worst_case_usd)
        if self._within is not None:
            self._within.charge(worst_case_usd, cost_usd, sent=sent)

    def add_earlier(self, calls: int, cost_usd: float, wall_s: float = 0.0) -> None:
        """Add what earlier processes spent on the same run; the owner of a shared budget adds it there."""
        self.calls += calls
        self.cost_usd += cost_usd
        self._started -= wall_s

    def check_time(self) -> None:
        """Raise `BudgetReached` if the run's time is used up."""
        if self.left_s() == 0:
            raise self.out_of_time()

    def left_s(self) -> float | None:
        """Return the seconds until the run's time is used up, or None if it has no time limit."""
        return None if self.max_wall_s is None else max(0.0, self.max_wall_s - self._played_s())

    def out_of_time(self) -> BudgetReached:
        """Return the error for a run whose time is used up."""
        return BudgetReached(f"limits.max_wall_s = {self.max_wall_s:g} is reached: {self._played_s():.1f} s played")

    async def in_time(self, waiting: Awaitable[T]) -> T:
        """Await and return a result. Raises `BudgetReached` if the run's time is used up first."""
        try:
            async with asyncio.timeout(self.left_s()):
                return await waiting
        except TimeoutError:
            raise self.out_of_time() from None

    async def sleep(self, seconds: float) -> None:
        """Sleep for `seconds`. Raises `BudgetReached` if the run's time is used up first."""
        left = self.left_s()
        await asyncio.sleep(seconds if left is None else min(seconds, left))
        if left is not None and seconds >= left:
            raise self.out_of_time()

    def _played_s(self) -> float:
        return self._clock() - self._started

    def _passes(self, usd: float) -> bool:
        return self.max_cost_usd is not None and self.cost_usd + usd > self.max_cost_usd + _ROUNDING_USD

    def _release(self, usd: float) -> None:
        self.reserved_usd = max(0.0, self.reserved_usd - usd)
        self._released.set()


STREAK = 5
"""Consecutive decisions that a provider may leave without an answer, or refuse alike, before it is skipped."""
_MOST_IMPATIENT = 2  # the first may be the limit of one decision; the second, with no answer between, is the model's


class ModelId(NamedTuple):
    """One model that may be asked for a request.

    Rejections count for the model, transport failures for its provider.
    """

    name: str
    provider: str


class _Call(NamedTuple):
    model: ModelId
    fault: Fault | None
    error: ModelError | None  # None for calls of earlier processes, which are only counted
    exceeds_patience: bool
    unclear: ErrorKind | None = None  # of an error that may be about this prompt, or about every call of the model
    unaccepted: bool = False  # the host accepts no such request, whatever is left out of it


@dataclass
class _RequestCalls:
    """One request of the wave: the models that may be asked, their order, and the results of the calls."""

    models: Sequence[ModelId]
    order: tuple[int, ...]
    calls: deque[_Call] = field(default_factory=deque)
    decided: bool = False  # no call follows
    rejected: set[int] = field(default_factory=set)  # indices of the models that rejected this very request
    unreachable: set[str] = field(default_factory=set)  # providers whose last call was a transport failure
    unclear: dict[str, _Call] = field(default_factory=dict)  # the last call of each model, if its error was unclear

    def add(self, call: _Call) -> None:
        """Add a call. Any reply, also a bad one or a refusal, shows that its provider is reachable."""
        self.calls.append(call)
        if call.unclear is not None:
            self.unclear[call.model.name] = call
        elif call.fault in {None, "refused"}:
            self.unclear.pop(call.model.name, None)
        if call.fault == "transport":
            self.unreachable.add(call.model.provider)
        elif call.fault in {None, "refused"}:
            self.unreachable.discard(call.model.provider)


class CircuitBreaker:
    """A counter of consecutive decisions that each provider failed, and of the models that were rejected.

    A provider fails a decision if its last call for it failed for transport reasons, regardless of the number of
    attempts. A provider that fails `STREAK` decisions in a row, or a model that is rejected, is skipped from the next
    wave on for requests that have another model. The run stops before a decision for which no other model is left, and
    before a decision none of whose providers has ever answered if it gets no answer. It also stops if a model's host
    wants more time than a decision has (`exceeds_patience`), twice without an answer between: that limit holds for
    every call of the model. An error that may be about its prompt (`faults.may_be_the_prompt`) costs one decision if
    the model has answered before; if it never has, the model counts as rejected. If such errors of one
    kind (`faults.error_kind`) fail `STREAK` decisions of a model in a row, without an answer between, the prompts are
    not the cause: it is skipped, and the run stops, as if its provider had not answered. Other failures cost one
    decision.

    Decisions are judged in the order of the requests, not of the replies: the calls of a wave count as if they had been
    made one after another, so that concurrency never decides whether a run stops, or which models the next wave asks.
    An index is the position of a request in the current wave.

    With `on_failure="fallback"`, unreachable providers, calls that exceed patience, requests that are not accepted and
    unclear errors cost decisions only; rejected models still stop the run.
    """

    def __init__(self, on_failure: Literal["stop", "fallback"] = "stop") -> None:
        self._falls_back = on_failure == "fallback"
        self._answered: set[str] = set()  # providers
        self._answered_by: set[str] = set()  # models
        self._streak: Counter[str] = Counter()
        self._impatient: Counter[str] = Counter()  # by model
        self._unclear: dict[str, tuple[ErrorKind, int]] = {}  # consecutive decisions failed by one kind of error
        self._last: dict[str, ModelError] = {}
        self._rejected: set[str] = set()
        self._requests: list[_RequestCalls] = []
        self._judged = 0  # requests before this one are decided and counted
        self._moved = asyncio.Event()  # set when `_judged` grows

    def begin_wave(self, asked: Sequence[Sequence[ModelId]]) -> None:
        """Begin a wave: `asked` has the models that may be asked for each request, in the order of the requests."""
        self._requests = [_RequestCalls(models, self._order(models)) for models in asked]
        self._judged = 0

    def _order(self, models: Sequence[ModelId]) -> tuple[int, ...]:
        alive = tuple(index for index, model in enumerate(models) if self._is_available(model))
        return alive or tuple(range(len(models)))

    def _is_available(self, model: ModelId, here: _RequestCalls | None = None) -> bool:
        """Return whether a model may still be asked: it is not rejected, and no streak of failures has ended it."""
        failed = self._streak[model.provider] if here is None else self._failed(model.provider, here)
        return max(failed, self._failed_alike(model.name, here)) < STREAK and model.name not in self._rejected

    def order(self, index: int) -> tuple[int, ...]:
        """Return which of a request's models to ask, in order: those alive when the wave began, or all if none was."""
        return self._requests[index].order

    def add_earlier(self, index: int, attempt: Attempt, *, before_stop: bool) -> None:
        """Count a call that an earlier process made for this request. It never stops the run.

        Failures `before_stop` came before a provider stopped the run: the cause may be fixed since. They do not count,
        except that calls that exceed patience are counted as rate limits, because only an answer shows whether such a
        limit still holds.
        """
        models, impatient = self._requests[index].models, attempt.exceeds_patience
        model = next((model for model in models if model.name == attempt.model), models[0])
        fault: Fault | None = "limited" if before_stop and impatient else attempt.fault
        if attempt.completion is not None:
            fault = None
        elif fault is None or (before_stop and not impatient):
            return
        unclear = None
        if may_be_the_prompt(fault == "refused", attempt.code):
            unclear = error_kind(attempt.code, attempt.status, attempt.error or "")
        self._requests[index].add(_Call(model, fault, None, impatient, unclear, attempt.code == UNACCEPTED))
        self._judge()

    def count_call(
        self, index: int, error: ModelError | None, model: int = 0, *, exceeds_patience: bool = False
    ) -> None:
        """Count a call that returned a completion (`error` is None) or failed.

        Raises `ProviderStopped` if no call for this request can succeed, or if the calls judged so far leave no model
        to ask.
        """
        here = self._requests[index]
        if isinstance(error, ProviderRejected):
            here.rejected.add(model)
            if here.rejected.issuperset(here.order):
                raise ProviderStopped(f"{here.models[model].provider}: {error}") from None
        fault = None if error is None else fault_of(error)
        unclear = None
        if error is not None and may_be_the_prompt(fault == "refused", error.code):
            unclear = error_kind(error.code, error.status, str(error))
        unaccepted = error is not None and error.code == UNACCEPTED
        here.add(_Call(here.models[model], fault, error, exceeds_patience, unclear, unaccepted))
        self._judge()

    def mark_decided(self, index: int) -> None:
        """Mark a request as decided. Raises `ProviderStopped` if the calls judged after it leave no model to ask."""
        self._requests[index].decided = True
        self._judge()

    def waits_for_earlier(self, index: int) -> bool:
        """Return whether requests before this one are undecided."""
        return self._judged < index

    def is_unreachable(self, index: int) -> bool:
        """Return whether any provider's last call for this request failed for transport reasons."""
        return bool(self._requests[index].unreachable)

    async def stop_if_unavailable(self, index: int, *, late: bool = False) -> None:
        """Wait until all requests before one that got no usable answer are decided, then judge it.

        Raises `ProviderStopped` if its providers have failed `STREAK` decisions with this one, or its models as
        many by one kind of error, or if they had not answered before. A `late` decision, which fell back at its
        deadline, is exempt from the last rule.
        """
        while self.waits_for_earlier(index):
            self._moved.clear()
            await self._moved.wait()
        here = self._requests[index]
        if self._may_go_on(here):
            return
        seen_unreachable = [
            model.provider for model in here.models if model.provider in here.unreachable & self._last.keys()
        ]
        alive = any(self._is_available(model, here) for model in here.models)
        for model in () if alive else here.models:
            last, count = here.unclear.get(model.name), self._failed_alike(model.name, here)
            if last is not None and last.error is not None and count >= STREAK:
                row = f"refuses {counted(count, 'decision')} in a row alike, whatever the prompt"
                raise ProviderStopped(f"{model.provider}: {row}; the last: {last.error}") from None
        if seen_unreachable and not alive:
            row = f"no answer for {counted(self._failed(seen_unreachable[0], here), 'decision')} in a row"
            raise ProviderStopped(
                f"{seen_unreachable[0]}: {row}; the last: {self._last[seen_unreachable[0]]}"
            ) from None
        if not late and all(self._never_answered(model, here) for model in here.models):
            provider = next(
                (model.provider for model in here.models if model.provider in self._last), here.models[0].provider
            )
            rejected = any(model.name in self._rejected for model in here.models)
            why = self._last.get(provider, "it is rejected" if rejected else "it had not answered when the run ended")
            raise ProviderStopped(f"{provider}: the first call failed: {why}") from None

    def _may_go_on(self, here: _RequestCalls) -> bool:
        """Return whether a failure of this request costs its decision only (`on_failure="fallback"`)."""
        return self._falls_back and any(model.name not in self._rejected for model in here.models)

    def _failed(self, provider: str, here: _RequestCalls) -> int:
        """Return how many consecutive decisions a provider has failed, with this one."""
        return self._streak[provider] + (provider in here.unreachable)

    def _failed_alike(self, model: str, here: _RequestCalls | None) -> int:
        """Return how many consecutive decisions a model has failed by one kind of unclear error, with this one."""
        kind, count = self._unclear.get(model, (None, 0))
        last = None if here is None else here.unclear.get(model)
        if last is None:
            return count
        return count + 1 if last.unclear == kind else 1

    def _never_answered(self, model: ModelId, here: _RequestCalls) -> bool:
        if model.name in self._rejected:
            return model.name not in self._answered_by
        return bool(self._failed(model.provider, here)) and model.provider not in self._answered

    def _judge(self) -> None:
        while self._judged < len(self._requests):
            request = self._requests[self._judged]
            while request.calls:
                self._count(request, request.calls.popleft())
            if not request.decided:
                return
            for provider in request.unreachable:
                self._streak[provider] += 1
            for model, call in request.unclear.items():
                assert call.unclear is not None, "only calls with unclear errors are kept"
                self._unclear[model] = call.unclear, self._failed_alike(model, request)
            self._judged += 1
            self._moved.set()

    def _count(self, request: _RequestCalls, call: _Call) -> None:
        provider = call.model.provider
        unclear = call.unclear is not None  # about this prompt, or about every call of the model
        if unclear and (call.model.name in self._answered_by or (self._falls_back and call.unaccepted)):
            return
        match "rejected" if unclear else call.fault:
            case None | "refused":
                self._answered.add(provider)
                self._answered_by.add(call.model.name)
                self._streak[provider] = self._impatient[call.model.name] = 0
                self._unclear.pop(call.model.name, None)
                return
            case "limited" if not call.exceeds_patience:
                return
            case "rejected":
                self._rejected.add(call.model.name)
        self._impatient[call.model.name] += call.exceeds_patience
        if call.error is None:
            return
        self._last[provider] = call.error
        ended = call.exceeds_patience and self._impatient[call.model.name] >= _MOST_IMPATIENT
        if not (ended or call.model.name in self._rejected) or self._may_go_on(request):
            return
        if any(
            self._is_available(model) and not (call.exceeds_patience and self._impatient[model.name] >= _MOST_IMPATIENT)
            for model in request.models
        ):
            return
        why = "wants more time than rate_limit_patience_s, twice with no answer in between; the last: " if ended else ""
        raise ProviderStopped(f"{provider}: {why}{call.error}") from None


BLOCK = 1_024 * TOKEN_BYTES
"""Characters of a cache block (1,024 tokens): OpenAI and Gemini cache no shorter prefixes."""
KEPT_S = 300.0
"""Seconds since its last use for which a prefix counts as cached: the least that OpenAI promises."""


class Warming:
    """A gate that lets one call of a wave go first, while calls with the same beginning wait for its answer.

    A provider with a prompt cache charges less for a prefix that it has answered before, but not for one that is still
    under way: of a hundred calls sent at once, none hits the cache. Whole blocks of the beginning of a prompt count as
    cached, by model. A call waits at most once. Answers report what the provider took from its cache
    (`Usage.cached_tokens`).
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._cached: dict[int, float] = {}  # blocks and the times of their last use, the latest last
        self._under_way: dict[int, asyncio.Event] = {}

    @asynccontextmanager
    async def turn(self, model: str, messages: Sequence[Message], schema: Mapping[str, Any]) -> AsyncIterator[None]:
        """Wait for the call that is caching the next part of this prompt, if there is one; make the call inside.

        The calls that wait for this one go on when it ends, also if it fails.
        """
        self._forget()
        blocks = list(_blocks(model, messages, schema))
        new = next((block for block in blocks if block not in self._cached), None)
        if new in self._under_way:
            await self._under_way[new].wait()
        own = [block for block in blocks if block not in self._cached and block not in self._under_way]
        over = asyncio.Event()
        self._under_way.update(dict.fromkeys(own, over))
        try:
            yield
            for block in blocks:
                self._cached.pop(block, None)
                self._cached[block] = self._clock()
        finally:
            for block in own:
                del self._under_way[block]
            over.set()

    def _forget(self) -> None:
        """Drop the blocks that were last used more than `KEPT_S` seconds ago."""
        oldest = self._clock() - KEPT_S
        while self._cached and self._cached[first := next(iter(self._cached))] < oldest:
            del self._cached[first]


def _blocks(model: str, messages: Sequence[Message], schema: Mapping[str, Any]) -> Iterator[int]:
    """Yield a hash for each whole block of a call's beginning; it depends on all blocks before it as well."""
    before = hash((model, json.dumps(schema)))  # providers put the schema before the messages
    text = "".join(message.text for message in messages)
    for start in range(0, len(text) - BLOCK + 1, BLOCK):
        before = hash((before, text[start : start + BLOCK]))
        yield before


NOTICEABLE_S = 1.0
"""Seconds that the rate limiter may hold a call back before the watcher is told."""


@dataclass
class AdmittedCall:
    """A call that is about to be sent; the caller sets `usage` when it is answered."""

    usage: Usage | None = None


class CallLimits:
    """The limits of one run's calls: its budget, the slots of each provider, its circuit breaker.

    `stopped` is the error that ended the run: no call is sent after it. Slots belong to one provider, so that a busy
    provider does not block calls to another.
    """

    def __init__(
        self,
        journal: Journal,
        budget: Budget,
        prices: Prices,
        concurrency: int,
        on_provider_failure: Literal["stop", "fallback"] = "stop",
    ) -> None:
        self._journal, self.budget, self._prices = journal, budget, prices
        self.breaker = CircuitBreaker(on_provider_failure)
        self.stopped: Exception | None = None
        self.in_flight: set[asyncio.Task[Any] | None] = set()
        self._warming = Warming()
        self._slots: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(concurrency))

    def check(self) -> None:
        """Raise the error that stopped the run, or the one that prevents writing to the journal."""
        self._journal.check()
        if self.stopped is not None:
            raise self.stopped

    @asynccontextmanager
    async def admitted(
        self, ask: Ask, player: ModelPlayer, messages: Sequence[Message], on_delay: Callable[[], object]
    ) -> AsyncIterator[AdmittedCall]:
        """Wait until a model may be called; the caller makes the call inside, and its cost is counted afterwards.

        The budget must allow for the most expensive of the models that could take over. `on_delay` is called if the
        call waits for more than `NOTICEABLE_S` seconds. Raises `BudgetReached`, or the error that stopped the run.
        """
        task = asyncio.current_task()
        async with AsyncExitStack() as turn:
            if player.warm:  # before it takes a slot, which the call that it waits for may need
                await turn.enter_async_context(self._warming.turn(player.name, messages, ask.request.schema()))
            await turn.enter_async_context(self._slots[player.provider])
            self.check()
            worst = self.worst_case(ask, player.chain, messages)
            await self.budget.admit(worst)
            cost: float | None = None
            call = AdmittedCall()
            notice = asyncio.get_running_loop().call_later(NOTICEABLE_S, on_delay)
            try:
                with await self.budget.in_time(player.slot(messages)) as slot:
                    self.check()  # the run may have been stopped while the call waited for its slot
                    self.budget.check_time()
                    notice.cancel()
                    self.in_flight.add(task)
                    yield call
                    assert call.usage is not None, "a call without an answer raises"
                    slot.used(call.usage.tokens)
                cost = self.cost(ask, player, messages, call.usage)
            except ModelError as error:
                cost = self.cost(ask, player, messages, error.usage if isinstance(error.usage, Usage) else None)
                raise
            finally:
                notice.cancel()
                self.budget.charge(worst, cost, sent=task in self.in_flight)
                self.in_flight.discard(task)

    def cost(self, ask: Ask, player: ModelPlayer, messages: Sequence[Message], usage: Usage | None) -> float:
        """Return the US dollars that a call cost; its worst case if the cost is unknown, 0 if the usage is."""
        if usage is None:
            return 0.0
        return self.worst_case(ask, [player], messages) if usage.cost_usd is None else usage.cost_usd

    def worst_case(self, ask: Ask, players: Sequence[ModelPlayer], messages: Sequence[Message]) -> float:
        """Return the most that a call to any of these players can cost in US dollars; 0 without a limit in dollars."""
        if self.budget.max_cost_usd is None:
            return 0.0
        prompt = most_tokens((*(message.text for message in messages), json.dumps(ask.request.schema())))
        negotiated = self._journal.contents.negotiated
        caps = {
            each.name: cap_under(negotiated.get(each.name, UNADJUSTED), each.sampling.max_tokens) for each in players
        }
        return max(self._prices.estimate(name, prompt, longest_reply(name, cap)) or 0.0 for name, cap in caps.items())
