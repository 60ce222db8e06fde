"""Loop: playing a game to its end, wave by wave, first with the recorded decisions, then with live ones.

Decisions reach the rules in the order of the requests, not of the replies; all decisions of a wave are on disk before
the rules see any of them, but for waves of bots alone, who would decide the same again. `decide` turns one request into
a decision.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import LoggedEvent
from agentsim.engine.play import GamePlay
from agentsim.engine.request import Ask, Wave
from agentsim.errors import JournalMismatch, RunStopped
from agentsim.players.model import BotPlayer
from agentsim.records.journal import DecisionRecord
from agentsim.runs.decide import Decider
from agentsim.runs.game_in_progress import DecidedWave, GameInProgress, journaled_wave

BeforeWave: TypeAlias = Callable[[GamePlay, Wave], Awaitable[Wave]]
"""A function that is awaited before each wave and returns the wave to decide: see `GamePlay.steered`."""


async def play(game: GameInProgress, decider: Decider, before: BeforeWave | None = None) -> None:
    """Play to the end; `before` may replace each wave. Also after an error, `game.decisions` are the journal's."""
    feed, journal, watcher = _EventFeed(game.play.log, decider), decider.journal, decider.watcher
    while game.wave is not None:
        if before is not None:
            game.wave = await before(game.play, game.wave)
        feed.before(game.wave)
        watcher.show_progress(game.play.table.progress)
        watcher.wave(game.wave, game.play.table.rounds[-1])
        try:
            decided = await decide_wave(game.wave, decider, game.play.bot_rng)
        except BaseException:
            # A stop may come after the last decision of the wave is recorded: a replay of the journal plays that wave
            # too.
            game.advance(journaled_wave(journal.contents, game.wave))
            raise
        game.advance(decided)
    journal.sync()
    feed.at_the_end()


class _EventFeed:
    """The events for the watcher, each once. If people play, their prompts recount some events instead."""

    def __init__(self, log: Sequence[LoggedEvent], decider: Decider) -> None:
        self._log, self._decider = log, decider
        self._told = self._recounted = 0  # log positions: told, and told or recounted by prompts

    def before(self, wave: Wave) -> None:
        """Tell the watcher the new events before a wave is decided."""
        decider, new = self._decider, self._log[self._told :]
        self._told += len(new)
        if not decider.terminal_players:
            decider.watcher.told(new)
            self._recounted = self._told
            return
        decider.watcher.told([told for told in new if not told.event.in_prompt])
        if decider.asks_person(wave):
            self._recounted = self._told

    def at_the_end(self) -> None:
        """Tell the watcher all events that were not told and that no prompt recounted."""
        left = [told for told in self._log[self._recounted : self._told] if told.event.in_prompt]
        self._decider.watcher.told([*left, *self._log[self._told :]])


async def decide_wave(wave: Wave, decider: Decider, bot_rng: Callable[[Ask], Stream]) -> DecidedWave:
    """Return the wave with all its decisions: recorded ones, then those of bots, then all others concurrently.

    Raises `RunStopped`, `JournalMismatch` if the journal answers another wave.
    """
    journal, seats = decider.journal, decider.seats
    decided = journaled_wave(journal.contents, wave)
    records, decisions = decided.records, decided.decisions
    live: list[Ask] = []
    bots_alone = True
    for ask in wave.asks:
        place, seat = ask.place, seats[ask.request.player]
        if not isinstance(seat, BotPlayer):
            bots_alone = False
        if place in records:
            decider.watcher.decided(records[place])
        elif isinstance(seat, BotPlayer):
            decisions[place], records[place] = await decider.decide_by_bot(ask, seat, bot_rng(ask))
        else:
            live.append(ask)
    if not bots_alone:
        if live and wave.number < journal.contents.last_wave:
            raise JournalMismatch(f"wave {wave.number} is not whole, though later ones are recorded")
        decider.begin_wave(wave.asks)
        for ask, (decision, record) in zip(live, await decide_concurrently(live, decider), strict=True):
            decisions[ask.place], records[ask.place] = decision, record
        journal.sync()
    return decided


async def decide_concurrently(asks: Sequence[Ask], decider: Decider) -> list[tuple[Decision, DecisionRecord]]:
    """Return the decisions of concurrent requests. If one stops the run, calls in flight finish first."""
    if not asks:
        return []
    tasks = [asyncio.create_task(decider.decide(ask)) for ask in asks]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            if task not in decider.limits.in_flight:
                task.cancel()  # it is done, or waits for a slot or for requests before it, in vain
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        raise
    finally:
        results = await asyncio.gather(*tasks, return_exceptions=True)
    errors = [result for result in results if isinstance(result, Exception)]
    if errors:  # a bug comes before a planned stop, which must not hide it
        raise min(errors, key=lambda error: isinstance(error, RunStopped))
    return [task.result() for task in tasks]
