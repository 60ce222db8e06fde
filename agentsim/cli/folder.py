"""folder: whether a folder can be made and written in, asked before anything is written."""

from __future__ import annotations

import os
from pathlib import Path

from agentsim.errors import UsageError

__all__ = ["check_folder"]


def check_folder(directory: Path) -> None:
    """Raise `UsageError` where files could not be written into this folder; it need not be there yet."""
    try:
        nearest = next(filter(_there, (directory, *directory.parents, *directory.absolute().parents)))
        blocked = not nearest.is_dir()
    except OSError as error:
        raise UsageError(f"{directory}: cannot be made: {error.strerror or error}") from None
    if blocked:
        raise UsageError(f"{nearest}: there and not a directory; nothing was written")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UsageError(f"{directory}: cannot be written in; nothing was written")


def _there(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
