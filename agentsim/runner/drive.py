"""drive: plays a game to its end, wave by wave: from the journal as far as it goes, then live.

Decisions reach the rules in request order, whatever order they came in; a wave's decisions are on disk before
the rules see any of them. Who answers, and how, is `dispatcher`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.play import Ask, GamePlay, Wave
from agentsim.engine.reading import Decision
from agentsim.errors import AgentsimError, RunStopped
from agentsim.history.contents import Contents, Entry
from agentsim.players.model import BotPlayer
from agentsim.runner.dispatcher import Dispatcher
from agentsim.runner.journal_lookup import not_whole, recall, recalled, restored
from agentsim.runner.referee import Ruling, to_entry

__all__ = ["drive"]


async def drive(play: GamePlay, dispatcher: Dispatcher, entries: list[Entry]) -> None:
    """Play to the end; `entries` grows with every decision, whether this returns or raises."""
    recorded = dispatcher.journal.contents
    news = _News(play.log, dispatcher)
    wave = play.start()
    while wave is not None:
        news.before(wave)
        dispatcher.watcher.wave(wave, play.table.rounds[-1])
        try:
            decisions = await _settle(play, wave, dispatcher, recorded, entries)
        except (AgentsimError, asyncio.CancelledError):
            _, whole = recalled(recorded, wave)
            if whole is not None:  # the stop came behind its last decision: a replay of the journal plays it as well
                play.answer(whole)
            raise
        wave = play.answer(decisions)
    dispatcher.journal.sync()
    news.at_the_end()


class _News:
    """Tells the watcher what happened, once; where people play, what prompts recount is left to the prompts."""

    def __init__(self, log: Sequence[LogEntry], dispatcher: Dispatcher) -> None:
        self._log, self._dispatcher = log, dispatcher
        self._told = self._recounted = 0  # places in the log before which all was told, or what people cannot read

    def before(self, wave: Wave) -> None:
        """What is new when a wave is about to be decided."""
        people = bool(self._dispatcher.people)
        self._dispatcher.watcher.told(
            [told for told in self._log[self._told :] if not (people and told.event.in_prompt)]
        )
        self._told = len(self._log)
        if not people or self._dispatcher.asks_person(wave):
            self._recounted = len(self._log)

    def at_the_end(self) -> None:
        """All that was not told yet, and no prompt recounted."""
        left = [told for told in self._log[self._recounted : self._told] if told.event.in_prompt]
        self._dispatcher.watcher.told([*left, *self._log[self._told :]])


async def _settle(
    play: GamePlay, wave: Wave, dispatcher: Dispatcher, recorded: Contents, entries: list[Entry]
) -> list[Decision]:
    decisions: dict[int, Decision] = {}
    live: list[Ask] = []
    by_bots = all(isinstance(dispatcher.seats[ask.request.player], BotPlayer) for ask in wave.asks)
    for ask in wave.asks:
        seat = dispatcher.seats[ask.request.player]
        entry = recall(recorded, ask)
        if entry is not None:
            decisions[ask.place] = restored(recorded, ask, entry)
        elif isinstance(seat, BotPlayer):
            # as the policy made it, and has it checked: `tests/contract` shows that its JSON says the same
            decision = decisions[ask.place] = seat.decide(ask, play.bot_rng(ask))
            entry = to_entry(ask, Ruling(decision, "bot"))
            dispatcher.journal.decided(entry, sync=False)
        if entry is None:
            live.append(ask)
        else:
            entries.append(entry)
            dispatcher.watcher.decided(entry)
    if not by_bots:
        if live and wave.number < recorded.last_wave:
            raise not_whole(wave)
        dispatcher.wave(wave.asks)
        decisions |= await _settle_live(live, dispatcher, recorded, entries)
        dispatcher.journal.sync()
    return [decisions[ask.place] for ask in wave.asks]


async def _settle_live(
    live: Sequence[Ask], dispatcher: Dispatcher, recorded: Contents, entries: list[Entry]
) -> dict[int, Decision]:
    """Decide several requests at once, by place. Where one must stop the run, the others finish what they began."""
    # as the referee read and checked them: `tests/contract` shows that their JSON says the same
    settled: dict[int, Decision] = {}
    over = asyncio.Event()  # all are settled, or one ends the run: `asyncio.wait` takes a turn of the loop for each

    async def one(ask: Ask) -> None:
        try:
            entry, settled[ask.place] = await dispatcher.settle(ask, recorded.open_tries(ask.wave, ask.place))
            entries.append(entry)
            dispatcher.watcher.decided(entry)
            dispatcher.settled(ask)
        except BaseException:
            over.set()
            raise
        if len(settled) == len(live):
            over.set()

    if len(live) < 2:
        for ask in live:
            await one(ask)
    else:
        await _finished([asyncio.create_task(one(ask)) for ask in live], over, dispatcher)
    return settled


async def _finished(tasks: Sequence[asyncio.Task[None]], over: asyncio.Event, dispatcher: Dispatcher) -> None:
    """All of them, or those that had begun what must be finished; raises what one of them raised."""
    try:
        await over.wait()
        for task in tasks:
            if task not in dispatcher.in_flight:
                task.cancel()  # done, or only waiting for a turn that will not come
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        raise
    finally:
        if left := [task for task in tasks if not task.done()]:  # none where nothing stops the run
            await asyncio.gather(*left, return_exceptions=True)
        errors = [error for task in tasks if not task.cancelled() and isinstance(error := task.exception(), Exception)]
    for error in sorted(errors, key=lambda error: isinstance(error, RunStopped)):
        raise error  # a mistake of ours before a planned stop: it must not be hidden by one
