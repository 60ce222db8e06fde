"""pages: runs' files as commands meet them: whether there is a history to show, and the page written from it.

How a page looks is `report`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentsim.history.files import RunFiles
    from agentsim.report.page import PageOptions

__all__ = ["check_history", "left_out", "require_source", "unless_unusable", "write_page"]


def require_source(source: str, logs_dir: Path) -> RunFiles | Path:
    """The run of that name or path, or the directory that is there; `UsageError` where there is neither."""
    from agentsim.errors import UsageError
    from agentsim.history.files import RunFiles
    from agentsim.history.load import find_source

    found = find_source(source, logs_dir)
    if isinstance(found, RunFiles) or found.is_dir():
        return found
    raise UsageError(f"{source}: is neither a run in {logs_dir} nor a directory")


def left_out(name: str, why: str) -> None:
    """Say that a run of a directory is left out, and why."""
    from agentsim.cli.terminal_output import note, shortened

    note(shortened(f"agentsim: {name} is left out: {why}", 300))


@contextmanager
def unless_unusable(name: str) -> Iterator[None]:
    """A run of a directory is used while the block runs; where it cannot be, it is left out."""
    from agentsim.errors import UsageError

    try:
        yield
    except UsageError as error:
        left_out(name, str(error).removeprefix(f"{name}: "))


def check_history(files: RunFiles, shown: str) -> None:
    """Raise `UsageError` where there is no history; say so where what is `shown` is behind the game being played."""
    from agentsim.cli.terminal_output import note
    from agentsim.history.journal_file import is_running
    from agentsim.history.load import require_history

    require_history(files)
    if is_running(files.journal):
        note(f"agentsim: {files.name}: is being played now; {shown} it as it last stopped")


def write_page(files: RunFiles, options: PageOptions) -> Path:
    """Write NAME.html from NAME.json."""
    from agentsim.history.files import write_whole
    from agentsim.history.load import load_history
    from agentsim.report.page import page_of

    write_whole(files.page, page_of(load_history(files.history), options, name=files.name, directory=files.directory))
    return files.page
