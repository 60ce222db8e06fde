"""Journal file: an append-only file that is locked and synced, and survives a full disk and its own removal.

`journal` decides what is written.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import time
from pathlib import Path

from filelock import lock_descriptor

from agentsim.errors import AgentsimError, JournalError, UsageError
from agentsim.history.run_files import RunFiles

_RESERVE = 256 * 1024
"""Bytes of disk space that are reserved, so that replies on their way can be written when the disk is full."""
_FULL = {errno.ENOSPC, errno.EDQUOT}
_LONGEST = 90  # of a name that may get a number behind it
_KNOCKS, _KNOCK_S = 20, 0.01


class JournalFile:
    """A journal open for appending; after a failure nothing more is written. `size` is in bytes."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self.size = os.fstat(handle).st_size
        self.failure: str | None = None  # of the first write that failed; nothing may stand behind it
        self._handle = handle
        self._reserve: int | None = _reserved(path.parent)  # a file without a name, of bytes that say nothing
        self._full: str | None = None  # why the reserve is in use
        self._moved: str | None = None  # why the run must stop, though what it wrote is saved

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
            if self.failure is None:
                while left:
                    taken = self._taken(left)
                    left, self.size = left[taken:], self.size + taken
                if sync:
                    os.fsync(self._handle)
        except OSError as error:
            self.failure = error.strerror or str(error)
        if self.failure is not None:
            raise self._unwritable(self.failure)

    def check(self) -> None:
        """Raise `AgentsimError` where the run must stop, though what came in is saved.

        The disk is full, or the file is not the one at `path` any more: then what it holds is written again.
        """
        self._find()
        if self._full is not None:
            raise self._unwritable(self._full)
        if self._moved is not None:
            raise AgentsimError(self._moved)

    def close(self) -> None:
        """Close the file and give the lock back."""
        self._give_up_reserve()
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _taken(self, data: memoryview) -> int:
        """How many of these bytes were written; on a full disk the reserve is given up first."""
        try:
            return os.write(self._handle, data)
        except OSError as error:
            if self._reserve is None or error.errno not in _FULL:
                raise
            self._full = error.strerror
            self._give_up_reserve()
            return os.write(self._handle, data)

    def _give_up_reserve(self) -> None:
        if self._reserve is not None:
            os.close(self._reserve)
            self._reserve = None

    def _unwritable(self, why: str) -> AgentsimError:
        return AgentsimError(f"{self.path}: cannot write the journal: {why}; `agentsim resume` goes on")

    def _find(self) -> None:
        """Notice that the file was removed, replaced or written to by others, and save what it holds."""
        mine = os.fstat(self._handle)
        if mine.st_size != self.size:
            self.failure = self.failure or "another process has written to it"
            raise AgentsimError(f"{self.path}: {self.failure}; the history has what was decided")
        with contextlib.suppress(OSError):
            if os.path.samestat(self.path.stat(), mine):
                return
        lost, old = self.path, self._handle
        try:
            self._save(old)
        except (OSError, UsageError) as error:
            self.failure = f"it was removed, and cannot be saved whole: {getattr(error, 'strerror', None) or error}"
            raise self._unwritable(self.failure) from None
        os.close(old)
        self._moved = (
            f"{lost}: the journal was removed or replaced while the run was played; what it held is saved as "
            f"{self.path}: `agentsim resume {self.path.stem}` goes on"
        )

    def _save(self, old: int) -> None:
        """Write what is in the open file under its name again, or under another where that is taken."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        except FileExistsError:
            files, self._handle = RunFiles.reserve(self.path.parent, self.path.stem[:_LONGEST])
            self.path = files.journal
        self.lock()
        with os.fdopen(os.dup(old), "rb") as source:
            source.seek(0)
            while piece := memoryview(source.read(1 << 20)):
                while piece:
                    piece = piece[self._taken(piece) :]
        os.fsync(self._handle)


def _reserved(directory: Path) -> int | None:
    """A file without a name that takes up room; None where there is none to hold."""
    with contextlib.suppress(OSError), tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        if file.write(bytes(_RESERVE)) == _RESERVE:
            return os.dup(file.fileno())
    return None


def is_running(path: Path) -> bool:
    """Whether some process holds the journal's lock now."""
    import fcntl  # a shared lock, so that two who look at once do not see each other: `filelock` has none

    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
