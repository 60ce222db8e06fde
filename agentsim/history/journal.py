"""Journal: the append-only file that makes a run survive its process.

A line counts when it ends in a newline; what stands behind the last one is a write that did not finish.
What the lines hold is `contents`; rules, players and the final history's format do not belong here.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentsim.engine.spelt import SpeltList, SpeltObject, json_of
from agentsim.errors import AgentsimError, JournalError
from agentsim.history.contents import JOURNAL_FORMAT, Contents, Kept, read_journal
from agentsim.history.entry import Entry, entry_to_json, prompt_to_json, try_to_json
from agentsim.history.texts import text_id
from agentsim.players.base import Message, Try

__all__ = ["MOST_UNWRITTEN", "Journal", "is_running"]

MOST_UNWRITTEN = 64 * 1024
"""Bytes of decisions that cost nothing to repeat which may wait for those that do: they need no write each."""

_RESERVE = 256 * 1024
"""Bytes of the disk that are held ready: where it is full, replies that are on their way still find room."""
_FULL = {errno.ENOSPC, errno.EDQUOT}
_KNOCKS, _KNOCK_S = 20, 0.01


class Journal:
    """A journal open for appending, locked against a second writer.

    `contents` is what it holds, whoever wrote it.
    """

    def __init__(self, path: Path, handle: int, contents: Contents) -> None:
        self.path = path
        self.contents = contents
        self._handle = handle
        self._known = set(contents.texts)
        self._unwritten = bytearray()
        self._prompts: dict[int, tuple[tuple[Message, ...], SpeltList]] = {}  # by identity, as long as they are wanted
        self._due = False  # something was added that must be on the disk soon
        self._failure: str | None = None  # of the first write that failed; nothing may stand behind it
        self._reserve: int | None = _reserved(path.parent)  # a file without a name, of bytes that say nothing
        self._full: str | None = None  # why the reserve is in use

    @classmethod
    def create(cls, path: Path, handle: int, head: Mapping[str, Any]) -> Journal:
        """Begin a journal in a file that has just been created (see `RunFiles.reserve`)."""
        journal = cls(path, handle, Contents())
        with journal.beginning():
            journal._lock()
            journal.contents.head = {"record": "run", "format": JOURNAL_FORMAT, **head}
            journal._put([journal.contents.head])
        return journal

    @contextlib.contextmanager
    def beginning(self) -> Iterator[None]:
        """While the block runs there is nothing to resume yet: what fails in it closes the file and deletes it."""
        try:
            yield
        except BaseException as error:
            self.path.unlink(missing_ok=True)
            self.close()
            if isinstance(error, AgentsimError) and self._failure is not None:
                raise AgentsimError(f"{self.path}: cannot be written: {self._failure}") from None
            raise

    @classmethod
    def reopen(cls, path: Path) -> Journal:
        """Open a journal to go on with it: a torn tail is cut off first."""
        try:
            handle = os.open(path, os.O_RDWR | os.O_APPEND)
        except OSError as error:
            raise JournalError(f"{path}: cannot be opened: {error.strerror or error}") from None
        journal = cls(path, handle, Contents())
        try:
            journal._lock()
            contents = read_journal(path)
            os.ftruncate(handle, contents.size)
        except BaseException:
            journal.close()
            raise
        journal.contents = contents
        journal._known = set(contents.texts)
        return journal

    def decided(self, entry: Entry, *, sync: bool) -> None:
        """Append a decision; with `sync` the next `sync()` has it on the disk, along with what came before it."""
        self._add(entry_to_json(entry, self._store, self._prompt))
        if sync or len(self._unwritten) > MOST_UNWRITTEN:
            self._write()
        self._due = self._due or sync
        self.contents.put(entry)

    def expect(self, messages: tuple[Message, ...]) -> None:
        """These have been sent: what can be written of an attempt that has no answer yet is made ready."""
        self._prompts[id(messages)] = messages, SpeltList(prompt_to_json(messages, self._store))

    def sync(self) -> None:
        """Have on the disk what is to be there; decisions that came together share one sync."""
        if self._due:
            self._put([])
        self.check()

    def check(self) -> None:
        """Raise `AgentsimError` where the disk is full: what comes in may still have room, what follows has not."""
        if self._full is not None:
            raise self._unwritable(self._full)

    def tried(self, wave: int, place: int, player: str, tries: Sequence[Try]) -> None:
        """Append attempts at a decision that is not made yet: what was paid for is not paid for again."""
        line = {"record": "try", "wave": wave, "place": place, "player": player}
        attempts = [SpeltObject(try_to_json(attempt, self._store, self._prompt)) for attempt in tries]
        self._put([{**line, "try": attempt} for attempt in attempts])
        kept = self.contents.tries.setdefault((wave, place), [])
        kept += [Kept(player, attempt) for attempt in tries]

    def chose(self, model: str, mode: str) -> None:
        """Append which structured mode `auto` has chosen for a model: a resumed run goes on in it."""
        self._put([{"record": "structured", "model": model, "mode": mode}])
        self.contents.structured[model] = mode

    def plays(self, files: Sequence[str]) -> None:
        """Append which files replies come from from now on, where that is not known."""
        if new := [name for name in dict.fromkeys(files) if name not in self.contents.replies]:
            self._put([{"record": "replies", "files": new}])
            self.contents.replies += new

    def stopped(self, status: str, at: str, wall_s: float) -> None:
        """Append that this process is done with the run."""
        self._put([{"record": "stop", "status": status, "at": at, "wall_s": round(wall_s, 3)}])

    def close(self) -> None:
        """Close the file and give the lock back."""
        if self._handle >= 0:
            with contextlib.suppress(AgentsimError):  # what costs nothing to repeat may be missing
                self._write()
            os.close(self._handle)
            self._handle = -1
            self._give_up_reserve()

    def _prompt(self, messages: tuple[Message, ...]) -> list[Any]:
        ready = self._prompts.pop(id(messages), None)
        return prompt_to_json(messages, self._store) if ready is None else ready[1]

    def _store(self, texts: Sequence[str]) -> list[str]:
        names = [text_id(text) for text in texts]
        if not self._known.issuperset(names):  # nearly always all of them are: of a prompt's sixty parts few are new
            for name, text in zip(names, texts, strict=True):
                if name not in self._known:
                    self._known.add(name)
                    self._add({"record": "text", "id": name, "text": text})
        return names

    def _add(self, line: Mapping[str, Any]) -> None:
        self._unwritten += json_of(line)
        self._unwritten += b"\n"

    def _put(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Have these lines on the disk, behind all that was added before."""
        for line in lines:
            self._add(line)
        self._write(sync=True)

    def _write(self, *, sync: bool = False) -> None:
        data, self._unwritten = memoryview(self._unwritten), bytearray()
        try:
            if self._failure is None:
                while data:
                    data = data[self._taken(data) :]
                if sync:
                    os.fsync(self._handle)
                    self._due = False
        except OSError as error:
            self._failure = error.strerror or str(error)
        if self._failure is not None:
            raise self._unwritable(self._failure)

    def _taken(self, data: memoryview) -> int:
        """How many of these bytes the file took; a disk that is full is given what was held ready."""
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

    def _lock(self) -> None:
        for _ in range(_KNOCKS):  # whoever only looks whether the run is being played holds the lock for a moment
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(_KNOCK_S)
        self.close()
        raise JournalError(f"{self.path.name}: another process is playing this run")


def _reserved(directory: Path) -> int | None:
    """A file without a name that takes up room; None where there is none to hold."""
    with contextlib.suppress(OSError), tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        if file.write(bytes(_RESERVE)) == _RESERVE:
            return os.dup(file.fileno())
    return None


def is_running(path: Path) -> bool:
    """Whether some process holds the journal's lock now."""
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
