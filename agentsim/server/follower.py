"""Follower: one run as its journal tells it, whichever process writes that.

Whole waves alone are fed into the game, so that what is shown is what the rules have told.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentsim.engine.play import Wave
from agentsim.errors import JournalError
from agentsim.history.journal import Contents, read_on
from agentsim.history.record import FINISHED, History
from agentsim.history.run_files import RunFiles, is_running
from agentsim.runner.drive import not_whole, recalled
from agentsim.runner.plays import Played, new_play, restored_scenario, stamp, volatile_of


class Follower:
    """A game that is played again as its journal grows. `epoch` names one reading of it from the beginning.

    Its methods do not wait for anything but the disk; one thread calls them at a time.
    """

    def __init__(self, files: RunFiles) -> None:
        self.files = files
        self.playing = False
        self._begin()

    def _begin(self) -> None:
        self.epoch = secrets.token_hex(4)
        self._contents = Contents()
        self._played: Played | None = None
        self._wave: Wave | None = None
        self._by_index: dict[int, Any] = {}

    @property
    def grown(self) -> bool:
        """Whether the journal is not as long as what was taken in of it."""
        return _size(self.files.journal) != self._contents.size

    @property
    def over(self) -> bool:
        """Whether the game has come to its end and its process is done with it."""
        stops = self._contents.stops
        return not self.playing and bool(stops) and stops[-1].status in FINISHED

    @property
    def told(self) -> int:
        """The number of events told so far."""
        return 0 if self._played is None else len(self._played.play.log)

    @property
    def rounds(self) -> int:
        """The number of rounds begun so far."""
        return 0 if self._played is None else len(self._played.play.table.rounds)

    def look(self) -> bool:
        """Take in what the journal has gained; whether that was anything.

        Raises `JournalError` where it cannot be used, or was played by rules that cannot be played here.
        """
        was = self.playing, self._contents.lines
        self.playing = is_running(self.files.journal)  # asked first: what a process wrote before it ended is seen
        if _size(self.files.journal) < self._contents.size:  # it is another journal now
            self._begin()
        read_on(self.files.journal, self._contents)
        if not self._contents.head:
            if not self.playing:
                raise JournalError(f"{self.files.name}: the run ended before its journal began")
            return False
        if self._played is None:
            scenario, game = restored_scenario(self._contents)
            self._played = Played(scenario, game, new_play(scenario, game, self._contents))
            self._wave = self._played.play.start()
        self._catch_up(self._played)
        return was != (self.playing, self._contents.lines)

    def _catch_up(self, played: Played) -> None:
        while self._wave is not None:
            self._wave = played.play.steered(self._wave)
            entries, decisions = recalled(self._contents, self._wave)
            if decisions is None:
                if self._wave.number < self._contents.last_wave:
                    raise not_whole(self._wave)
                return
            played.decisions.extend(entries)
            self._by_index |= {entry.index: entry for entry in entries}
            self._wave = played.play.answer(decisions)

    def history(self) -> History:
        """The whole history so far."""
        assert self._played is not None, "`look` has found the journal's head"
        contents, now = self._contents, stamp(datetime.now(UTC))
        volatile = volatile_of(self._played.scenario, contents, self.files.name, now, contents.wall_s)
        return self._played.history(self._status(self._played), contents, volatile)

    def _status(self, played: Played) -> str:
        if self.playing or not self._contents.stops:
            return "interrupted"
        return played.finished or self._contents.stops[-1].status

    def since(self, told: int) -> History:
        """The history with nothing but the events after the first `told`, and the decisions that led to them."""
        assert self._played is not None, "`look` has found the journal's head"
        made = {entry.decision or 0 for entry in self._played.play.log[told:]}
        return self._played.since(told, [self._by_index[index] for index in made if index in self._by_index])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise JournalError(f"{path}: cannot be read: {error.strerror or error}") from None
