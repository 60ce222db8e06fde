"""Dispatcher: where requests are answered. It knows which player decides what, and admits every single call.

A call is admitted by its provider's slots, the run's budget and the rate limiter of its host; then it is in flight.
How replies become decisions is `referee`; the order in which decisions reach the rules is `drive`.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agentsim.engine.decision import Decision
from agentsim.engine.play import Ask, GamePlay, Wave
from agentsim.errors import AgentsimError, ModelError, RunStopped
from agentsim.history.journal import TICK_DEADLINE, DecisionRecord, Journal
from agentsim.history.record import Branch, Totals
from agentsim.models.attempts import Attempts, held
from agentsim.models.base import AS_ASKED, Attempt, Completion, Message, Usage
from agentsim.models.negotiation import cap_under, words_of
from agentsim.models.prices import Prices, longest_reply, most_tokens
from agentsim.players.human import HumanPlayer
from agentsim.players.model import BotPlayer, ModelPlayer, Player, diagnostics
from agentsim.players.web import NO_ANSWER, WITHDRAWN, WebPlayer, Withdrawn
from agentsim.runner.admission import Budget, CircuitBreaker, Link
from agentsim.runner.referee import deadline, decision_record_of, fallen_back, rule, unanswered
from agentsim.runner.warming import Warming
from agentsim.runner.watcher import Watcher

Seat: TypeAlias = Player | BotPlayer
Gate: TypeAlias = Callable[[Ask], Awaitable[None]]
"""Is awaited before each decision that is not on record: the player is asked when it returns."""
Before: TypeAlias = Callable[[GamePlay, Wave], Awaitable[Wave]]
"""Is awaited before each wave, and gives the one that is to be decided: see `GamePlay.steered`."""
NOTICEABLE_S = 1.0
"""A watcher is told of a call that waits for its slot for longer."""
UNSYNCED_S = 0.05
"""What was paid for is on the disk after this time at the latest: a kill loses none of it, a loss of power may."""


@dataclass
class Dispatcher:
    """Answers asks with decisions; `totals` counts every call, of unfinished decisions too, but none of a parent run.

    `decisions` grows with every decision.
    """

    seats: Mapping[str, Seat]
    journal: Journal
    decisions: list[DecisionRecord]
    budget: Budget
    prices: Prices
    concurrency: int
    watcher: Watcher
    branch: Branch | None = None
    tick_deadline_s: float | None = None
    on_provider_failure: Literal["stop", "fallback"] = "stop"
    gate: Gate | None = None
    before: Before | None = None

    def __post_init__(self) -> None:
        self.breaker = CircuitBreaker(self.on_provider_failure)
        self.warming = Warming()
        self.totals = Totals()
        self.stopped: Exception | None = None  # what ended the run; decisions under way follow
        self.in_flight: set[asyncio.Task[Any] | None] = set()
        # no prompt tells staff of the game; the screen does
        people = (player for player, seat in self.seats.items() if isinstance(seat, HumanPlayer))
        self.people = {player for player in people if not player.startswith("@")}
        # calls that a provider takes at once: a busy one holds no calls to another
        self.slots: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(self.concurrency))
        self._places: Mapping[int, int] = {}
        self._warned: set[tuple[str, str]] = set()
        self._hosts: dict[str, str] = {}  # which answered first, by model
        self._sync_due: asyncio.TimerHandle | None = None
        self._tick_ends: float | None = None  # in the event loop's time

    def asks_person(self, wave: Wave) -> bool:
        """Whether a person is among those asked."""
        return any(ask.request.player in self.people for ask in wave.asks)

    def wave(self, asks: Sequence[Ask]) -> None:
        """A wave's requests are about to be settled; what those on record met counts for the others."""
        asked = [ask for ask in asks if not isinstance(self.seats[ask.request.player], BotPlayer)]
        if self.tick_deadline_s is not None:
            self._tick_ends = asyncio.get_running_loop().time() + self.tick_deadline_s
        self._places = {ask.place: order for order, ask in enumerate(asked)}
        self.breaker.wave([[Link(link.name, link.provider) for link in self._player(ask).links] for ask in asked])
        recorded = self.journal.contents
        for place, ask in enumerate(asked):
            key = (ask.wave, ask.place)
            entry = recorded.decisions.get(key)
            for attempt in recorded.open_attempts(*key) if entry is None else entry.attempts:
                self.breaker.recalled(place, attempt, past=key in recorded.forgiven)
            if entry is not None:
                self.breaker.settled(place)
            player = self._player(ask)
            inherited = self.branch is not None and self.branch.inherits(ask.wave, ask.index)  # its parent has paid
            if isinstance(player, ModelPlayer) and not inherited:
                # a call of an earlier process counts against the run's limits, and is shown
                for attempt in recorded.calls(*key):
                    self.totals.add_call(attempt)
                    self.budget.spent(1, self.cost(ask, player.linked(attempt.model), attempt.messages, attempt.usage))

    def _player(self, ask: Ask) -> Player:
        player = self.seats[ask.request.player]
        assert not isinstance(player, BotPlayer), "bots decide at once, without a dispatcher"
        return player

    async def settle(self, ask: Ask) -> Decision:
        """Have one request of the wave decided by its player, and journal the decision.

        It is on its way to the disk; the rules may not see it before `journal.sync()`. Raises `RunStopped` also where
        what waited for this decision ends the run.
        """
        player, place = self._player(ask), self._places[ask.place]
        try:
            clock, tick_ends = asyncio.get_running_loop().time, self._tick_ends
            if self.gate is not None:
                held_since = clock()
                await self.gate(ask)
                if tick_ends is not None:  # a pause uses up none of the moment's time
                    tick_ends += clock() - held_since
            earlier = self.journal.contents.open_attempts(ask.wave, ask.place)
            ends, code = deadline(player, tick_ends)
            try:
                async with asyncio.timeout_at(ends) as tick:
                    ruling = await rule(ask, player, _DecisionCalls(self, ask, player, place, tick), earlier)
            except (TimeoutError, Withdrawn) as ended:
                if isinstance(ended, TimeoutError) and not tick.expired():
                    raise
                code = WITHDRAWN if isinstance(ended, Withdrawn) else code
                ruling = fallen_back(ask, self.journal.contents.open_attempts(ask.wave, ask.place), code)
            late = ruling.fallback_reason == TICK_DEADLINE
            if self.breaker.is_silent(place) if late else ruling.fallback_reason not in {None, NO_ANSWER, WITHDRAWN}:
                if self.breaker.waits(place):
                    self.check()  # or it would wait for requests that are asked no more
                await self.breaker.gave_up(place, late=late)
            entry = decision_record_of(ask, ruling)
            self.journal.decided(entry, sync=True)
            self.sync_soon()
            self.decisions.append(entry)
            self.watcher.decided(entry)
            self.breaker.settled(place)
        except Exception as error:  # also a mistake of ours: no decision may wait for what will not come
            self.stopped = self.stopped or error
            raise
        return ruling.decision

    def check(self) -> None:
        """Raise what stopped the run, or keeps its journal from being written."""
        self.journal.check()
        if self.stopped is not None:
            raise self.stopped

    def sync_soon(self) -> None:
        """What was just journaled is synced with what else comes in a moment."""
        if self._sync_due is None:
            self._sync_due = asyncio.get_running_loop().call_later(UNSYNCED_S, self._sync)

    def _sync(self) -> None:
        self._sync_due = None
        with suppress(AgentsimError):  # the journal remembers, and says so at the end of the wave at the latest
            self.journal.sync()

    def answered(self, player: ModelPlayer, attempt: Attempt, completion: Completion) -> None:
        """Count a call that brought a completion, and say what is to be said of its model once.

        A completion comes with the newest terms of its model, which may be those of the scenario again.
        """
        self.totals.add_call(attempt)
        self.diagnose(player, attempt)
        terms, known = completion.terms or AS_ASKED, self.journal.contents.negotiated.get(player.name, AS_ASKED)
        if terms != known:
            self.journal.negotiated(player.name, terms)
            for words in words_of(terms, known):
                if (words, player.name) not in self._warned:
                    self._warned.add((words, player.name))
                    self.watcher.warned(f"{player.name}: {words}")

    def diagnose(self, player: ModelPlayer, attempt: Attempt) -> None:
        """Warn once of each thing that is strange about the calls of a model."""
        for diagnostic in diagnostics(player.model.name, attempt, self._hosts):
            if (diagnostic.code, diagnostic.model) not in self._warned:
                self._warned.add((diagnostic.code, diagnostic.model))
                self.watcher.warned(diagnostic.message)

    def cost(self, ask: Ask, player: ModelPlayer, messages: Sequence[Message], usage: Usage | None) -> float:
        """US dollars of a call that used so much; the most that it can have cost where that is unknown."""
        if usage is None:
            return 0.0
        return self.worst_case(ask, [player], messages) if usage.cost_usd is None else usage.cost_usd

    def worst_case(self, ask: Ask, players: Sequence[ModelPlayer], messages: Sequence[Message]) -> float:
        """US dollars that a call of the dearest of them can cost; 0 where no limit asks for it."""
        if self.budget.max_cost_usd is None:
            return 0.0
        prompt = most_tokens((*(message.text for message in messages), json.dumps(ask.request.schema())))
        negotiated = self.journal.contents.negotiated
        caps = {each.name: cap_under(negotiated.get(each.name, AS_ASKED), each.sampling.max_tokens) for each in players}
        return max(self.prices.estimate(name, prompt, longest_reply(name, cap)) or 0.0 for name, cap in caps.items())


