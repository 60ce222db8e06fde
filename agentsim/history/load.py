"""Load: histories from the disk, one or a list of all in a folder, and their events as the game's own.

Every failure is a `UsageError` of one line, because a history may come from anywhere.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from agentsim.engine.codec import json_line
from agentsim.engine.event import Audience, Everyone, LogEntry, PlayerId
from agentsim.engine.game import Game
from agentsim.errors import AgentsimError, JournalError, UsageError, first_objection
from agentsim.history.contents import read_journal
from agentsim.history.diagnostics import Shares, shares_in
from agentsim.history.journal_file import is_running
from agentsim.history.record import EventRecord, History
from agentsim.history.run_files import MANIFEST, RunFiles, find_run, is_table

__all__ = [
    "RunSummary",
    "again_with",
    "derived",
    "elsewhere",
    "find_source",
    "list_runs",
    "load_history",
    "parsed",
    "read",
    "require_history",
    "told_events",
]


T = TypeVar("T")


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
    """The history in a file; `UsageError` for anything else."""
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


def derived(
    make: Callable[[Sequence[LogEntry], Sequence[PlayerId]], T], log: Sequence[LogEntry], history: History
) -> T:
    """What `make` derives from a log and its players; `UsageError` where the events do not fit each other.

    Each event may be valid by itself. Only the game's code finds out, and may fail with any error.
    """
    try:
        return make(log, [player.id for player in history.seated])
    except AgentsimError:
        raise
    except Exception as error:
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise UsageError(
            f"its events do not fit each other in {history.game}, rules version {history.rules_version} ({problem})"
        ) from error


def told_events(history: History, game: Game) -> list[LogEntry]:
    """The log as the rules told it; `UsageError` where an event is none of this game's."""
    kinds = {event.kind: event for event in game.events}
    log = []
    for part in history.rounds:
        for record in part.events:
            try:
                event = kinds[record.kind].restore(record.data, record.content)
            except (KeyError, ValueError):
                what = f"event {record.seq} ({record.kind[:40]})"
                raise UsageError(f"{what} is none of {game.name}, rules version {game.rules_version}") from None
            to: Audience = Everyone if record.visibility == "all" else tuple(record.visibility)
            log.append(LogEntry(event, to, part.index, _by(record), record.metadata.get("decision")))
    return log


def _by(record: EventRecord) -> str | None:
    if record.role == "narrator":
        return None
    return record.role.removeprefix("player ") if record.role.startswith("player ") else f"@{record.role}"


@dataclass(frozen=True)
class RunSummary:
    """One run of a folder, as `agentsim runs` lists it.

    `status` is the history's; without one it is `running` while a process plays it, `interrupted` after, and
    `unreadable` for files that are no run. `cost_usd` is what the run itself paid, a branch's without its parent's, so
    that it can be added up; so are the `shares` of fallbacks, None where there is no history to count them in.
    """

    name: str
    status: str
    game: str = "-"
    seed: int | None = None
    winner: str | None = None
    cost_usd: float | None = None
    started_at: str = ""
    shares: Shares | None = None

    def to_json(self) -> dict[str, Any]:
        """As `agentsim runs --json` prints it."""
        line = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "shares"}
        return {**line, "fallbacks": None if self.shares is None else self.shares.to_json()}


def list_runs(directory: Path) -> list[RunSummary]:
    """Every run in a folder, oldest first; an empty or missing folder has none."""
    if not directory.is_dir():
        return []
    files = [
        path
        for path in directory.iterdir()
        if path.suffix in {".json", ".jsonl"} and path.name != MANIFEST and path.is_file()
    ]
    names = {path.stem for path in files if path.suffix == ".json"}
    names |= {path.stem for path in files if path.stem not in names and not is_table(path)}
    runs = [_run(RunFiles(directory, name)) for name in names]
    return sorted(runs, key=lambda run: (run.started_at, run.name))


def _run(files: RunFiles) -> RunSummary:
    running = is_running(files.journal)
    try:
        if files.history.is_file() and not running:
            return _from_history(files.name, load_history(files.history))
        head = read_journal(files.journal).head
        status = "running" if running else "interrupted"
        return RunSummary(files.name, status, str(head["game"]), int(head["seed"]), None, None, str(head["started_at"]))
    except (UsageError, JournalError, ValueError, TypeError, OverflowError):
        return RunSummary(files.name, "unreadable")


def _from_history(name: str, history: History) -> RunSummary:
    return RunSummary(
        name,
        history.status,
        history.game,
        history.seed,
        None if history.outcome is None else history.outcome.winner,
        history.paid.cost_usd,
        history.volatile.get("started_at", ""),
        shares_in(history),
    )
