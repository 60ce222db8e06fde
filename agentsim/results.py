"""Recorded runs for Python programs: histories, their tables as DataFrames, and their pages. `api` plays runs."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from agentsim.engine.game import Outcome
from agentsim.engine.wording import counted
from agentsim.errors import AgentsimError
from agentsim.lazy import dataclass
from agentsim.records.folders import listed, read_folder
from agentsim.records.formats import Tables
from agentsim.records.history import EventRecord, History
from agentsim.records.journal import DecisionRecord, Totals
from agentsim.records.load import find_source, parsed, read, require_history
from agentsim.records.run_files import RunFiles, run_name, write_whole
from agentsim.records.tables import run_tables


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """A recorded run: its name, the path of its history, and the history.

    `history` has it as JSON values, `typed_history` as records. Tables are built on first use.
    """

    name: str
    path: Path
    history: dict[str, Any]
    typed_history: History

    def __repr__(self) -> str:
        return f"<RecordedRun {self.name}: {self.history['game']}, seed {self.history['seed']}, {self.status}>"

    @cached_property
    def tables(self) -> Tables:
        """The tables as DataFrames, with exactly their documented columns (extra `data`)."""
        return Tables(run_tables(self.typed_history))

    @property
    def status(self) -> str:
        """`completed`, `degraded`, `interrupted`, `stopped_provider`, `stopped_budget` or `failed`."""
        return str(self.history["status"])

    @property
    def outcome(self) -> Outcome | None:
        """The reason for the end of the game, its winner and its standings, or None if it did not end."""
        return self.typed_history.outcome

    @property
    def events(self) -> list[EventRecord]:
        """All events, in order."""
        return [event for part in self.typed_history.rounds for event in part.events]

    @property
    def decisions(self) -> list[DecisionRecord]:
        """All decisions, in order, with their attempts."""
        return self.typed_history.decisions

    @property
    def usage(self) -> Totals:
        """The calls, tokens and US dollars."""
        return self.typed_history.usage

    def page_path(self, as_seen_by: str | None = None) -> Path:
        """Return the path of the run's page, or of the page of one player's view.

        Raises `UsageError` for an unknown player.
        """
        from agentsim.report.player_view import seated_player

        files = RunFiles(self.path.parent, self.name)
        if as_seen_by is None:
            return files.page
        return files.seen_by(
            seated_player(self.typed_history, as_seen_by), [player.id for player in self.typed_history.seated]
        )

    def page(
        self,
        path: str | os.PathLike[str],
        *,
        include_prompts: bool = False,
        include_reasoning: bool = False,
        include_usage: bool = False,
        as_seen_by: str | None = None,
    ) -> Path:
        """Write the run's page to `path`, replacing a file there, and return the path. Makes its folder."""
        from agentsim.report.page import PageOptions, page_of

        options = PageOptions(include_prompts, include_reasoning, include_usage, as_seen_by)
        target = Path(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AgentsimError(f"{target.parent}: cannot be made: {error.strerror}") from None
        write_whole(target, page_of(self.typed_history, options, name=self.name, directory=self.path.parent))
        return target


@dataclass(frozen=True, eq=False)
class RecordedRuns:
    """All runs of a folder. Each table begins with the columns `run, game, seed, status` and the settings that vary.

    `skipped` gives the reason for each run that is left out.
    """

    directory: Path
    names: tuple[str, ...]
    tables: Tables
    skipped: Mapping[str, str]

    def __repr__(self) -> str:
        count = f"{len(self.names)} of {counted(len(self.names) + len(self.skipped), 'run')}"
        return f"<RecordedRuns {self.directory}: {count}; {self.tables!r}>"

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> RecordedRun:
        if name not in self.names:
            raise KeyError(f"{name}: there is no such run")
        return run_in(RunFiles(self.directory, name))


def logs_folder(logs_dir: str | os.PathLike[str] | None) -> Path:
    """Return the folder of runs: the given one, else `AGENTSIM_LOGS_DIR`, else `logs`."""
    return Path(logs_dir or os.environ.get("AGENTSIM_LOGS_DIR") or "logs")


def load(
    source: str | os.PathLike[str], *, logs_dir: str | os.PathLike[str] | None = None
) -> RecordedRun | RecordedRuns:
    """Load a run, or all runs of a folder, with `.tables` of pandas DataFrames (extra `data`).

    `source` is the name of a run in `logs_dir` (by default `AGENTSIM_LOGS_DIR` or `logs`), the path of a history, or a
    folder of runs. Raises `agentsim.errors.UsageError` if it does not exist or cannot be read.
    """
    found = find_source(os.fspath(source), logs_folder(logs_dir))
    if isinstance(found, RunFiles):
        require_history(found)
        return run_in(found)
    if not found.is_dir():
        return _run(run_name(found.name), found)
    folder = read_folder(found)
    if folder.skipped:
        warnings.warn(f"{found}: left out, without a readable history: {listed(folder.skipped)}", stacklevel=2)
    return RecordedRuns(found, folder.names, Tables(folder.tables), folder.skipped)


def run_in(files: RunFiles) -> RecordedRun:
    """Load the run of these files. Raises `UsageError` if its history cannot be read."""
    return _run(files.name, files.history)


def _run(name: str, path: Path) -> RecordedRun:
    raw = read(path)
    record = parsed(raw, path)  # raises UsageError if the file is not a history
    return RecordedRun(name, path, json.loads(raw), record)