class _DecisionCalls:
    """The calls of one decision, each admitted before it is made: see `referee.Calls`."""

    def __init__(self, dispatcher: Dispatcher, ask: Ask, player: Player, place: int, tick: asyncio.Timeout) -> None:
        self._dispatcher, self._ask, self._player, self._place = dispatcher, ask, player, place
        self._tick = tick
        self.order = dispatcher.breaker.order(place)

    def keep(self, attempt: Attempt) -> None:
        self._dispatcher.journal.tried(self._ask.wave, self._ask.place, self._ask.request.player, [attempt])
        self._dispatcher.sync_soon()
        self._dispatcher.totals.takeovers += attempt.takeover

    async def rest(self, seconds: float) -> None:
        self._dispatcher.check()
        await self._dispatcher.budget.rest(seconds)

    async def call(self, messages: tuple[Message, ...], number: int, link: int, used: Attempts) -> Completion:
        player = self._player.links[link]
        if isinstance(player, WebPlayer):
            return await player.reply(self._ask, messages, number)
        if isinstance(player, HumanPlayer):  # a person takes no slot, no money and all the time there is
            if (unasked := player.unasked(self._ask)) is not None:
                return unasked
            watcher = self._dispatcher.watcher
            async with player.terminal.turn:
                watcher.person(asked=True)
                try:
                    return await player.reply(self._ask, messages, number)
                finally:
                    watcher.person(asked=False)
        assert isinstance(player, ModelPlayer), "a seat is a model's, a person's or a bot's"
        async with AsyncExitStack() as turn:
            if player.warm:  # before it takes a slot, which the call that it waits for may need
                await turn.enter_async_context(
                    self._dispatcher.warming.turn(player.name, messages, self._ask.request.schema())
                )
            await turn.enter_async_context(self._dispatcher.slots[player.provider])
            self._dispatcher.check()
            return await self._model_call(player, messages, number, link, used)

    async def _model_call(
        self, player: ModelPlayer, messages: tuple[Message, ...], number: int, link: int, used: Attempts
    ) -> Completion:
        dispatcher, ask, budget = self._dispatcher, self._ask, self._dispatcher.budget
        # The dearest of the models that may still be asked: one that takes over should be affordable then.
        worst = dispatcher.worst_case(ask, player.links, messages)
        await budget.admit(worst)
        cost: float | None = None
        named = player.name if len(self._player.links) > 1 else None
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        started = loop.time()
        notice = loop.call_later(NOTICEABLE_S, dispatcher.watcher.held, ask)
        try:
            with await budget.in_time(player.slot(messages)) as slot:
                dispatcher.check()  # the run may have been stopped while the call waited for its slot
                budget.check_time()
                notice.cancel()
                dispatcher.in_flight.add(task)
                dispatcher.watcher.calling(ask)
                completion = await player.reply(ask, messages, number)
                slot.used(completion.usage.tokens)
            cost = dispatcher.cost(ask, player, messages, completion.usage)
            dispatcher.answered(player, Attempt(messages, completion=completion), completion)
            dispatcher.breaker.called(self._place, None, link)
        except ModelError as error:
            attempt = Attempt.failed(messages, error, model=named, held=held(error, player.attempts, used))
            cost = dispatcher.cost(ask, player, messages, attempt.usage)
            self._failed(player, attempt, link, error)
            raise
        except asyncio.CancelledError:
            if self._tick.expired() and task in dispatcher.in_flight:  # it was sent, and may have to be paid
                attempt = unanswered(messages, loop.time() - started, named)
                dispatcher.totals.add_call(attempt)
                self.keep(attempt)
            raise
        finally:
            notice.cancel()
            sent = task in dispatcher.in_flight
            budget.settle(worst, cost, sent=sent)
            if sent:
                dispatcher.in_flight.discard(task)
                dispatcher.watcher.called(ask, dispatcher.totals)
            else:
                dispatcher.watcher.counted(dispatcher.totals)  # it never went out
        return completion

    def _failed(self, player: ModelPlayer, attempt: Attempt, link: int, error: ModelError) -> None:
        self._dispatcher.totals.add_call(attempt)
        self._dispatcher.diagnose(player, attempt)
        self._dispatcher.watcher.waiting(self._ask, str(error))
        try:
            self._dispatcher.breaker.called(self._place, error, link, held=attempt.held)
        except RunStopped:
            self.keep(attempt)  # the decision is not made, and its referee keeps nothing more
            raise
