"""Journal: the append-only file that makes a run survive its process, record by record.

It only writes, by `journal_file`. `contents` reads, and says what an unfinished line means.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentsim.engine.codec import adapter, json_line, text_id, values
from agentsim.errors import AgentsimError
from agentsim.history.contents import JOURNAL_FORMAT, Contents, Entry, Kept, Stop, read_journal
from agentsim.history.journal_file import JournalFile
from agentsim.models.base import Attempt

MOST_UNWRITTEN = 64 * 1024
"""Bytes of bots' decisions that are buffered until the next write: they cost nothing to repeat."""


class Journal:
    """A journal open for appending, locked against a second writer. `contents` is what it holds."""

    def __init__(self, file: JournalFile, contents: Contents) -> None:
        self.contents = contents
        self._file = file
        self._known = set(contents.texts)
        self._unwritten = bytearray()
        self._due = False  # something was added that must be on the disk soon

    @property
    def path(self) -> Path:
        """Where it is; a journal that was removed while it was written is saved elsewhere."""
        return self._file.path

    @classmethod
    def create(cls, path: Path, handle: int, head: Mapping[str, Any]) -> Journal:
        """Begin a journal in a file that has just been created (see `RunFiles.reserve`)."""
        journal = cls(JournalFile(path, handle), Contents())
        journal.contents.chain.protected = True
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
        """Sync what is due; decisions that came together share one sync.

        Raises `AgentsimError` also where the run must stop though everything is written: see `JournalFile.check`.
        """
        if self._file.closed:  # a timer may fire after the end of one of several games in a loop
            return
        if self._due:
            self._put([])
        self.check()

    def check(self) -> None:
        """Raise `AgentsimError` where the run must stop, though what came in is saved."""
        self._file.check()

    def tried(self, wave: int, place: int, player: str, tries: Sequence[Attempt]) -> None:
        """Append attempts at a decision that is not made yet: what was paid for is not paid for again."""
        line = {"record": "try", "wave": wave, "place": place, "player": player}
        self._put([{**line, "try": attempt} for attempt in map(self._json, tries)])
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

    def stopped(self, status: str, at: str, wall_s: float, history: str | None = None) -> None:
        """Append that this process is done with the run; `history` is the digest of the history that it leaves."""
        self._put([{"record": "stop", **values(Stop(status, at, round(wall_s, 3), history))}])

    def close(self) -> None:
        if not self._file.closed:
            with contextlib.suppress(AgentsimError):  # bots' decisions may be missing
                self._write()
            self._file.close()

    def _json(self, record: Entry | Attempt) -> dict[str, Any]:
        """The record's values; its texts are in the journal before it."""
        found: dict[str, Any] = adapter(type(record)).dump_python(record, context=self._store)
        return found

    def _store(self, texts: Sequence[str]) -> list[str]:
        names = [text_id(text) for text in texts]
        for name, text in zip(names, texts, strict=True):
            if name not in self._known:
                self._known.add(name)
                self._add({"record": "text", "id": name, "text": text})
        return names

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
