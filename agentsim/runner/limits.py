"""Limits: whether and when a call of a run may be made.

`Budget` counts calls, US dollars and seconds; what a call costs is `models.prices`. `CircuitBreaker` counts decisions
in a row that a provider failed; which errors count is `models.faults`. `Warming` lets one call of a wave fill a prompt
cache that the others meet. `Limits.admitted` asks all of them, a provider's slots and the rate limiter of the host
(`models.rate_limiter`) for one call.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

from agentsim.engine.play import Ask
from agentsim.engine.prompt import TOKEN_BYTES
from agentsim.engine.wording import counted
from agentsim.errors import BudgetReached, ModelError, ProviderRejected, ProviderStopped
from agentsim.history.journal import Journal
from agentsim.models.base import AS_ASKED, Attempt, Fault, Message, Usage, fault_of
from agentsim.models.faults import UNACCEPTED, may_be_the_prompt
from agentsim.models.negotiation import cap_under
from agentsim.models.prices import Prices, longest_reply, most_tokens
from agentsim.players.model import ModelPlayer

T = TypeVar("T")
_DUST_USD = 1e-9  # what adding binary fractions may leave above a limit that is exactly reached


class Budget:
    """Calls, US dollars and seconds spent; dollars are also reserved by the calls in flight.

    The seconds are wall clock, from when this is made. `within` is a budget that several games share: what is
    admitted here is admitted there as well.
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
        self._settled = asyncio.Event()
        self._clock, self._started = clock, clock()

    async def admit(self, worst_case_usd: float) -> None:
        """Reserve one call of at most this cost; raises `BudgetReached` where a limit would be passed.

        What calls in flight have reserved is not spent: where only that stands in the way, it is waited for, so
        that how many calls run at once does not decide whether the budget is reached.
        """
        self.check_time()
        if self.max_calls is not None and self.calls + 1 > self.max_calls:
            raise BudgetReached(f"limits.max_calls = {self.max_calls} is reached")
        while self._passes(self.reserved_usd + worst_case_usd):
            if self._passes(worst_case_usd):
                raise BudgetReached(
                    f"limits.max_cost_usd = {self.max_cost_usd:g} is reached: {self.cost_usd:.4f} spent, "
                    f"and the next call reserves {worst_case_usd:.4f}"
                )
            self._settled.clear()
            await self._settled.wait()
        self.calls += 1
        self.reserved_usd += worst_case_usd
        if self._within is not None:
            try:
                await self._within.admit(worst_case_usd)
            except BaseException:
                self.calls -= 1
                self._release(worst_case_usd)
                raise

    def settle(self, worst_case_usd: float, cost_usd: float | None, *, sent: bool = True) -> None:
        """A call is over: its reservation becomes what it really cost (None: it failed). One never sent is no call."""
        self.calls -= not sent
        self.cost_usd += cost_usd or 0.0
        self._release(worst_case_usd)
        if self._within is not None:
            self._within.settle(worst_case_usd, cost_usd, sent=sent)

    def add_earlier(self, calls: int, cost_usd: float, wall_s: float = 0.0) -> None:
        """Count what earlier processes spent on the same run; whoever made a shared budget counts it there."""
        self.calls += calls
        self.cost_usd += cost_usd
        self._started -= wall_s

    def check_time(self) -> None:
        """Raise `BudgetReached` where the run has had its time; also asked when an admitted call's turn comes."""
        if self.left_s() == 0:
            raise self.out_of_time()

    def left_s(self) -> float | None:
        """Seconds until the run has had its time; None where it has all there is."""
        return None if self.max_wall_s is None else max(0.0, self.max_wall_s - self._played_s())

    def out_of_time(self) -> BudgetReached:
        """The error of a run that has had its time."""
        return BudgetReached(f"limits.max_wall_s = {self.max_wall_s:g} is reached: {self._played_s():.1f} s played")

    async def in_time(self, waiting: Awaitable[T]) -> T:
        """What is waited for; `BudgetReached` where the run's time is over before that."""
        try:
            async with asyncio.timeout(self.left_s()):
                return await waiting
        except TimeoutError:
            raise self.out_of_time() from None

    async def rest(self, seconds: float) -> None:
        """Wait so long; `BudgetReached` where the run's time is over before that."""
        left = self.left_s()
        await asyncio.sleep(seconds if left is None else min(seconds, left))
        if left is not None and seconds >= left:
            raise self.out_of_time()

    def _played_s(self) -> float:
        return self._clock() - self._started

    def _passes(self, usd: float) -> bool:
        return self.max_cost_usd is not None and self.cost_usd + usd > self.max_cost_usd + _DUST_USD

    def _release(self, usd: float) -> None:
        self.reserved_usd = max(0.0, self.reserved_usd - usd)
        self._settled.set()


