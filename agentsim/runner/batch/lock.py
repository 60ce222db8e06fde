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
    handle = os.open(directory / MANIFEST, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{directory}: another process is playing this batch") from None
        yield
    finally:
        os.close(handle)
