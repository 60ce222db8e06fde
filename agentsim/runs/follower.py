"""Follower: a run read from its journal while any process writes it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentsim.errors import JournalError
from agentsim.records.history import FINISHED, History
from agentsim.records.journal import JournalContents, Totals, read_new_lines
from agentsim.records.run_files import RunFiles, is_running
from agentsim.runs.game_in_progress import DecidedWave, GameInProgress, stamp, volatile_of
from agentsim.runs.watcher import PublicWatcher, Watcher

EVERY_S = 0.2
"""Seconds between two reads of a journal by `follow`."""


class Follower:
    """A game that is played again as its journal grows. `epoch` identifies one reading from the beginning.

    Only whole waves are fed into the game, so that it tells exactly what the rules have told. Methods block only on the
    disk; only one thread may call them at a time.
    """

    def __init__(self, files: RunFiles) -> None:
        self.files = files
        self.playing = False
        self._begin()

    def _begin(self) -> None:
        self.epoch = secrets.token_hex(4)
        self.contents = JournalContents()
        self._played: GameInProgress | None = None
        self._by_index: dict[int, Any] = {}

    @property
    def grown(self) -> bool:
        """Whether the size of the journal differs from what was read."""
        return _size(self.files.journal) != self.contents.size

    @property
    def over(self) -> bool:
        """Whether the game has ended and no process plays it."""
        stops = self.contents.stops
        return not self.playing and bool(stops) and stops[-1].status in FINISHED

    @property
    def played(self) -> GameInProgress:
        """The game as far as it is played; available after `look` has found the journal's head."""
        assert self._played is not None, "a look has found the journal's head"
        return self._played

    @property
    def told(self) -> int:
        """The number of events told so far."""
        return 0 if self._played is None else len(self._played.play.log)

    @property
    def rounds(self) -> int:
        """The number of rounds begun so far."""
        return 0 if self._played is None else len(self._played.play.table.rounds)

    def look(self) -> bool:
        """Read the new records of the journal, and return whether anything changed. Raises like `waves`."""
        was = self.playing, self.contents.lines
        for _ in self.waves():
            pass
        return was != (self.playing, self.contents.lines)

    def waves(self) -> Iterator[DecidedWave]:
        """Read the new records of the journal, and yield each wave before the rules get its decisions.

        Raises `JournalError` if the journal cannot be used, or if this version cannot play its rules.
        """
        self.playing = is_running(self.files.journal)  # asked first, so that an ending process's last writes are read
        if _size(self.files.journal) < self.contents.size:  # the journal was replaced
            self._begin()
        read_new_lines(self.files.journal, self.contents)
        if not self.contents.head:
            if not self.playing:
                raise JournalError(f"{self.files.name}: the run ended before its journal began")
            return
        if self._played is None:
            self._played = GameInProgress.of_journal(self.contents)
        for found in self._played.replay(self.contents):
            yield found
            if found.is_whole:
                self._by_index |= {record.index: record for record in found.records.values()}

    def history(self) -> History:
        """Build the whole history so far."""
        contents, now = self.contents, stamp(datetime.now(UTC))
        volatile = volatile_of(self.played.scenario, contents, self.files.name, now, contents.wall_s)
        return self.played.history(self._status(), contents, volatile)

    def _status(self) -> str:
        if self.playing or not self.contents.stops:
            return "interrupted"
        return self.played.final_status or self.contents.stops[-1].status

    def since(self, told: int) -> History:
        """Build a history of only the events after the first `told` and the decisions that led to them."""
        made = {logged.decision or 0 for logged in self.played.play.log[told:]}
        return self.played.history_since(told, [self._by_index[index] for index in made if index in self._by_index])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise JournalError(f"{path}: cannot be read: {error.strerror or error}") from None


def follow(files: RunFiles, watcher: Watcher, *, sleep: Callable[[float], None] = time.sleep) -> str:
    """Show a watcher the run so far and as it goes on, until it ends or stops; return its status.

    The status is `interrupted` also if the process died without a record. Decisions of bots may stay in the playing
    process's memory for a while. Raises `JournalError` if the journal cannot be used.
    """
    follower, shown = Follower(files), _Shown(files.name, watcher)
    while True:
        for found in follower.waves():
            shown.wave(follower.played, found)
        if follower.contents.head:
            shown.events(follower.played)
        if not follower.playing:
            return follower.contents.stops[-1].status if follower.contents.stops else "interrupted"
        sleep(EVERY_S)


class _Shown:
    """The events and decisions of a followed game, each shown once."""

    def __init__(self, name: str, watcher: Watcher) -> None:
        self._name, self._watcher = name, watcher
        self._totals = Totals.zero()
        self._begun = False
        self._wave = self._told = 0
        self._places: set[int] = set()  # of this wave

    def wave(self, played: GameInProgress, found: DecidedWave) -> None:
        """Show a wave when it begins, and its decisions as they come."""
        if found.wave.number != self._wave:
            self._wave = found.wave.number
            self._places.clear()
            self.events(played)
            self._watcher.show_progress(played.play.table.progress)
            self._watcher.wave(found.wave, played.play.table.rounds[-1])
        for place, record in found.records.items():
            if place not in self._places:
                self._places.add(place)
                self._totals.add(record)
                self._watcher.decided(record)
                self._watcher.counted(self._totals)

    def events(self, played: GameInProgress) -> None:
        """Show the events that the rules have told since the last call."""
        if not self._begun:
            self._begun = True
            self._begin(played)
        log = played.play.log
        self._watcher.told(log[self._told :])
        self._told = len(log)

    def _begin(self, played: GameInProgress) -> None:
        self._watcher.began(self._name, played.game.title, played.play.table.players)
        if any(plan.name.kind == "human" for plan in played.scenario.seats):
            self._watcher = PublicWatcher(self._watcher)
        self._watcher.seated({plan.id: plan.title for plan in played.scenario.seats})