STREAK = 5
"""Decisions in a row that a provider may leave without an answer before it is asked no more."""
_TWICE = 2  # the first may be one decision's own limit; the second, with no answer between, is the model's


class Link(NamedTuple):
    """One model that may be asked for a request.

    A rejection is of one model, transport failures count for its provider.
    """

    name: str
    provider: str


class _Call(NamedTuple):
    link: Link
    fault: Fault | None
    error: ModelError | None  # of this process; an earlier one's is only counted
    held: bool
    doubtful: bool = False  # a refusal that may be about this prompt, or about every call of the model
    unaccepted: bool = False  # its host accepts no such request, whatever is left out


@dataclass
class _Place:
    """One request of the wave: who may be asked, in which order, and what came of it."""

    links: Sequence[Link]
    order: tuple[int, ...]
    calls: deque[_Call] = field(default_factory=deque)
    settled: bool = False
    rejected: set[int] = field(default_factory=set)  # links that rejected this very request
    silent: set[str] = field(default_factory=set)  # providers whose last call failed for transport reasons

    def take(self, call: _Call) -> None:
        """Add a call. An answer, also a bad one or a refusal, ends the silence of its provider; a wait does not."""
        self.calls.append(call)
        if call.fault == "transport":
            self.silent.add(call.link.provider)
        elif call.fault in {None, "refused"}:
            self.silent.discard(call.link.provider)


