"""Spool: blocks of records in a file without a name, which is gone with the process that wrote it."""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")


class Spool(Generic[T]):
    """Keeps blocks on the disk, in this directory or, without one, in that of temporary files.

    The file is made when the first block comes. What cannot be kept, because the disk is full or a record is of a class
    that no other process could name, is refused, and so is all that comes later.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        self._handle = -1
        self._blocks: list[tuple[int, int]] = []  # where each begins, and its bytes
        self._end = 0
        self._refuses = False

    def keep(self, block: Sequence[T]) -> bool:
        """Take the next block; False where it cannot be kept, and no later one will be."""
        if self._refuses:
            return False
        try:
            data = memoryview(pickle.dumps(list(block), pickle.HIGHEST_PROTOCOL))
            if self._handle < 0:
                with tempfile.TemporaryFile(dir=self._directory, buffering=0) as file:
                    self._handle = os.dup(file.fileno())
                weakref.finalize(self, os.close, self._handle)
            written = 0
            while written < len(data):
                written += os.pwrite(self._handle, data[written:], self._end + written)
        except (OSError, pickle.PicklingError, AttributeError, TypeError, RecursionError):
            self._refuses = True
            return False
        self._blocks.append((self._end, len(data)))
        self._end += len(data)
        return True

    def block(self, number: int) -> list[T]:
        """A block as it was, by its number from 0 on."""
        start, size = self._blocks[number]
        pieces = bytearray()
        while len(pieces) < size:
            if not (piece := os.pread(self._handle, size - len(pieces), start + len(pieces))):
                raise OSError("the spool is shorter than what was written to it")
            pieces += piece
        found: list[T] = pickle.loads(pieces)  # noqa: S301 - this process wrote it, and no other can open the file
        return found

    def __len__(self) -> int:
        return len(self._blocks)
