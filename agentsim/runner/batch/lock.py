"""lock: one process at a time plays a batch."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentsim.errors import UsageError
from agentsim.history.files import MANIFEST

__all__ = ["locked"]


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the manifest's lock for the block; `UsageError` where another process holds it."""
    handle = _held(directory)
    try:
        yield
    finally:
        os.close(handle)


def _held(directory: Path) -> int:
    """The manifest, open and locked; of one that was replaced in between the lock would keep nobody out."""
    while True:
        handle = os.open(directory / MANIFEST, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), (directory / MANIFEST).stat()):
                return handle
        except BlockingIOError:
            os.close(handle)
            raise UsageError(f"{directory}: another process is playing this batch") from None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
