"""Loop: plays a game to its end, wave by wave, with the decisions on record first, and live ones behind them.

Decisions reach the rules in request order, whatever order they came in; a wave's decisions are on disk before the rules
see any of them. How a request is decided is `decide`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from agentsim.engine.decision import Decision
from agentsim.engine.event import LoggedEvent
from agentsim.engine.play import Ask, GamePlay, Wave
from agentsim.errors import JournalMismatch, RunStopped
from agentsim.history.journal import DecisionRecord
from agentsim.players.model import BotPlayer
from agentsim.runner.decide import Decider
from agentsim.runner.played_game import PlayedGame, RecordedWave, recorded_wave

Before: TypeAlias = Callable[[GamePlay, Wave], Awaitable[Wave]]
"""Is awaited before each wave, and gives the one that is to be decided: see `GamePlay.steered`."""


async def play(game: PlayedGame, decider: Decider, before: Before | None = None) -> None:
    """Play to the end; the game has every decision that the journal has, whether this returns or raises."""
    news, journal, watcher = _News(game.play.log, decider), decider.journal, decider.watcher
    while game.wave is not None:
        if before is not None:
            game.wave = await before(game.play, game.wave)
        news.before(game.wave)
        watcher.stands(game.play.table.progress)
        watcher.wave(game.wave, game.play.table.rounds[-1])
        try:
            decided = await _decided(game.play, game.wave, decider)
        except BaseException:
            # The stop may have come behind the last decision of the wave: a replay of the journal plays it as well.
            game.take(recorded_wave(journal.contents, game.wave))
            raise
        game.take(decided)
    journal.sync()
    news.at_the_end()


class _News:
    """Tells the watcher each event once; if people play, what prompts recount is left to the prompts."""

    def __init__(self, log: Sequence[LoggedEvent], decider: Decider) -> None:
        self._log, self._decider = log, decider
        self._told = self._recounted = 0  # places in the log before which all was told, or what people cannot read

    def before(self, wave: Wave) -> None:
        """Tell what is new before a wave is decided."""
        people = bool(self._decider.people)
        new = [told for told in self._log[self._told :] if not (people and told.event.in_prompt)]
        self._decider.watcher.told(new)
        self._told = len(self._log)
        if not people or self._decider.asks_person(wave):
            self._recounted = len(self._log)

    def at_the_end(self) -> None:
        """Tell all that was not told yet, and that no prompt recounted."""
        left = [told for told in self._log[self._recounted : self._told] if told.event.in_prompt]
        self._decider.watcher.told([*left, *self._log[self._told :]])


async def _decided(play: GamePlay, wave: Wave, decider: Decider) -> RecordedWave:
    """Return the wave with all its decisions: those on record, then those of bots, then all others at once."""
    journal, seats = decider.journal, decider.seats
    found = recorded_wave(journal.contents, wave)
    records, decisions, live = dict(found.records), dict(found.decisions), list[Ask]()
    for ask in wave.asks:
        seat = seats[ask.request.player]
        if ask.place in records:
            decider.watcher.decided(records[ask.place])
        elif isinstance(seat, BotPlayer):
            decisions[ask.place], records[ask.place] = await decider.by_bot(ask, seat, play.bot_rng(ask))
        else:
            live.append(ask)
    if not all(isinstance(seats[ask.request.player], BotPlayer) for ask in wave.asks):
        if live and wave.number < journal.contents.last_wave:
            raise JournalMismatch(f"wave {wave.number} is not whole, though later ones are recorded")
        decider.begin(wave.asks)
        for ask, (decision, record) in zip(live, await _at_once(live, decider), strict=True):
            decisions[ask.place], records[ask.place] = decision, record
        journal.sync()
    return RecordedWave(wave, records, decisions)


async def _at_once(asks: Sequence[Ask], decider: Decider) -> list[tuple[Decision, DecisionRecord]]:
    """Return the decisions of requests at once. If one must stop the run, the others finish what they began."""
    if not asks:
        return []
    tasks = [asyncio.create_task(decider.decide(ask)) for ask in asks]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            if task not in decider.limits.in_flight:
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
    return [task.result() for task in tasks]
