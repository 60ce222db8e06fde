"""Dispatcher: where requests are answered. It knows which player decides what, and admits every single call.

Slots, budget, rate limits, circuit breaker and prices meet here. How replies become decisions is `referee`; the order
in which decisions reach the rules is `drive`.
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
from agentsim.errors import AgentsimError, RunStopped
from agentsim.history.contents import Entry
from agentsim.history.diagnostics import diagnostics
from agentsim.history.journal import Journal
from agentsim.history.totals import Totals
from agentsim.models import tokens
from agentsim.models.base import Attempt, Completion, Message, Usage
from agentsim.models.tokens import Prices, longest_reply
from agentsim.players.base import Player
from agentsim.players.bot import BotPlayer
from agentsim.players.human import HumanPlayer
from agentsim.players.model import ModelPlayer
from agentsim.runner.budget import Budget
from agentsim.runner.calls import DecisionCalls, Waits
from agentsim.runner.circuit_breaker import CircuitBreaker
from agentsim.runner.referee import rule, to_entry
from agentsim.runner.watch import Watcher
from agentsim.scenario.scenario import Branch

__all__ = ["Dispatcher", "Seat"]

Seat: TypeAlias = Player | BotPlayer
UNSYNCED_S = 0.05
"""A decision is synced to disk after this time at the latest: a killed process leaves it anyway, a loss of power not.
The rules see none before."""


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
        self.stopped: Exception | None = None  # what ended the run; decisions under way follow
        self.in_flight: set[asyncio.Task[Any] | None] = set()
        self.waits = Waits(self.watcher.held)
        # no prompt tells staff of the game; the screen does
        seated = {player: seat for player, seat in self.seats.items() if not player.startswith("@")}
        self.people = {player for player, seat in seated.items() if isinstance(seat, HumanPlayer)}
        self._slots: dict[str, asyncio.Semaphore] = {}  # by provider: a busy one holds no calls to another
        self._out: list[tuple[asyncio.Task[Any] | None, Ask]] = []  # calls that have just left
        self._places: Mapping[int, int] = {}
        self._warned: set[tuple[str, str]] = set()
        self._sync_due: asyncio.TimerHandle | None = None
        self._asked = 0  # people who are asked now, or wait for their turn at the terminal

    def asks_person(self, wave: Wave) -> bool:
        """Whether a person is among those asked."""
        return bool(self.people) and any(ask.request.player in self.people for ask in wave.asks)

    def wave(self, asks: Sequence[Ask]) -> None:
        """A wave's requests are about to be settled; what those on record met counts for the others."""
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
                    # a call of an earlier process counts against the run's limits, and is shown
                    self.totals.add_call(attempt)
                    cost = self.cost(ask, player.linked(attempt.model), attempt.messages, attempt.usage)
                    self.budget.spent(1, cost)

    def _player(self, ask: Ask) -> Player:
        player = self.seats[ask.request.player]
        assert not isinstance(player, BotPlayer), "bots decide at once, without a dispatcher"
        return player

    async def settle(self, ask: Ask, earlier: Sequence[Attempt]) -> tuple[Entry, Decision]:
        """Have one request of the wave decided by its player, and journal the decision.

        It is on its way to the disk; the rules may not see it before `journal.sync()`.
        """
        player = self._player(ask)
        place = self._places[ask.place]
        try:
            ruling = await rule(ask, player, DecisionCalls(self, ask, player, place), earlier)
            if ruling.fallback_reason is not None:
                if self.breaker.waits(place):
                    self.check()  # or it would wait for requests that are asked no more
                await self.breaker.gave_up(place)
            entry = to_entry(ask, ruling)
            self.journal.decided(entry, sync=True)
            if self._sync_due is None:
                self._sync_due = asyncio.get_running_loop().call_later(UNSYNCED_S, self._sync)
        except Exception as error:  # also a mistake of ours: no decision may wait for what will not come
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

    def check(self) -> None:
        """Raise what stopped the run, or keeps its journal from being written."""
        self.journal.check()
        if self.stopped is not None:
            raise self.stopped

    def _sync(self) -> None:
        self._sync_due = None
        with suppress(AgentsimError):  # the journal remembers, and says so at the end of the wave at the latest
            self.journal.sync()

    def slots(self, provider: str) -> asyncio.Semaphore:
        """How many calls of this run a provider takes at once."""
        return self._slots.setdefault(provider, asyncio.Semaphore(self.concurrency))

    def person(self, *, asked: bool) -> None:
        """A person is asked, or has answered; the screen is given back after the last."""
        self._asked += 1 if asked else -1
        if asked or not self._asked:
            self.watcher.person(asked=asked)

    def sent(self, task: asyncio.Task[Any] | None, ask: Ask) -> None:
        """A call leaves in this turn of the loop."""
        if not self._out:  # of a wave's calls all leave before any other callback runs
            asyncio.get_running_loop().call_soon(self._meanwhile)
        self._out.append((task, ask))

    def _meanwhile(self) -> None:
        """Make the fingerprints of requests whose answers are waited for."""
        out, self._out = self._out, []
        for task, ask in out:
            if task in self.in_flight:  # not every model has to be waited for
                ask.request.fingerprint()

    def answered(self, player: ModelPlayer, attempt: Attempt, completion: Completion) -> None:
        """Count a call that brought a completion, and say what is to be said of its model once."""
        self.totals.add_call(attempt)
        for diagnostic in diagnostics(player.model.name, attempt):
            if (diagnostic.code, diagnostic.model) not in self._warned:
                self._warned.add((diagnostic.code, diagnostic.model))
                self.watcher.warned(diagnostic.message)
        mode = completion.structured
        if mode is not None and self.journal.contents.structured.get(player.name) != mode:
            self.journal.chose(player.name, mode)
            self.watcher.chose(player.name, mode)

    def cost(self, ask: Ask, player: ModelPlayer, messages: Sequence[Message], usage: Usage | None) -> float:
        """US dollars of a call that used so much; the most that it can have cost where that is unknown."""
        if usage is None:
            return 0.0
        return self.worst_case([player], messages, ask.request.schema()) if usage.cost_usd is None else usage.cost_usd

    def worst_case(
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
