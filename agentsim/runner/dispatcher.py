"""The dispatcher: where requests are answered. It knows who sits where, and what a call must ask leave of.

Slots, budget, health and prices meet here, around each single call. How replies become decisions is the
referee's business; the order in which decisions reach the rules is `drive`'s.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from agentsim.engine.play import Ask, Wave
from agentsim.engine.reading import Decision
from agentsim.errors import AgentsimError, ModelError, RunStopped
from agentsim.history.contents import Entry
from agentsim.history.diagnostics import diagnostics
from agentsim.history.journal import Journal
from agentsim.history.totals import Totals
from agentsim.models import tokens
from agentsim.models.attempts import Attempts, held
from agentsim.models.base import Attempt, Completion, Message, Usage
from agentsim.models.prices import Prices, longest_reply
from agentsim.players.base import Player
from agentsim.players.bot import BotPlayer
from agentsim.players.human import HumanPlayer
from agentsim.players.model import ModelPlayer
from agentsim.runner.budget import Budget
from agentsim.runner.circuit_breaker import CircuitBreaker
from agentsim.runner.collector import collect_meanwhile
from agentsim.runner.referee import rule, to_entry
from agentsim.runner.turns import Turns
from agentsim.runner.watch import Watcher
from agentsim.scenario.branch import Branch

__all__ = ["Dispatcher", "Seat"]

Seat: TypeAlias = Player | BotPlayer
UNSYNCED_S = 0.05
"""So long a decision, which a killed process leaves behind, may wait for the next ones before the disk is made to hold
it against a loss of power too; the rules see none before."""


@dataclass
class Dispatcher:
    """Answers asks with entries; `totals` counts every call, finished decisions or not, but not those of a parent."""

    seats: Mapping[str, Seat]
    journal: Journal
    budget: Budget
    prices: Prices
    concurrency: int
    watcher: Watcher
    branch: Branch | None = None

    def __post_init__(self) -> None:
        self.breaker = CircuitBreaker()
        self.totals = Totals()
        self.stopped: Exception | None = None  # what ended the run; whoever is still at it follows
        self.in_flight: set[asyncio.Task[Any] | None] = set()
        # staff is told of the game by nobody's prompt, and so by the screen
        seated = {player: seat for player, seat in self.seats.items() if not player.startswith("@")}
        self.people = {player for player, seat in seated.items() if isinstance(seat, HumanPlayer)}
        # Of each provider its own: who waits for one that is busy must not keep anybody from another.
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._turns = Turns(self.watcher.held)
        self._out: list[tuple[asyncio.Task[Any] | None, Ask, tuple[Message, ...]]] = []  # calls that have just left
        self._places: Mapping[int, int] = {}
        self._warned: set[tuple[str, str]] = set()
        self._sync_due: asyncio.TimerHandle | None = None
        self._asked = 0  # people who are asked now, or wait for their turn at the terminal

    def asks_person(self, wave: Wave) -> bool:
        """Whether a person is among those asked."""
        return bool(self.people) and any(ask.request.player in self.people for ask in wave.asks)

    def wave(self, asks: Sequence[Ask]) -> None:
        """A wave's requests are about to be settled, but for those on record: what these met counts for the others."""
        asked = [ask for ask in asks if not isinstance(self.seats[ask.request.player], BotPlayer)]
        self._places = {ask.place: order for order, ask in enumerate(asked)}
        self.breaker.wave([self._player(ask).links for ask in asked])
        recorded = self.journal.contents
        for place, ask in enumerate(asked):
            key = (ask.wave, ask.place)
            entry = recorded.entries.get(key)
            if entry is None and key not in recorded.tries:
                continue  # nothing of it is on record
            for attempt in recorded.open_tries(*key) if entry is None else entry.tries:
                answered = attempt.completion is not None
                past = key in recorded.forgiven
                self.breaker.recalled(
                    place, attempt.model, attempt.fault, answered=answered, past=past, held=attempt.held
                )
            if entry is not None:
                self.breaker.settled(place)
            if self.branch is not None and self.branch.inherits(ask.wave, ask.index):
                continue  # its parent has paid for it
            for attempt in recorded.calls(*key):
                if isinstance(player := self._player(ask), ModelPlayer):
                    self._count_earlier(ask, player.linked(attempt.model), attempt)

    def _player(self, ask: Ask) -> Player:
        player = self.seats[ask.request.player]
        assert not isinstance(player, BotPlayer), "bots decide at once, without a desk"
        return player

    async def settle(self, ask: Ask, earlier: Sequence[Attempt]) -> tuple[Entry, Decision]:
        """Have one request of the wave decided by whoever sits there, and journal the decision.

        It is on its way to the disk; the rules may not see it before `journal.sync()`.
        """
        player = self._player(ask)
        place = self._places[ask.place]

        async def attempt(messages: tuple[Message, ...], number: int, link: int, used: Attempts) -> Completion:
            return await self._call(ask, link, messages, number, used)

        def keep(tries: Sequence[Attempt]) -> None:
            self.journal.tried(ask.wave, ask.place, ask.request.player, tries)
            self.totals.takeovers += sum(attempt.takeover for attempt in tries)

        try:
            ruling = await rule(ask, player, attempt, keep, earlier, self.breaker.order(place), self._rest)
            if ruling.fallback_reason is not None:
                if self.breaker.waits(place):
                    self._go_on()  # or it would wait for somebody who is asked no more
                await self.breaker.gave_up(place)
            entry = to_entry(ask, ruling)
            self.journal.decided(entry, sync=True)
            if self._sync_due is None:
                self._sync_due = asyncio.get_running_loop().call_later(UNSYNCED_S, self._sync)
        except Exception as error:  # also a mistake of ours: nobody may wait for what will not come
            self.stopped = self.stopped or error
            raise
        return entry, ruling.decision

    def settled(self, ask: Ask) -> None:
        """A decision of `settle` is taken in, and counts; raises `RunStopped` where what waited for it ends the run."""
        try:
            self.breaker.settled(self._places[ask.place])
        except RunStopped as stop:
            self.stopped = self.stopped or stop
            raise

    def _go_on(self) -> None:
        self.journal.check()
        if self.stopped is not None:
            raise self.stopped

    async def _rest(self, seconds: float) -> None:
        self._go_on()
        await self.budget.rest(seconds)

    def _sync(self) -> None:
        self._sync_due = None
        with suppress(AgentsimError):  # the journal remembers, and says so at the end of the wave at the latest
            self.journal.sync()

    async def _call(
        self, ask: Ask, link: int, messages: tuple[Message, ...], number: int, used: Attempts
    ) -> Completion:
        player = self._player(ask).links[link]
        if isinstance(player, HumanPlayer) and (unasked := player.unasked(ask)) is not None:
            return unasked
        if not isinstance(player, ModelPlayer):  # a person takes no slot, no money and all the time there is
            self._asked += 1
            self.watcher.person(asked=True)
            try:
                return await player.reply(ask, messages, number)
            finally:
                self._asked -= 1
                if not self._asked:  # the next in turn needs the screen as it is
                    self.watcher.person(asked=False)
        slots = self._slots.get(player.provider)
        if slots is None:
            slots = self._slots[player.provider] = asyncio.Semaphore(self.concurrency)
        async with slots:
            self._go_on()
            return await self._model_call(ask, link, messages, number, used)

    async def _model_call(
        self, ask: Ask, link: int, messages: tuple[Message, ...], number: int, used: Attempts
    ) -> Completion:
        player = self._player(ask).links[link]
        assert isinstance(player, ModelPlayer), "a person is asked without this"
        # The dearest of those who may still be asked: whoever takes over should be affordable then.
        worst = self._worst_case(player.links, messages, ask.request.schema())
        await self.budget.admit(worst)
        cost: float | None = None
        task = asyncio.current_task()
        left = self.budget.left_s()
        queueing = None if left is None else asyncio.timeout(left)
        self._turns.waits(ask)

        def begin() -> None:
            self._go_on()  # the run may have been stopped while it waited for its turn
            self.budget.check_time()
            if queueing is not None:
                queueing.reschedule(None)
            self._turns.over(ask)
            self.in_flight.add(task)
            self._sent(task, ask, messages)
            self.watcher.calling(ask)

        try:
            reply = player.reply(ask, messages, number, begin)
            if queueing is None:
                completion = await reply
            else:
                async with queueing:
                    completion = await reply
            cost = self._cost(ask, player, messages, completion.usage)
            attempt = Attempt(messages, completion=completion)
            self.totals.add_call(attempt)
            self._warn(player, attempt)
            self._note_mode(player, completion)
            self.breaker.called(self._places[ask.place], None, link)
        except ModelError as error:
            named = player.name if len(self._player(ask).links) > 1 else None
            attempt = Attempt.failed(messages, error, model=named, held=held(error, player.attempts, used))
            cost = self._cost(ask, player, messages, attempt.wasted)
            self._failed(ask, link, attempt, error)
            raise
        except TimeoutError:
            raise self.budget.out_of_time() from None
        finally:
            self._turns.over(ask)
            self.budget.settle(worst, cost)
            if task in self.in_flight:
                self.in_flight.discard(task)
                self.watcher.called(ask, self.totals)
            else:
                self.watcher.counted(self.totals)  # it never went out
        return completion

    def _sent(self, task: asyncio.Task[Any] | None, ask: Ask, messages: tuple[Message, ...]) -> None:
        if not self._out:  # of a wave's calls all leave before anything else has its turn
            asyncio.get_running_loop().call_soon(self._meanwhile)
        self._out.append((task, ask, messages))

    def _meanwhile(self) -> None:
        """What may as well be done while the calls are out: most of what is written down with their answers."""
        out, self._out = self._out, []
        for task, ask, _ in out:
            if task in self.in_flight:  # not every model has to be waited for
                ask.request.fingerprint()
        collect_meanwhile()

    def _note_mode(self, player: ModelPlayer, completion: Completion) -> None:
        mode = completion.structured
        if mode is not None and self.journal.contents.structured.get(player.name) != mode:
            self.journal.chose(player.name, mode)
            self.watcher.chose(player.name, mode)

    def _warn(self, player: ModelPlayer, attempt: Attempt) -> None:
        for diagnostic in diagnostics(player.model.name, attempt):
            if (diagnostic.code, diagnostic.model) not in self._warned:
                self._warned.add((diagnostic.code, diagnostic.model))
                self.watcher.warned(diagnostic.message)

    def _failed(self, ask: Ask, link: int, attempt: Attempt, error: ModelError) -> None:
        self.totals.add_call(attempt)
        self.watcher.waiting(ask, str(error))
        try:
            self.breaker.called(self._places[ask.place], error, link, held=attempt.held)
        except RunStopped:
            self.journal.tried(ask.wave, ask.place, ask.request.player, [attempt])  # nobody else will
            raise

    def _count_earlier(self, ask: Ask, player: ModelPlayer, attempt: Attempt) -> None:
        """A call that an earlier process of the run made counts against its limits, and is shown."""
        self.totals.add_call(attempt)
        self.budget.spent(1, self._cost(ask, player, attempt.messages, attempt.usage))

    def _cost(self, ask: Ask, player: ModelPlayer, messages: Sequence[Message], usage: Usage | None) -> float:
        """US dollars of a call that used so much: where nobody says what it cost, the most that it can have cost."""
        if usage is None:
            return 0.0
        return self._worst_case([player], messages, ask.request.schema()) if usage.cost_usd is None else usage.cost_usd

    def _worst_case(
        self, players: Sequence[ModelPlayer], messages: Sequence[Message], schema: Mapping[str, Any]
    ) -> float:
        """US dollars that a call of the dearest of them can cost; 0 where no limit asks for it."""
        if self.budget.max_cost_usd is None:
            return 0.0
        prompt = tokens.at_most((*(message.text for message in messages), json.dumps(schema)))
        return max(
            self.prices.estimate(each.name, prompt, longest_reply(each.name, each.sampling.max_tokens)) or 0.0
            for each in players
        )
