"""Disk: locks of files, and the message for a file that could not be written, with the free space."""

from __future__ import annotations

import errno
import os
import shutil
import time
from pathlib import Path

from filelock import lock_descriptor

from agentsim.engine.wording import counted

NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
"""The errno values for a full disk, a used-up quota, and a file above the size limit."""
_TRIES, _WAIT_S = 20, 0.01


def lock_soon(handle: int) -> bool:
    """Lock an open file against other writers; return whether it could be locked within a fifth of a second.

    `run_files.is_running` in another process holds the lock for a moment.
    """
    for _ in range(_TRIES):
        if lock_descriptor(handle, blocking=False):
            return True
        time.sleep(_WAIT_S)
    return False


def write_problem(error: OSError, path: Path, needed: int = 0) -> str:
    """Return the system's words for a failed write to `path`; if there is no room, also the needed and the free space.

    `needed` is in bytes, 0 if unknown. The free space is left out for a quota: the system does not report its rest.
    """
    why = error.strerror or str(error)
    if error.errno not in NO_ROOM:
        return why
    said = [f"{counted(needed, 'byte')} {'is' if needed == 1 else 'are'} needed"] if needed else []
    if error.errno == errno.ENOSPC and (free := _free(path)):
        said.append(free)
    return "; ".join(filter(None, (why, " and ".join(said))))


def _free(path: Path) -> str:
    """Return the free space of a file's disk in words, or "" if it is unknown."""
    folder = next((folder for folder in path.absolute().parents if folder.is_dir()), Path("/"))
    try:
        free = shutil.disk_usage(folder).free
        if hasattr(os, "statvfs") and free and (counts := os.statvfs(folder)).f_files and not counts.f_favail:
            return "no more files fit there"
    except OSError:
        return ""
    return f"{free} free in {folder}"
