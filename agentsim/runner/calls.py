"""Calls: one decision's calls, each admitted before it is made, and the notice that one waits for its slot.

A call is admitted by its provider's slots, the run's budget and the rate limiter of its host; then it is in flight.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agentsim.engine.play import Ask
from agentsim.errors import ModelError, RunStopped
from agentsim.models import tokens
from agentsim.models.attempts import Attempts, held
from agentsim.models.base import Attempt, Completion, Message
from agentsim.models.rate_limiter import RateLimiter, Slot
from agentsim.players.human import HumanPlayer
from agentsim.players.model import ModelPlayer, Player

if TYPE_CHECKING:
    from agentsim.runner.dispatcher import Dispatcher

__all__ = ["NOTICEABLE_S", "DecisionCalls", "Waits", "acquire_slot"]

NOTICEABLE_S = 1.0
"""A watcher is told of a call that waits for its slot for longer."""


async def acquire_slot(player: ModelPlayer, messages: Sequence[Message]) -> Slot:
    """Wait for a slot of the model's rate limiter; a model without a host has none, and does not wait."""
    limiter = player.model.limiter
    if limiter is None:
        return RateLimiter().start(0)
    expected = tokens.about(message.text for message in messages) + (player.sampling.max_tokens or tokens.REPLY)
    return await limiter.acquire(expected)


class DecisionCalls:
    """The calls of one decision, admitted one by one: see `referee.Calls`."""

    def __init__(self, dispatcher: Dispatcher, ask: Ask, player: Player, place: int) -> None:
        self._dispatcher, self._ask, self._player, self._place = dispatcher, ask, player, place
        self.order = dispatcher.breaker.order(place)

    def keep(self, attempt: Attempt) -> None:
        self._dispatcher.journal.tried(self._ask.wave, self._ask.place, self._ask.request.player, [attempt])
        self._dispatcher.totals.takeovers += attempt.takeover

    async def rest(self, seconds: float) -> None:
        self._dispatcher.check()
        await self._dispatcher.budget.rest(seconds)

    async def call(self, messages: tuple[Message, ...], number: int, link: int, used: Attempts) -> Completion:
        player = self._player.links[link]
        if isinstance(player, HumanPlayer):  # a person takes no slot, no money and all the time there is
            if (unasked := player.unasked(self._ask)) is not None:
                return unasked
            self._dispatcher.person(asked=True)
            try:
                return await player.reply(self._ask, messages, number)
            finally:
                self._dispatcher.person(asked=False)
        assert isinstance(player, ModelPlayer), "a seat is a model's, a person's or a bot's"
        async with self._dispatcher.slots(player.provider):
            self._dispatcher.check()
            return await self._model_call(player, messages, number, link, used)

    async def _model_call(
        self, player: ModelPlayer, messages: tuple[Message, ...], number: int, link: int, used: Attempts
    ) -> Completion:
        dispatcher, ask, budget = self._dispatcher, self._ask, self._dispatcher.budget
        # The dearest of the models that may still be asked: one that takes over should be affordable then.
        worst = dispatcher.worst_case(player.links, messages, ask.request.schema())
        await budget.admit(worst)
        cost: float | None = None
        task = asyncio.current_task()
        dispatcher.waits.begin(ask)
        try:
            with await self._slot(player, messages) as slot:
                dispatcher.check()  # the run may have been stopped while the call waited for its slot
                budget.check_time()
                dispatcher.waits.end(ask)
                dispatcher.in_flight.add(task)
                dispatcher.sent(task, ask)
                dispatcher.watcher.calling(ask)
                completion = await player.reply(ask, messages, number)
                slot.used(completion.usage)
            cost = dispatcher.cost(ask, player, messages, completion.usage)
            dispatcher.answered(player, Attempt(messages, completion=completion), completion)
            dispatcher.breaker.called(self._place, None, link)
        except ModelError as error:
            named = player.name if len(self._player.links) > 1 else None
            attempt = Attempt.failed(messages, error, model=named, held=held(error, player.attempts, used))
            cost = dispatcher.cost(ask, player, messages, attempt.usage)
            self._failed(attempt, link, error)
            raise
        finally:
            dispatcher.waits.end(ask)
            budget.settle(worst, cost)
            if task in dispatcher.in_flight:
                dispatcher.in_flight.discard(task)
                dispatcher.watcher.called(ask, dispatcher.totals)
            else:
                dispatcher.watcher.counted(dispatcher.totals)  # it never went out
        return completion

    async def _slot(self, player: ModelPlayer, messages: Sequence[Message]) -> Slot:
        budget = self._dispatcher.budget
        try:
            async with asyncio.timeout(budget.left_s()):
                return await acquire_slot(player, messages)
        except TimeoutError:
            raise budget.out_of_time() from None

    def _failed(self, attempt: Attempt, link: int, error: ModelError) -> None:
        self._dispatcher.totals.add_call(attempt)
        self._dispatcher.watcher.waiting(self._ask, str(error))
        try:
            self._dispatcher.breaker.called(self._place, error, link, held=attempt.held)
        except RunStopped:
            self.keep(attempt)  # the decision is not made, and its referee keeps nothing more
            raise


class Waits:
    """Calls that wait for their slots; `held` hears once of each that waits for `NOTICEABLE_S`.

    One timer serves them all, of which a wave has a hundred; belongs to one event loop.
    """

    def __init__(self, held: Callable[[Ask], None]) -> None:
        self._held = held
        self._waiting: dict[int, tuple[float, Ask]] = {}  # by place: when it becomes noticeable
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, ask: Ask) -> None:
        """A call for this request waits."""
        loop = asyncio.get_running_loop()
        self._waiting[ask.place] = loop.time() + NOTICEABLE_S, ask
        if self._timer is None:
            self._timer = loop.call_later(NOTICEABLE_S, self._look)

    def end(self, ask: Ask) -> None:
        """It waits no more; may be called again."""
        self._waiting.pop(ask.place, None)

    def _look(self) -> None:
        loop, self._timer = asyncio.get_running_loop(), None
        for place, (due, ask) in list(self._waiting.items()):
            if due > loop.time():
                self._timer = loop.call_at(due, self._look)
                return
            del self._waiting[place]
            loop.call_soon(self._held, ask)  # an error of one is not the others'