class CircuitBreaker:
    """Counts decisions in a row that a provider failed, and remembers which models were rejected.

    A provider fails a decision if its last call for it failed for transport reasons, however often it was tried. One
    that fails `STREAK` decisions in a row, or a model that is rejected, is not asked from the next wave on for requests
    that have another model. The run stops before a decision for which no other model is left, and before the first
    decision of the run if it gets no answer at all. It also stops where a model's host wants more time than a decision
    has (`held`), twice without an answer between: that limit holds for every call of the model. A refusal that may be
    about its prompt (`faults.may_be_the_prompt`) costs one decision if the model has answered before; if it never has,
    the model counts as rejected. Anything less costs one decision.

    Decisions are judged in the order of the requests, not of the replies: a wave's calls count as if they had been made
    one after another, so that how many run at once never decides whether a run stops, or who is asked in the next wave.
    Places are those of one wave's requests.

    With `on_failure="fallback"`, silence, held calls and requests that are not accepted cost decisions only; rejected
    models stop the run as always.
    """

    def __init__(self, on_failure: Literal["stop", "fallback"] = "stop") -> None:
        self._goes_on = on_failure == "fallback"
        self._answered: set[str] = set()  # providers
        self._answered_by: set[str] = set()  # models
        self._streak: Counter[str] = Counter()
        self._held: Counter[str] = Counter()  # by model
        self._last: dict[str, ModelError] = {}
        self._rejected: set[str] = set()
        self._places: list[_Place] = []
        self._judged = 0  # places before this one are settled and counted
        self._moved = asyncio.Event()

    def begin(self, asked: Sequence[Sequence[Link]]) -> None:
        """Begin a wave: for each request, in their order, the models that may be asked for it."""
        self._places = [_Place(links, self._order(links)) for links in asked]
        self._judged = 0

    def _order(self, links: Sequence[Link]) -> tuple[int, ...]:
        alive = tuple(index for index, link in enumerate(links) if self._lives(link))
        return alive or tuple(range(len(links)))

    def _lives(self, link: Link, here: _Place | None = None) -> bool:
        failed = self._streak[link.provider] if here is None else self._failed(link.provider, here)
        return failed < STREAK and link.name not in self._rejected

    def order(self, place: int) -> tuple[int, ...]:
        """Which of a request's models are asked, in order: those that were alive when the wave began; if none, all."""
        return self._places[place].order

    def add_earlier(self, place: int, attempt: Attempt, *, past: bool) -> None:
        """Count a call that an earlier process made for this request; it stops nothing.

        `past` failures are those before a provider stopped the run: it may have been mended since then. A limit mends
        itself, or holds: only an answer shows which.
        """
        links, held = self._places[place].links, attempt.held
        link = next((link for link in links if link.name == attempt.model), links[0])
        fault: Fault | None = "limited" if past and held else attempt.fault
        if attempt.completion is not None:
            fault = None
        elif fault is None or (past and not held):
            return
        doubtful = may_be_the_prompt(fault == "refused", attempt.code)
        self._places[place].take(_Call(link, fault, None, held, doubtful, attempt.code == UNACCEPTED))
        self._judge()

    def called(self, place: int, error: ModelError | None, link: int = 0, *, held: bool = False) -> None:
        """A call came back: with a completion (None) or an error.

        Raises `ProviderStopped` where no call can succeed, or the calls judged so far leave no model to ask.
        """
        here = self._places[place]
        if isinstance(error, ProviderRejected):
            here.rejected.add(link)
            if here.rejected.issuperset(here.order):
                raise ProviderStopped(f"{here.links[link].provider}: {error}") from None
        fault = None if error is None else fault_of(error)
        doubtful = error is not None and may_be_the_prompt(fault == "refused", error.code)
        unaccepted = error is not None and error.code == UNACCEPTED
        here.take(_Call(here.links[link], fault, error, held, doubtful, unaccepted))
        self._judge()

    def settled(self, place: int) -> None:
        """This request is decided; raises `ProviderStopped` where what waited behind it leaves no model to ask."""
        self._places[place].settled = True
        self._judge()

    def waits(self, place: int) -> bool:
        """Whether requests before this one are not decided yet."""
        return self._judged < place

    def is_silent(self, place: int) -> bool:
        """Return whether a provider's last call for this request failed for transport reasons."""
        return bool(self._places[place].silent)

    async def gave_up(self, place: int, *, late: bool = False) -> None:
        """Wait until everything before a decision that found no usable answer is decided, and judge it.

        Raises `ProviderStopped` if its providers have failed `STREAK` decisions with this one, or if they had not
        answered before. A decision that is `late` may have been answered in time, and is not judged as the first.
        """
        while self.waits(place):
            self._moved.clear()
            await self._moved.wait()
        here = self._places[place]
        if self._may_go_on(here):
            return
        seen_silent = [link.provider for link in here.links if link.provider in here.silent & self._last.keys()]
        if seen_silent and not any(self._lives(link, here) for link in here.links):
            row = f"no answer for {counted(self._failed(seen_silent[0], here), 'decision')} in a row"
            raise ProviderStopped(f"{seen_silent[0]}: {row}; the last: {self._last[seen_silent[0]]}") from None
        if not late and all(self._never_answered(link, here) for link in here.links):
            silent = next((link.provider for link in here.links if link.provider in self._last), here.links[0].provider)
            rejected = any(link.name in self._rejected for link in here.links)
            why = self._last.get(silent, "it is rejected" if rejected else "it had not answered when the run ended")
            raise ProviderStopped(f"{silent}: the first call failed: {why}") from None

    def _may_go_on(self, here: _Place) -> bool:
        return self._goes_on and any(link.name not in self._rejected for link in here.links)

    def _failed(self, provider: str, here: _Place) -> int:
        """Return how many decisions in a row a provider has failed, with the one at this place."""
        return self._streak[provider] + (provider in here.silent)

    def _never_answered(self, link: Link, here: _Place) -> bool:
        if link.name in self._rejected:
            return link.name not in self._answered_by
        return bool(self._failed(link.provider, here)) and link.provider not in self._answered

    def _judge(self) -> None:
        while self._judged < len(self._places):
            place = self._places[self._judged]
            while place.calls:
                self._count(place, place.calls.popleft())
            if not place.settled:
                return
            for provider in place.silent:
                self._streak[provider] += 1
            self._judged += 1
            self._moved.set()

    def _count(self, place: _Place, call: _Call) -> None:
        provider = call.link.provider
        if call.doubtful and (call.link.name in self._answered_by or (self._goes_on and call.unaccepted)):
            return
        match "rejected" if call.doubtful else call.fault:
            case None | "refused":
                self._answered.add(provider)
                self._answered_by.add(call.link.name)
                self._streak[provider] = self._held[call.link.name] = 0
                return
            case "limited" if not call.held:
                return
            case "rejected":
                self._rejected.add(call.link.name)
        self._held[call.link.name] += call.held
        if call.error is None:
            return
        self._last[provider] = call.error
        ended = call.held and self._held[call.link.name] >= _TWICE
        if not (ended or call.link.name in self._rejected) or self._may_go_on(place):
            return
        if any(self._lives(link) and not (call.held and self._held[link.name] >= _TWICE) for link in place.links):
            return
        why = "wants more time than rate_limit_patience_s, twice with no answer in between; the last: " if ended else ""
        raise ProviderStopped(f"{provider}: {why}{call.error}") from None


