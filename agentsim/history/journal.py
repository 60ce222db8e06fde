"""Journal: the append-only file that makes a run survive its process.

`journal_reader` reads, and says what an unfinished line means.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import lock_descriptor

from agentsim.engine.codec import NewTexts, adapter, json_line, values
from agentsim.engine.steering import Steer
from agentsim.errors import AgentsimError, JournalError
from agentsim.history.journal_reader import Contents, Entry, Kept, Stop, read_journal
from agentsim.history.versions import JOURNAL_FORMAT
from agentsim.models.base import Attempt

_KNOCKS, _KNOCK_S = 20, 0.01
_DECIDED = "the history has what was decided"


class JournalFile:
    """A journal open for appending; after a failure nothing more is written. `size` is in bytes."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self.size = os.fstat(handle).st_size
        self.failure: str | None = None  # of the first write that failed; nothing may stand behind it
        self._remedy = "`agentsim resume` goes on"
        self._handle = handle

    @classmethod
    def existing(cls, path: Path) -> JournalFile:
        """The file that is there; `JournalError` where it cannot be opened."""
        try:
            return cls(path, os.open(path, os.O_RDWR | os.O_APPEND))
        except OSError as error:
            raise JournalError(f"{path}: cannot be opened: {error.strerror or error}") from None

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._handle < 0

    def lock(self) -> None:
        """Keep other writers out; `JournalError` where there is one, and the file is closed."""
        for _ in range(_KNOCKS):  # `is_running` in another process holds the lock for a moment
            if lock_descriptor(self._handle, blocking=False):
                return
            time.sleep(_KNOCK_S)
        self.close()
        raise JournalError(f"{self.path.name}: another process is playing this run")

    def cut(self, size: int) -> None:
        """Leave only the first `size` bytes."""
        os.ftruncate(self._handle, size)
        self.size = size

    def append(self, data: bytes | bytearray, *, sync: bool = False) -> None:
        """Write all of it, and with `sync` wait for the disk; `AgentsimError` where this or an earlier write failed."""
        left = memoryview(data)
        try:
            while left and self.failure is None:
                taken = os.write(self._handle, left)
                left, self.size = left[taken:], self.size + taken
            if sync and self.failure is None:
                os.fsync(self._handle)
        except OSError as error:
            self.failure = error.strerror or str(error)
        if self.failure is not None:
            raise self._unwritable(self.failure, self._remedy)

    def check(self) -> None:
        """Raise `AgentsimError` if a write failed, or if the file is not the one at `path` with what was written.

        A file that was removed or replaced is still written to, so that the run ends with all that it has paid for.
        """
        mine = os.fstat(self._handle)
        if self.failure is None and mine.st_size != self.size:
            self.failure, self._remedy = "another process has written to it", _DECIDED
        if self.failure is not None:
            raise self._unwritable(self.failure, self._remedy)
        with contextlib.suppress(OSError):
            if os.path.samestat(self.path.stat(), mine):
                return
        raise self._unwritable("it was removed or replaced while the run was played", _DECIDED)

    def _unwritable(self, why: str, remedy: str) -> AgentsimError:
        return AgentsimError(f"{self.path}: cannot write the journal: {why}; {remedy}")

    def close(self) -> None:
        """Close the file and give the lock back."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


MOST_UNWRITTEN = 64 * 1024
"""Bytes of bots' decisions that are buffered until the next write: they cost nothing to repeat."""


