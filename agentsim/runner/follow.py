"""follow: a run watched from its journal, by another process: the rules are played again as far as it goes.

It only reads. Decisions of bots may wait in the player's memory for a while before they are in the journal.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from agentsim.engine.play import GamePlay, Wave
from agentsim.errors import JournalError
from agentsim.history.contents import Contents, read_on
from agentsim.history.journal_file import is_running
from agentsim.history.run_files import RunFiles
from agentsim.history.totals import Totals
from agentsim.runner.journal_lookup import not_whole, recalled
from agentsim.runner.plays import new_play, restored_scenario
from agentsim.runner.watch import Discreet, Watcher

__all__ = ["follow"]

EVERY_S = 0.2


def follow(files: RunFiles, watcher: Watcher, *, sleep: Callable[[float], None] = time.sleep) -> str:
    """Show the watcher what the run has done and does, until it ends or stops; its status then.

    `interrupted` is also that of a run whose process is gone without a word. Raises `JournalError` for a journal that
    cannot be used.
    """
    journal, contents = files.journal, Contents()
    while not contents.head:
        running = is_running(journal)
        read_on(journal, contents)
        if not contents.head and not running:
            raise JournalError(f"{files.name}: the run ended before its journal began; there is nothing to watch")
        if not contents.head:
            sleep(EVERY_S)
    follower = _Follower(files, contents, watcher)
    while True:
        running = is_running(journal)  # asked before the last look: what it wrote before it ended is seen
        follower.look(journal)
        if not running:
            return contents.stops[-1].status if contents.stops else "interrupted"
        sleep(EVERY_S)


class _Follower:
    def __init__(self, files: RunFiles, contents: Contents, watcher: Watcher) -> None:
        scenario, game = restored_scenario(contents.head)
        people = any(plan.name.kind == "human" for plan in scenario.seats)
        self._watcher = Discreet(watcher) if people else watcher
        self._contents = contents
        self._play: GamePlay = new_play(scenario, game)
        self._totals = Totals()
        self._told = 0
        self._shown: set[int] = set()  # places of this wave
        watcher.began(files.name, game.title, self._play.table.players)
        self._wave: Wave | None = self._play.start()
        self._announce()

    def look(self, journal: Path) -> None:
        """Take in what the journal has gained, and play as far as its decisions go."""
        read_on(journal, self._contents)
        while self._wave is not None:
            entries, decisions = recalled(self._contents, self._wave)
            for entry in entries:
                if entry.place not in self._shown:
                    self._shown.add(entry.place)
                    self._totals.add(entry)
                    self._watcher.decided(entry)
                    self._watcher.counted(self._totals)
            if decisions is None:
                if self._wave.number < self._contents.last_wave:
                    raise not_whole(self._wave)
                return
            self._wave = self._play.answer(decisions)
            self._shown.clear()
            self._announce()

    def _announce(self) -> None:
        log = self._play.log
        self._watcher.told(log[self._told :])
        self._told = len(log)
        if self._wave is not None:
            self._watcher.wave(self._wave, self._play.table.rounds[-1])