BLOCK = 1_024 * TOKEN_BYTES
"""Characters of a block: of less than 1,024 tokens OpenAI and Gemini cache nothing."""
KEPT_S = 300.0
"""Seconds since its last use for which a prefix is believed to be cached: the least that OpenAI promises."""


class Warming:
    """Lets one call of a wave go ahead, while those that begin as it does wait for its answer.

    A provider with a prompt cache bills a prefix that it has answered before at less, but not one that is only under
    way. Of a hundred calls that go out at once, none meets another's cache. Believed to be cached are whole blocks of
    the beginning of a prompt, by model. A call waits once at most. What a provider really took from its cache is what
    its answers say (`Usage.cached_tokens`).
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._cached: dict[int, float] = {}  # blocks and the times of their last use, the latest last
        self._under_way: dict[int, asyncio.Event] = {}

    @asynccontextmanager
    async def turn(self, model: str, messages: Sequence[Message], schema: Mapping[str, Any]) -> AsyncIterator[None]:
        """Wait for the call that is caching the next part of this prompt, if there is one; then make the call inside.

        However that call ends, those that wait for it go on.
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
        """Take what was not used for long as cached no more."""
        oldest = self._clock() - KEPT_S
        while self._cached and self._cached[first := next(iter(self._cached))] < oldest:
            del self._cached[first]


def _blocks(model: str, messages: Sequence[Message], schema: Mapping[str, Any]) -> Iterator[int]:
    """Yield a number for each whole block of a call's beginning, which stands for all before it as well."""
    before = hash((model, json.dumps(schema)))  # providers put the schema before the messages
    text = "".join(message.text for message in messages)
    for start in range(0, len(text) - BLOCK + 1, BLOCK):
        before = hash((before, text[start : start + BLOCK]))
        yield before


NOTICEABLE_S = 1.0
"""A call that waits for the rate limiter of its host for longer is told of."""


@dataclass
class AdmittedCall:
    """A call that goes out now; `usage` is what it used, set by whoever makes it once it is answered."""

    usage: Usage | None = None


class Limits:
    """What the calls of one run may use: its budget, the slots of each provider, hosts that still answer.

    `stopped` is what ended the run: no call goes out after it. A slot is of one provider, so that a busy one holds no
    calls to another.
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
        """Raise what stopped the run, or keeps its journal from being written."""
        self._journal.check()
        if self.stopped is not None:
            raise self.stopped

    @asynccontextmanager
    async def admitted(
        self, ask: Ask, player: ModelPlayer, messages: Sequence[Message], held: Callable[[], object]
    ) -> AsyncIterator[AdmittedCall]:
        """Wait until a model may be called; the call is made inside, and what it costs is counted behind it.

        The budget must allow for the dearest of the models that may take over as well. `held` is called if the rate
        limiter holds the call back for more than `NOTICEABLE_S`. Raises `BudgetReached`, or what stopped the run.
        """
        task = asyncio.current_task()
        async with AsyncExitStack() as turn:
            if player.warm:  # before it takes a slot, which the call that it waits for may need
                await turn.enter_async_context(self._warming.turn(player.name, messages, ask.request.schema()))
            await turn.enter_async_context(self._slots[player.provider])
            self.check()
            worst = self.worst_case(ask, player.links, messages)
            await self.budget.admit(worst)
            cost: float | None = None
            call = AdmittedCall()
            notice = asyncio.get_running_loop().call_later(NOTICEABLE_S, held)
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
                self.budget.settle(worst, cost, sent=task in self.in_flight)
                self.in_flight.discard(task)

    def cost(self, ask: Ask, player: ModelPlayer, messages: Sequence[Message], usage: Usage | None) -> float:
        """Return the US dollars of a call that used so much; the most that it can have cost if that is unknown."""
        if usage is None:
            return 0.0
        return self.worst_case(ask, [player], messages) if usage.cost_usd is None else usage.cost_usd

    def worst_case(self, ask: Ask, players: Sequence[ModelPlayer], messages: Sequence[Message]) -> float:
        """Return the US dollars that a call of the dearest of them can cost; 0 if no limit asks for it."""
        if self.budget.max_cost_usd is None:
            return 0.0
        prompt = most_tokens((*(message.text for message in messages), json.dumps(ask.request.schema())))
        negotiated = self._journal.contents.negotiated
        caps = {each.name: cap_under(negotiated.get(each.name, AS_ASKED), each.sampling.max_tokens) for each in players}
        return max(self._prices.estimate(name, prompt, longest_reply(name, cap)) or 0.0 for name, cap in caps.items())
