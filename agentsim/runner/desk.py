"""The desk: where requests are answered. It knows who sits where, and what a call must ask leave of.

Slots, budget, health and prices meet here, around each single call. How replies become decisions is the
referee's business; the order in which decisions reach the rules is `drive`'s.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from agentsim.engine.play import Ask, Wave
from agentsim.errors import AgentsimError, ModelError, RunStopped
from agentsim.history.concerns import concerns
from agentsim.history.entry import Entry
from agentsim.history.journal import Journal
from agentsim.history.totals import Totals
from agentsim.models import tokens
from agentsim.models.base import Completion
from agentsim.models.prices import Prices
from agentsim.players.base import Message, Player, Try, fault_of
from agentsim.players.bot import BotPlayer
from agentsim.players.human import HumanPlayer
from agentsim.players.model import ModelPlayer
from agentsim.runner.budget import Budget
from agentsim.runner.health import Health
from agentsim.runner.referee import rule, to_entry
from agentsim.runner.watch import Watcher

__all__ = ["Desk", "Seat"]

Seat: TypeAlias = Player | BotPlayer


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
        self._warned: set[tuple[str, str]] = set()
        self._asked = 0  # people who are asked now, or wait for their turn at the terminal

    def asks_person(self, wave: Wave) -> bool:
        """Whether a person is among those asked."""
        return any(ask.request.player in self.people for ask in wave.asks)

    def wave(self, asks: Sequence[Ask]) -> None:
        """A wave's requests are about to be settled, but for those on record: what these met counts for the others."""
        asked = [ask for ask in asks if not isinstance(self.seats[ask.request.player], BotPlayer)]
        self._places = {ask.place: order for order, ask in enumerate(asked)}
        self.health.wave([self._player(ask).links for ask in asked])
        recorded = self.journal.contents
        for place, ask in enumerate(asked):
            key = (ask.wave, ask.place)
            entry = recorded.entries.get(key)
            for attempt in recorded.open_tries(*key) if entry is None else entry.tries:
                answered = attempt.completion is not None
                past = key in recorded.forgiven
                self.health.recalled(place, attempt.model, attempt.fault, answered=answered, past=past)
            if entry is not None:
                self.health.settled(place)

    def _player(self, ask: Ask) -> Player:
        player = self.seats[ask.request.player]
        assert not isinstance(player, BotPlayer), "bots decide at once, without a desk"
        return player

    async def settle(self, ask: Ask, earlier: Sequence[Try]) -> Entry:
        """Have one request of the wave decided by whoever sits there, and journal the decision.

        It is on its way to the disk; the rules may not see it before `journal.sync()`.
        """
        player = self._player(ask)

        place = self._places[ask.place]

        async def attempt(messages: tuple[Message, ...], number: int, link: int) -> Completion:
            return await self._call(ask, link, messages, number)

        def keep(tries: Sequence[Try]) -> None:
            self.journal.tried(ask.wave, ask.place, ask.request.player, tries)
            self.totals.takeovers += sum(attempt.takeover for attempt in tries)

        ruling = await rule(ask, player, attempt, keep, earlier, self.health.order(place))
        try:
            if ruling.fallback_reason is not None:
                await self.health.gave_up(place)
            entry = to_entry(ask, ruling)
            self.journal.decided(entry, sync=True)
            # Replies that arrive together are synced together: in this turn of the loop, not one by one.
            asyncio.get_running_loop().call_soon(self._sync)
            self.health.settled(place)
        except RunStopped as stop:
            self.stopped = stop
            raise
        return entry

    def _sync(self) -> None:
        with suppress(AgentsimError):  # the journal remembers, and says so at the end of the wave at the latest
            self.journal.sync()

    async def _call(self, ask: Ask, link: int, messages: tuple[Message, ...], number: int) -> Completion:
        player = self._player(ask).links[link]
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
                return await self._model_call(ask, link, player, messages, number)
            except RunStopped as stop:
                self.stopped = stop
                raise

    async def _model_call(
        self, ask: Ask, link: int, player: ModelPlayer, messages: tuple[Message, ...], number: int
    ) -> Completion:
        # The dearest of those who may still be asked: whoever takes over should be affordable then.
        worst = self._worst_case(player.links, messages, ask.request.schema())
        await self.budget.admit(worst)
        cost: float | None = None
        task = asyncio.current_task()

        def begin() -> None:
            if self.stopped is not None:
                raise self.stopped  # it waited for its turn while the run was stopped
            self.budget.check_time()
            self.in_flight.add(task)
            self.watcher.calling(ask)

        try:
            completion = self._priced(player, await player.reply(ask, messages, number, begin))
            cost = completion.usage.cost_usd
            if cost is None:  # nobody says what it cost: the most that it can have cost
                cost = self._worst_case([player], messages, ask.request.schema())
            self.totals.add_call(Try(messages, completion))
            self._warn(player, Try(messages, completion))
            self._note_mode(player, completion)
            self.health.called(self._places[ask.place], None, link)
        except ModelError as error:
            named = player.name if len(self._player(ask).links) > 1 else None
            self._failed(
                ask, link, Try(messages, None, error.code, str(error), fault=fault_of(error), model=named), error
            )
            raise
        finally:
            self.in_flight.discard(task)
            self.budget.settle(worst, cost)
            self.watcher.called(ask, self.totals)
        return completion

    def _note_mode(self, player: ModelPlayer, completion: Completion) -> None:
        mode = completion.structured
        if mode is not None and self.journal.contents.structured.get(player.name) != mode:
            self.journal.chose(player.name, mode)
            self.watcher.chose(player.name, mode)

    def _warn(self, player: ModelPlayer, attempt: Try) -> None:
        for concern in concerns(player.model.name, attempt):
            if (concern.code, concern.model) not in self._warned:
                self._warned.add((concern.code, concern.model))
                self.watcher.warned(concern.message)

    def _failed(self, ask: Ask, link: int, attempt: Try, error: ModelError) -> None:
        self.totals.add_call(attempt)
        self.watcher.waiting(ask, str(error))
        try:
            self.health.called(self._places[ask.place], error, link)
        except RunStopped:
            self.journal.tried(ask.wave, ask.place, ask.request.player, [attempt])  # nobody else will
            raise

    def count_earlier(self, player: ModelPlayer, attempt: Try) -> None:
        """A call that an earlier process of the run made counts against its limits, and is shown."""
        self.totals.add_call(attempt)
        cost = 0.0 if attempt.completion is None else attempt.completion.usage.cost_usd
        self.budget.spent(1, self._worst_case([player], attempt.messages, {}) if cost is None else cost)

    def _worst_case(
        self, players: Sequence[ModelPlayer], messages: Sequence[Message], schema: Mapping[str, Any]
    ) -> float:
        """US dollars that a call of the dearest of them can cost; 0 where no limit asks for it."""
        if self.budget.max_cost_usd is None:
            return 0.0
        prompt = tokens.at_most((*(message.text for message in messages), json.dumps(schema)))
        most = max(each.sampling.max_tokens for each in players)
        return max(self.prices.estimate(each.name, prompt, most) or 0.0 for each in players)

    def _priced(self, player: ModelPlayer, completion: Completion) -> Completion:
        cost = self.prices.cost(player.model.name, completion.usage)
        return replace(completion, usage=replace(completion.usage, cost_usd=cost))
