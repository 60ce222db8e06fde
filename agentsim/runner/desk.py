"""The desk: where requests are answered. It knows who sits where, and what a call must ask leave of.

Slots, budget, health and prices meet here, around each single call. How replies become decisions is the
referee's business; the order in which decisions reach the rules is `drive`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from agentsim.engine.play import Ask, Wave
from agentsim.errors import ModelError, RunStopped
from agentsim.history.entry import Entry
from agentsim.history.journal import Journal
from agentsim.history.totals import Totals
from agentsim.models.base import Completion
from agentsim.models.prices import Prices
from agentsim.players.base import Message, Player, Try
from agentsim.players.bot import BotPlayer
from agentsim.players.human import HumanPlayer
from agentsim.players.model import ModelPlayer
from agentsim.runner.budget import Budget
from agentsim.runner.health import Health
from agentsim.runner.referee import rule, to_entry
from agentsim.runner.watch import Watcher

__all__ = ["Desk", "Seat"]

Seat: TypeAlias = Player | BotPlayer
CHARACTERS_PER_TOKEN = 2  # on the safe side of every tokenizer for prompts in words and JSON


@dataclass
class Desk:
    """Answers asks with entries; `totals` counts every call, finished decisions or not."""

    seats: Mapping[str, Seat]
    journal: Journal
    budget: Budget
    prices: Prices
    slots: asyncio.Semaphore
    watcher: Watcher

    def __post_init__(self) -> None:
        self.health = Health()
        self.totals = Totals()
        self.stopped: RunStopped | None = None
        self.in_flight: set[asyncio.Task[Any] | None] = set()
        self.people = {player for player, seat in self.seats.items() if isinstance(seat, HumanPlayer)}
        self._places: Mapping[int, int] = {}
        self._asked = 0  # people who are asked now, or wait for their turn at the terminal

    def asks_person(self, wave: Wave) -> bool:
        """Whether a person is among those asked."""
        return any(ask.request.player in self.people for ask in wave.asks)

    def wave(self, live: Sequence[Ask]) -> None:
        """Requests of one wave are about to be settled."""
        self._places = {ask.place: order for order, ask in enumerate(live)}
        self.health.wave([self._player(ask).provider for ask in live])

    def _player(self, ask: Ask) -> Player:
        player = self.seats[ask.request.player]
        assert not isinstance(player, BotPlayer), "bots decide at once, without a desk"
        return player

    async def settle(self, ask: Ask, earlier: Sequence[Try]) -> Entry:
        """Have one request of the wave decided by whoever sits there, and put the decision on disk."""
        player = self._player(ask)

        async def attempt(messages: tuple[Message, ...], number: int) -> Completion:
            return await self._call(ask, player, messages, number)

        def keep(tries: Sequence[Try]) -> None:
            self.journal.tried(ask.wave, ask.place, ask.request.player, tries)

        ruling = await rule(ask, player, attempt, keep, earlier)
        place = self._places[ask.place]
        try:
            if ruling.fallback_reason is not None:
                await self.health.gave_up(place)
            entry = to_entry(ask, ruling)
            self.journal.decided(entry, sync=True)
            self.health.settled(place)
        except RunStopped as stop:
            self.stopped = stop
            raise
        return entry

    async def _call(self, ask: Ask, player: Player, messages: tuple[Message, ...], number: int) -> Completion:
        if not isinstance(player, ModelPlayer):  # a person takes no slot, no money and all the time there is
            self._asked += 1
            self.watcher.person(asked=True)
            try:
                return await player.reply(ask, messages, number)
            finally:
                self._asked -= 1
                if not self._asked:  # the next in turn needs the screen as it is
                    self.watcher.person(asked=False)
        async with self.slots:
            if self.stopped is not None:
                raise self.stopped
            try:
                return await self._model_call(ask, player, messages, number)
            except RunStopped as stop:
                self.stopped = stop
                raise

    async def _model_call(
        self, ask: Ask, player: ModelPlayer, messages: tuple[Message, ...], number: int
    ) -> Completion:
        worst = self._worst_case(player, messages)
        await self.budget.admit(worst)
        cost: float | None = None
        task = asyncio.current_task()

        def begin() -> None:
            if self.stopped is not None:
                raise self.stopped  # it waited for its turn while the run was stopped
            self.in_flight.add(task)
            self.watcher.calling(ask)

        try:
            completion = self._priced(player, await player.reply(ask, messages, number, begin))
            cost = completion.usage.cost_usd
            self.totals.add_call(Try(messages, completion))
            self.health.called(self._places[ask.place], None)
        except ModelError as error:
            self._failed(ask, Try(messages, None, error.code, str(error)), error)
            raise
        finally:
            self.in_flight.discard(task)
            self.budget.settle(worst, cost)
            self.watcher.called(ask, self.totals)
        return completion

    def _failed(self, ask: Ask, attempt: Try, error: ModelError) -> None:
        self.totals.add_call(attempt)
        self.watcher.waiting(ask, str(error))
        try:
            self.health.called(self._places[ask.place], error)
        except RunStopped:
            self.journal.tried(ask.wave, ask.place, ask.request.player, [attempt])  # nobody else will
            raise

    def _worst_case(self, player: ModelPlayer, messages: Sequence[Message]) -> float:
        prompt = sum(len(segment) for message in messages for segment in message.segments) // CHARACTERS_PER_TOKEN
        return self.prices.estimate(player.model.name, prompt, player.sampling.max_tokens) or 0.0

    def _priced(self, player: ModelPlayer, completion: Completion) -> Completion:
        cost = self.prices.cost(player.model.name, completion.usage)
        return replace(completion, usage=replace(completion.usage, cost_usd=cost))
