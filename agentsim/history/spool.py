"""Spool: records in a file without a name, which is gone with the process that wrote it."""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from agentsim.engine.codec import NewTexts, Texts, adapter
from agentsim.history.journal_reader import Entry

T = TypeVar("T")


class Spool(Generic[T]):
    """Keeps records on the disk, in this directory or, without one, in that of temporary files.

    The file is made when the first ones come. What cannot be kept, because the disk is full or a record is of a class
    that no other process could name, is refused.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        self._handle = -1
        self._ends = array("q", [0])  # where each record ends, and the next one begins

    def keep(self, records: Sequence[T]) -> bool:
        """Take the next ones; False where they cannot be kept: none of them is."""
        try:
            pieces = [pickle.dumps(self._shortened(record), pickle.HIGHEST_PROTOCOL) for record in records]
            self._write(b"".join(pieces))
        except (OSError, pickle.PicklingError, AttributeError, TypeError, RecursionError):
            return False
        for piece in pieces:
            self._ends.append(self._ends[-1] + len(piece))
        return True

    def _write(self, data: bytes) -> None:
        if self._handle < 0:
            with tempfile.TemporaryFile(dir=self._directory, buffering=0) as file:
                self._handle = os.dup(file.fileno())
            weakref.finalize(self, os.close, self._handle)
        written, left = self._ends[-1], memoryview(data)
        while left:
            done = os.pwrite(self._handle, left, written)
            written, left = written + done, left[done:]

    def at(self, number: int) -> T:
        """A record as it was, by its number from 0 on."""
        start, end = self._ends[number], self._ends[number + 1]
        data = os.pread(self._handle, end - start, start)
        return self._restored(pickle.loads(data))  # noqa: S301 - this process wrote it, and no other can open the file

    def _shortened(self, record: T) -> Any:
        """What is written of a record."""
        return record

    def _restored(self, written: Any) -> T:
        record: T = written
        return record

    def __len__(self) -> int:
        return len(self._ends) - 1


class DecisionSpool(Spool[Entry]):
    """A spool of decisions in which the journal's texts stand by their places, as in its lines."""

    def __init__(self, directory: Path, texts: Texts, places: NewTexts) -> None:
        super().__init__(directory)
        self._texts, self._places = texts, places

    def _shortened(self, record: Entry) -> Any:
        # a bot's has no texts
        return adapter(Entry).dump_python(record, context=self._places) if record.tries else record

    def _restored(self, written: Any) -> Entry:
        if isinstance(written, dict):
            written = adapter(Entry).validate_python(written, context=self._texts)
        entry: Entry = written
        return entry
