"""load: a run's history off the disk, and in one line why it cannot be had. What is in it is `record`'s business."""

from __future__ import annotations

import shlex
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import from_json

from agentsim.engine.codec import json_line
from agentsim.errors import UsageError, first_objection
from agentsim.history.files import RunFiles, find_run
from agentsim.history.journal_file import is_running
from agentsim.history.record import History

__all__ = ["again_with", "elsewhere", "find_source", "load_history", "parsed", "read", "require_history"]


def find_source(source: str, logs_dir: Path) -> RunFiles | Path:
    """The run of that name in the logs folder, or else the file or folder at that path; `UsageError` otherwise."""
    try:
        return find_run(logs_dir, source)
    except UsageError:
        if source and (path := Path(source)).exists():
            return path
        if "/" in source:
            raise UsageError(f"{source}: there is no such file or folder") from None
        raise


def require_history(files: RunFiles) -> None:
    """Raise `UsageError` where a run has no history, saying why and what would make one."""
    if files.history.is_file():
        return
    if is_running(files.journal):
        raise UsageError(f"{files.name}: is being played now; there is no history yet")
    raise UsageError(f"{files.name}: has a journal but no history yet; `{again_with(files)}` ends the run")


def load_history(path: Path) -> History:
    """The history in a file; `UsageError` in one line for anything else, since a log is foreign data too."""
    return parsed(read(path), path)


def read(path: Path) -> bytes:
    """What a file holds."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None


def parsed(raw: bytes, path: Path) -> History:
    """The history that these bytes are; `path` is for the error line."""
    try:
        history = History.model_validate_json(raw)
        json_line(from_json(raw, allow_inf_nan=False))  # or of any value in it a number might be none
    except ValidationError as error:
        where, why = first_objection(error)
        why = why.replace("Input should be", "must be")
        raise UsageError(f"{path}: is not an agentsim history: {where or 'the file'}: {why}") from None
    except ValueError:
        raise UsageError(f"{path}: is not an agentsim history: it holds a number that JSON has no word for") from None
    return history


def again_with(files: RunFiles) -> str:
    """The command that goes on with a run."""
    return f"agentsim resume {files.name}{elsewhere(files.directory)}"


def elsewhere(directory: Path) -> str:
    """The option that a command to copy needs where runs are not kept in `logs`."""
    return "" if str(directory) == "logs" else f" --logs-dir {shlex.quote(str(directory))}"
