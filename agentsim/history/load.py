"""Load: histories from the disk, and the runs and branches of a folder.

Every failure is a `UsageError` of one line, because a history may come from anywhere.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from agentsim.engine.codec import Texts, json_line
from agentsim.errors import AgentsimError, JournalError, UsageError, first_objection
from agentsim.history.journal import read_journal
from agentsim.history.record import Branch, History
from agentsim.history.run_files import MANIFEST, RunFiles, find_run, is_running, is_table, read_history, run_name
from agentsim.history.shares import Shares, shares_in
from agentsim.history.versions import HISTORY_FORMAT, require_version


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
    try:
        read_journal(files.journal, most_lines=1)
    except JournalError as error:  # to resume it would not help
        raise UsageError(f"{files.name}: has no history, and no journal that can be read: {error}") from None
    raise UsageError(f"{files.name}: has a journal but no history yet; `{again_with(files)}` ends the run")


_MOST_PLACES = 25  # of texts that a byte of a file may name, on average: at most 200 bytes of memory


def load_history(path: Path) -> History:
    """The history in a file; `UsageError` for anything else."""
    return parsed(read(path), path)


def read(path: Path) -> bytes:
    """The JSON in a history file; `UsageError` if it cannot be read."""
    try:
        return read_history(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"{path}: is not an agentsim history: {error}") from None


def parsed(raw: bytes, path: Path) -> History:
    """The history that these bytes are; `path` is for the error line."""
    try:
        document = from_json(raw, cache_strings="keys")
    except ValueError as error:
        raise UsageError(f"{path}: is not an agentsim history: the file: Invalid JSON: {error}") from None
    if not isinstance(document, dict):
        raise UsageError(f"{path}: is not an agentsim history: the file: must be an object")
    finite = _finite(document)
    try:
        history = History.model_validate(document, context=Texts(most=_MOST_PLACES * len(raw)))
    except ValidationError as error:
        require_version(str(path), raw, written_as=HISTORY_FORMAT)
        where, why = first_objection(error)
        why = why.replace("Input should be", "must be")
        raise UsageError(f"{path}: is not an agentsim history: {where or 'the file'}: {why}") from None
    if not finite:
        raise UsageError(f"{path}: is not an agentsim history: it holds a number that JSON cannot express")
    require_version(str(path), dict(history), written_as=HISTORY_FORMAT)
    return history


def _finite(document: Any) -> bool:
    """Whether the numbers of a JSON document are all finite."""
    try:
        json_line(document)
    except ValueError:
        return False
    return True


def again_with(files: RunFiles) -> str:
    return f"agentsim resume {files.name}{elsewhere(files.directory)}"


def elsewhere(directory: Path) -> str:
    """The option that a command to copy needs where runs are not kept in `logs`."""
    return "" if str(directory) == "logs" else f" --logs-dir {shlex.quote(str(directory))}"


_LAST = ("shares", "shared", "fork")


@dataclass(frozen=True)
class RunSummary:
    """One run of a folder, as `agentsim runs` lists it.

    `status` is the history's; without one it is `running` while a process plays it, `interrupted` after, and
    `unreadable` for files that are no run. `cost_usd` is what the run itself paid, a branch's without its parent's, so
    that it can be added up; so are the `shares` of fallbacks, None where there is no history to count them in.
    `trouble` says what is wrong with a journal or a history that cannot be read. `models` counts the players of each.
    `shared` is why a game ended whose first place is shared, such as by a team; `fork` is what a branch is of.
    """

    name: str
    status: str
    game: str = "-"
    seed: int | None = None
    winner: str | None = None
    cost_usd: float | None = None
    started_at: str = ""
    shares: Shares | None = None
    models: Mapping[str, int] = field(default_factory=dict)
    trouble: str | None = None
    shared: str | None = None
    fork: Branch | None = None

    @property
    def first(self) -> str | None:
        """The winner, or how the first place is shared; None where no place is ranked."""
        return self.winner or (None if self.shared is None else f"shared ({self.shared.replace('_', ' ')})")

    @property
    def branch_of(self) -> str:
        """Which branch it is of which run; nothing of a run of its own."""
        if (fork := self.fork) is None:
            return ""
        named = ("" if fork.arm is None else f" of arm {fork.arm}", "" if fork.branch is None else f" {fork.branch}")
        return f"branch{named[1]}{named[0]} of {fork.of} at {fork.at}"

    def to_json(self) -> dict[str, Any]:
        """As `agentsim runs --json` prints it."""
        line = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _LAST}
        fork = self.fork and {key: getattr(self.fork, key) for key in ("of", "at", "arm", "branch")}
        fallbacks = None if self.shares is None else self.shares.to_json()
        return {**line, "fallbacks": fallbacks, "shared": self.shared, "fork": fork}


def list_runs(directory: Path) -> list[RunSummary]:
    """Every run in a folder, oldest first; an empty or missing folder has none."""
    runs = [summarized(RunFiles(directory, name)) for name in run_names(directory)]
    return sorted(runs, key=lambda run: (run.started_at, run.name))


def run_names(directory: Path) -> set[str]:
    """The names of the runs in a folder, by its files alone."""
    if not directory.is_dir():
        return set()
    names = {files.name for files in runs_with_history(directory)}
    journals = (path for path in directory.glob("*.jsonl") if path.is_file())
    return names | {path.stem for path in journals if path.stem not in names and not is_table(path)}


def runs_with_history(directory: Path) -> list[RunFiles]:
    """The runs in a folder that have a history file, sorted by name."""
    found = [path for suffix in (".json", ".json.gz") for path in directory.glob(f"*{suffix}")]
    # to read a pipe of that name would never end
    names = {run_name(path.name) for path in found if path.name != MANIFEST and path.is_file()}
    return [RunFiles(directory, name) for name in sorted(names, key=lambda name: f"{name}.json")]


def summarized(files: RunFiles) -> RunSummary:
    """One run as `list_runs` has it."""
    running = is_running(files.journal)
    try:
        if files.history.is_file() and not running:
            history = load_history(files.history)
            alone = history.outcome is None or history.outcome.winner is not None or not history.outcome.ranked
            return RunSummary(
                name=files.name,
                status=history.status,
                game=history.game,
                seed=history.seed,
                winner=None if history.outcome is None else history.outcome.winner,
                cost_usd=history.paid.cost_usd,
                started_at=history.volatile.get("started_at", ""),
                shares=shares_in(history),
                models=Counter(player.model for player in history.seated),
                trouble=None if _begins(files.journal) else "the journal cannot be read; the history can",
                shared=None if alone or history.outcome is None else history.outcome.reason,
                fork=history.fork,
            )
        head = read_journal(files.journal).head
        models = [player["model"] for player in head.get("scenario", {}).get("players", ())]
        return RunSummary(
            name=files.name,
            status="running" if running else "interrupted",
            game=str(head["game"]),
            seed=int(head["seed"]),
            started_at=str(head["started_at"]),
            models=Counter(model if isinstance(model, str) else " > ".join(model) for model in models),
            fork=Branch.restore(head["fork"]) if head.get("fork") else None,
        )
    except (UsageError, JournalError, ValueError, TypeError, LookupError, OverflowError) as error:
        what = str(error) if isinstance(error, AgentsimError) else "the journal's first line does not describe a run"
        return RunSummary(files.name, "unreadable", trouble=what)


def _begins(journal: Path) -> bool:
    """Whether a journal's first line can be one; also where there is no journal."""
    if not journal.is_file():
        return True
    with journal.open("rb") as file:
        first = file.readline()
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def branches_in(directory: Path) -> Iterator[tuple[RunFiles, Branch]]:
    """Every branch with a journal in the folder, finished or not, by name; what cannot be read is passed over."""
    for path in sorted(directory.glob("*.jsonl")):
        if not path.is_file():
            continue
        with path.open("rb") as file:
            first = file.readline()
        if b'"fork"' not in first:
            continue  # most runs of a large folder are no branches
        try:
            branch = Branch.restore(json.loads(first)["fork"])
        except (KeyError, TypeError, ValueError, RecursionError):
            continue  # a table, or not readable
        yield RunFiles(directory, path.stem), branch