class Journal:
    """A journal open for appending, locked against a second writer. `contents` is what it holds."""

    def __init__(self, file: JournalFile, contents: Contents) -> None:
        self.contents = contents
        self._file = file
        self._texts = NewTexts(contents.texts)
        self._unwritten = bytearray()
        self._due = False  # something was added that must be on the disk soon

    @property
    def path(self) -> Path:
        return self._file.path

    @classmethod
    def create(cls, path: Path, handle: int, head: Mapping[str, Any]) -> Journal:
        """Begin a journal in a file that has just been created (see `RunFiles.reserve`)."""
        journal = cls(JournalFile(path, handle), Contents())
        with journal.beginning():
            journal._file.lock()
            journal.contents.head = {"record": "run", "format": JOURNAL_FORMAT, **head}
            journal._put([journal.contents.head])
        return journal

    @contextlib.contextmanager
    def beginning(self) -> Iterator[None]:
        """Closes and deletes the file where the block fails: there is nothing to resume yet."""
        try:
            yield
        except BaseException as error:
            self.path.unlink(missing_ok=True)
            self.close()
            if isinstance(error, AgentsimError) and self._file.failure is not None:
                raise AgentsimError(f"{self.path}: cannot be written: {self._file.failure}") from None
            raise

    @classmethod
    def reopen(cls, path: Path) -> Journal:
        """Open a journal to go on with it: a torn tail is cut off first."""
        file = JournalFile.existing(path)
        try:
            file.lock()
            contents = read_journal(path)
            file.cut(contents.size)
        except BaseException:
            file.close()
            raise
        return cls(file, contents)

    def decided(self, entry: Entry, *, sync: bool) -> None:
        """Append a decision; with `sync` the next `sync()` has it on the disk, along with what came before it."""
        self._add({"record": "decision", **self._json(entry)})
        if sync or len(self._unwritten) > MOST_UNWRITTEN:
            self._write()
        self._due = self._due or sync
        self.contents.put(entry)

    def sync(self) -> None:
        """Sync what is due, and `check`; decisions that came together share one sync."""
        if self._file.closed:  # a timer may fire after the end of one of several games in a loop
            return
        if self._due:
            self._put([])
        self.check()

    def check(self) -> None:
        """Raise `AgentsimError` if the journal can no longer be written, or was removed or replaced."""
        self._file.check()

    def tried(self, wave: int, place: int, player: str, tries: Sequence[Attempt]) -> None:
        """Append attempts at a decision that is not made yet: what was paid for is not paid for again.

        The next `sync()` has them on the disk.
        """
        for attempt in map(self._json, tries):
            self._add({"record": "try", "wave": wave, "place": place, "player": player, "try": attempt})
        self._write()
        self._due = True
        self.contents.keep(wave, place, [Kept(player, attempt) for attempt in tries])

    def chose(self, model: str, mode: str) -> None:
        """Append which structured mode `auto` has chosen for a model: a resumed run goes on in it."""
        self._note(record="structured", model=model, mode=mode)

    def filled(self, player: str, model: str) -> None:
        """Append that a bot has the seat of a person who did not come."""
        self._note(record="filled", player=player, model=model)

    def plays(self, files: Sequence[str]) -> None:
        """Append which files replies come from from now on, where that is not known."""
        if new := [name for name in dict.fromkeys(files) if name not in self.contents.replies]:
            self._note(record="replies", files=new)

    def steered(self, wave: int, does: Steer) -> None:
        """Append what an experimenter does before a wave; `ValueError` for one that has begun."""
        self.contents.check_steered(wave)
        self._note(record="steered", wave=wave, does=does.model_dump(mode="json", exclude_defaults=True))

    def _note(self, **line: Any) -> None:
        self._put([line])
        self.contents.take(line)

    def stopped(self, status: str, at: str, wall_s: float, history: str) -> None:
        """Append that this process is done with the run, and `check`.

        `history` is the digest of the history that it leaves.
        """
        self._put([{"record": "stop", **values(Stop(status, at, round(wall_s, 3), history))}])
        self.check()

    def close(self) -> None:
        if not self._file.closed:
            with contextlib.suppress(AgentsimError):  # bots' decisions may be missing
                self._write()
            self._file.close()

    def _json(self, record: Entry | Attempt) -> dict[str, Any]:
        """The record's values; its texts are in the journal before it."""
        found: dict[str, Any] = adapter(type(record)).dump_python(record, context=self._texts)
        if self._texts.new:
            self._add({"record": "texts", "texts": self._texts.new})
            self._texts.new.clear()
        return found

    def _add(self, line: Mapping[str, Any]) -> None:
        self._unwritten += self.contents.chain.sealed(json_line(line))

    def _put(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Have these lines on the disk, behind all that was added before."""
        for line in lines:
            self._add(line)
        self._write(sync=True)

    def _write(self, *, sync: bool = False) -> None:
        data, self._unwritten = self._unwritten, bytearray()
        self._file.append(data, sync=sync)
        self._due = self._due and not sync
