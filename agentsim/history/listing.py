"""listing: what runs a folder holds, read from their histories, or from their journals where those are all there is."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from agentsim.errors import JournalError, UsageError
from agentsim.history.contents import read_journal
from agentsim.history.files import MANIFEST, RunFiles, is_table
from agentsim.history.journal_file import is_running
from agentsim.history.load import load_history
from agentsim.history.record import History
from agentsim.history.shares import Shares, shares_in

__all__ = ["Run", "list_runs"]


@dataclass(frozen=True)
class Run:
    """One line of the list.

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


def list_runs(directory: Path) -> list[Run]:
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


def _run(files: RunFiles) -> Run:
    running = is_running(files.journal)
    try:
        if files.history.is_file() and not running:
            return _from_history(files.name, load_history(files.history))
        head = read_journal(files.journal).head
        status = "running" if running else "interrupted"
        return Run(files.name, status, str(head["game"]), int(head["seed"]), None, None, str(head["started_at"]))
    except (UsageError, JournalError, ValueError, TypeError, OverflowError):
        return Run(files.name, "unreadable")


def _from_history(name: str, history: History) -> Run:
    return Run(
        name,
        history.status,
        history.game,
        history.seed,
        None if history.outcome is None else history.outcome.winner,
        history.paid.cost_usd,
        history.volatile.get("started_at", ""),
        shares_in(history),
    )
