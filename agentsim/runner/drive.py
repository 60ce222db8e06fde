"""drive: plays a game to its end, wave by wave: from the journal as far as it goes, then live.

Decisions reach the rules in request order, whatever order they came in; a wave's decisions are on disk before
the rules see any of them. Who answers, and how, is `dispatcher`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from agentsim.engine.decision import Decision
from agentsim.engine.event import LoggedEvent
from agentsim.engine.play import Ask, GamePlay, Wave
from agentsim.errors import AgentsimError, JournalMismatch, RunStopped
from agentsim.history.journal import DecisionRecord
from agentsim.players.model import BotPlayer
from agentsim.runner.dispatcher import Dispatcher
from agentsim.runner.played_game import PlayedGame, recorded_wave
from agentsim.runner.referee import Ruling, decision_record_of

Before: TypeAlias = Callable[[GamePlay, Wave], Awaitable[Wave]]
"""Is awaited before each wave, and gives the one that is to be decided: see `GamePlay.steered`."""


async def drive(game: PlayedGame, dispatcher: Dispatcher, before: Before | None = None) -> None:
    """Play to the end; the game's entries grow with every decision, whether this returns or raises."""
    news, journal = _News(game.play.log, dispatcher), dispatcher.journal
    while game.wave is not None:
        if before is not None:
            game.wave = await before(game.play, game.wave)
        news.before(game.wave)
        dispatcher.watcher.stands(game.play.table.progress)
        dispatcher.watcher.wave(game.wave, game.play.table.rounds[-1])
        try:
            decisions = await _decide(game, dispatcher)
        except (AgentsimError, asyncio.CancelledError):
            found = recorded_wave(journal.contents, game.wave)
            if found.is_whole:  # the stop came behind its last decision: a replay of the journal plays it as well
                game.answer(found.decisions)
            raise
        game.answer(decisions)
    journal.sync()
    news.at_the_end()


class _News:
    """Tells the watcher what happened, once; where people play, what prompts recount is left to the prompts."""

    def __init__(self, log: Sequence[LoggedEvent], dispatcher: Dispatcher) -> None:
        self._log, self._dispatcher = log, dispatcher
        self._told = self._recounted = 0  # places in the log before which all was told, or what people cannot read

    def before(self, wave: Wave) -> None:
        """What is new when a wave is about to be decided."""
        people = bool(self._dispatcher.people)
        new = [told for told in self._log[self._told :] if not (people and told.event.in_prompt)]
        self._dispatcher.watcher.told(new)
        self._told = len(self._log)
        if not people or self._dispatcher.asks_person(wave):
            self._recounted = len(self._log)

    def at_the_end(self) -> None:
        """All that was not told yet, and no prompt recounted."""
        left = [told for told in self._log[self._recounted : self._told] if told.event.in_prompt]
        self._dispatcher.watcher.told([*left, *self._log[self._told :]])


async def _decide(game: PlayedGame, dispatcher: Dispatcher) -> dict[int, Decision]:
    """Return the wave's decisions by place: those on record, then those that bots and the dispatcher make."""
    assert game.wave is not None, "the game is not over"
    wave, journal, seats = game.wave, dispatcher.journal, dispatcher.seats
    found = recorded_wave(journal.contents, wave)
    decisions, live = dict(found.decisions), list[Ask]()

    def decided(entry: DecisionRecord) -> None:
        game.decisions.append(entry)
        dispatcher.watcher.decided(entry)

    for ask in wave.asks:
        seat = seats[ask.request.player]
        if ask.place in found.decisions:
            decided(found.records[ask.place])
        elif isinstance(seat, BotPlayer):
            if dispatcher.gate is not None:
                await dispatcher.gate(ask)
            decisions[ask.place] = seat.decide(ask, game.play.bot_rng(ask))
            entry = decision_record_of(ask, Ruling(decisions[ask.place], "bot"))
            journal.decided(entry, sync=False)
            decided(entry)
        else:
            live.append(ask)
    if not all(isinstance(seats[ask.request.player], BotPlayer) for ask in wave.asks):
        if live and wave.number < journal.contents.last_wave:
            raise JournalMismatch(f"wave {wave.number} is not whole, though later ones are recorded")
        dispatcher.wave(wave.asks)
        decisions |= await _settle_live(live, dispatcher, decided)
        journal.sync()
    return decisions


async def _settle_live(
    live: Sequence[Ask], dispatcher: Dispatcher, decided: Callable[[DecisionRecord], object]
) -> dict[int, Decision]:
    """Decide several requests at once, by place. Where one must stop the run, the others finish what they began."""
    if not live:
        return {}
    tasks = [asyncio.create_task(dispatcher.settle(ask, decided)) for ask in live]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            if task not in dispatcher.in_flight:
                task.cancel()  # done, or only waiting for a turn that will not come
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        raise
    finally:
        results = await asyncio.gather(*tasks, return_exceptions=True)
    errors = [result for result in results if isinstance(result, Exception)]
    if errors:  # a mistake of ours before a planned stop: it must not be hidden by one
        raise min(errors, key=lambda error: isinstance(error, RunStopped))
    return {ask.place: task.result() for ask, task in zip(live, tasks, strict=True)}
