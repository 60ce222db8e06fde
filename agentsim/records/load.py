"""Load: histories from the disk, and the runs and branches of a folder.

Every failure is a `UsageError` of one line, because histories may come from anywhere.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from glob import escape
from pathlib import Path, PurePath
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from agentsim.engine.codec import Texts, json_line
from agentsim.engine.wording import near
from agentsim.errors import AgentsimError, JournalError, UsageError, first_objection
from agentsim.records.fallback_rates import FallbackRates, fallback_rates_in
from agentsim.records.history import Branch, History
from agentsim.records.interviews import later_interviews
from agentsim.records.journal import read_journal
from agentsim.records.run_files import MANIFEST, RunFiles, find_run, is_running, is_table, read_history, run_name
from agentsim.records.versions import HISTORY_FORMAT, require_version


def run_place(source: str, logs_dir: Path) -> tuple[Path, str]:
    """Return the folder and the name of a run, which need not exist.

    `source` is a name in the logs folder, FOLDER/NAME in the working directory or the logs folder, or the path of one
    of the run's files. Raises `UsageError` if there is no such folder.
    """
    path = Path(source)
    if "/" not in source:
        own = path.suffix and not _is_run(logs_dir, run_name(source)) and path.is_file()
        return (Path() if own else logs_dir), run_name(source)
    below = [] if ".." in path.parts else [logs_dir / path.parent]
    folders = [folder for folder in (path.parent, *below) if folder.is_dir()]
    if not folders:
        raise UsageError(f"{source}: there is no such file or folder, neither here nor in {logs_dir}")
    name = run_name(path.name)
    return next((folder for folder in folders if _is_run(folder, name)), folders[0]), name


def _is_run(directory: Path, name: str) -> bool:
    files = RunFiles(directory, name)
    return files.journal.is_file() or files.history.is_file()


def named_run(source: str, logs_dir: Path) -> RunFiles:
    """Return the files of a run, named as in `run_place`. Raises `UsageError` if there is no such run."""
    directory, name = run_place(source, logs_dir)
    try:
        return find_run(directory, name)
    except UsageError:
        below = (
            sorted(path.parent.name for path in logs_dir.glob(f"*/{escape(name)}.jsonl")) if "/" not in source else []
        )
        if below:
            raise UsageError(
                f"{directory}: there is no run called {name!r} (did you mean {below[0]}/{name}?)"
            ) from None
        if (folder := named_folder(source, logs_dir)) is not None:
            problem = f"is a folder of runs, not a run; name one of them, as {source}/game_0001"
            raise UsageError(f"{folder}: {problem}") from None
        if Path(source).suffix == ".toml" and Path(source).is_file():
            problem = "is a scenario or a design, not a run; `agentsim runs` lists the runs"
            raise UsageError(f"{source}: {problem}") from None
        raise


def named_folder(source: str, logs_dir: Path) -> Path | None:
    """Return the folder of that path, or of that name in the logs folder, or None."""
    return next((path for path in (Path(source), logs_dir / source) if source and path.is_dir()), None)


def require_folder(source: str, logs_dir: Path) -> Path:
    """Return the folder of that path, or of that name in the logs folder.

    Raises `UsageError` if there is none, with the folder that was looked into and a similar name.
    """
    if (found := named_folder(source, logs_dir)) is not None:
        return found
    path = Path(source)
    if path.exists():
        raise UsageError(f"{source}: is not a directory; name the folder that holds the games")
    folders = [each for each in dict.fromkeys((path.parent, logs_dir)) if each.is_dir()]
    known = sorted({below.name for each in folders for below in each.iterdir() if below.is_dir()})
    hint = near(path.name, known)
    if any(RunFiles(each, path.name).journal.exists() for each in folders):
        raise UsageError(f"{source}: is one run, not a folder of runs (`agentsim logs {path.name}` writes its page)")
    raise UsageError(f"{source}: there is no such folder, neither here nor in {logs_dir.absolute()}{hint}")


def find_source(source: str, logs_dir: Path) -> RunFiles | Path:
    """Return the run with that name in the logs folder, or else the path of an existing file or folder.

    FOLDER/NAME names a run, too. Raises `UsageError` if neither exists.
    """
    try:
        return find_run(logs_dir, source)
    except UsageError:
        if source and (path := Path(source)).exists():
            return path
        if (folder := named_folder(source, logs_dir)) is not None:
            return folder
        return named_run(source, logs_dir)


def require_history(files: RunFiles) -> None:
    """Raise `UsageError` if a run has no history, with the reason and the command that makes one."""
    if files.history.is_file():
        return
    if is_running(files.journal):
        raise UsageError(f"{files.name}: is being played now; there is no history yet")
    try:
        read_journal(files.journal, most_lines=1)
    except JournalError as error:  # resuming it would not help
        raise UsageError(f"{files.name}: has no history, and no journal that can be read: {error}") from None
    raise UsageError(f"{files.name}: has a journal but no history yet; `{again_with(files)}` ends the run")


_MOST_PLACES = 25  # text references per byte of a file, on average: at most 200 bytes of memory


def load_history(path: Path, *, interviewed: bool = True) -> History:
    """Return the history in a file, with its later interviews if `interviewed`. Raises `UsageError` if it is not one.

    To look for interviews lists the folder, which takes long in one with thousands of runs.
    """
    return parsed(read(path), path, interviewed=interviewed)


def read(path: Path) -> bytes:
    """Return the JSON in a history file. Raises `UsageError` if it cannot be read."""
    try:
        return read_history(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"{path}: is not an agentsim history: {error}") from None


def parsed(raw: bytes, path: Path, *, interviewed: bool = True) -> History:
    """Parse a history, and read the later interviews beside it, unless `interviewed` says that there are none.

    Raises `UsageError` with `path` in its line if the bytes are not one.
    """
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
    return history.with_later(later_interviews(RunFiles(path.parent, run_name(path.name)))) if interviewed else history


def _finite(document: Any) -> bool:
    """Return whether all numbers of a JSON document are finite."""
    try:
        json_line(document)
    except ValueError:
        return False
    return True


def again_with(files: RunFiles) -> str:
    return f"agentsim resume {files.name}{elsewhere(files.directory)}"


def elsewhere(directory: Path) -> str:
    """Return the option that a command for copying needs if the runs are not in `logs`, or ""."""
    return "" if str(directory) == "logs" else f" --logs-dir {shlex.quote(str(directory))}"


_LAST = ("fallback_rates", "shared", "fork", "winner_model", "config")


@dataclass(frozen=True)
class RunSummary:
    """One run of a folder, as `agentsim runs` lists it.

    `status` is the history's; without a history it is `running` while a process plays the run, `interrupted` after, and
    `unreadable` for files that are not a run. `cost_usd` and `fallback_rates` are those of the run itself, a branch's
    without its parent's, so that they can be summed; `fallback_rates` is None without a history. `trouble` is the
    problem with a journal or history that cannot be read. `models` counts the players of each model; `winner_model` is
    the winner's. `config` is the name of the scenario's file. `shared` is the reason of an end with a shared first
    place, such as a team's; `fork` is the link of a branch to its parent.
    """

    name: str
    status: str
    game: str = "-"
    seed: int | None = None
    winner: str | None = None
    cost_usd: float | None = None
    started_at: str = ""
    fallback_rates: FallbackRates | None = None
    models: Mapping[str, int] = field(default_factory=dict)
    winner_model: str | None = None
    config: str | None = None
    trouble: str | None = None
    shared: str | None = None
    fork: Branch | None = None

    @property
    def first(self) -> str | None:
        """The winner, or how the first place is shared; None if no player is ranked."""
        return self.winner or (None if self.shared is None else f"shared ({self.shared.replace('_', ' ')})")

    @property
    def branch_of(self) -> str:
        """The branch and the run that it forks, in words; "" for a run that is not a branch."""
        if (fork := self.fork) is None:
            return ""
        named = ("" if fork.arm is None else f" of arm {fork.arm}", "" if fork.branch is None else f" {fork.branch}")
        return f"branch{named[1]}{named[0]} of {fork.of} at {fork.at}"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON value that `agentsim runs --json` prints."""
        line = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _LAST}
        fork = self.fork and {key: getattr(self.fork, key) for key in ("of", "at", "arm", "branch")}
        fallbacks = None if self.fallback_rates is None else self.fallback_rates.to_json()
        last = {"winner_model": self.winner_model, "config": self.config}
        return {**line, "fallbacks": fallbacks, "shared": self.shared, "fork": fork, **last}


def list_runs(directory: Path, known: Mapping[RunFiles, RunSummary] | None = None) -> list[RunSummary]:
    """Return every run in a folder, oldest first; empty for a missing folder. Runs that are `known` are not read."""
    found = (RunFiles(directory, name) for name in run_names(directory))
    runs = [known[files] if known and files in known else summarized(files) for files in found]
    return sorted(runs, key=lambda run: (run.started_at, run.name))


@dataclass(frozen=True)
class BatchSummary:
    """One batch of a folder: `done` of its `games` have a history; `games` is None if its manifest cannot be read."""

    batch: str
    game: str
    games: int | None
    done: int
    models: tuple[str, ...]


def list_batches(directory: Path) -> list[BatchSummary]:
    """Return the batches in a folder, which are its folders with a manifest, by name."""
    found = []
    for path in sorted(directory.glob(f"*/{MANIFEST}")) if directory.is_dir() else ():
        if path.parent.is_symlink():
            continue
        games, game, models = None, "-", list[str]()
        try:
            manifest = json.loads(path.read_bytes())
            scenarios = [cast["scenario"] for cast in manifest["casts"]]
            game, games = str(scenarios[0]["game"]), len(manifest["games"])
            models = [player["model"] for scenario in scenarios for player in scenario["players"]]
        except (OSError, ValueError, LookupError, TypeError):
            pass
        names = dict.fromkeys(model if isinstance(model, str) else " > ".join(map(str, model)) for model in models)
        done = len(runs_with_history(path.parent))
        found.append(BatchSummary(path.parent.name, game, games, done, tuple(names)))
    return found


def run_names(directory: Path) -> set[str]:
    """Return the names of the runs in a folder, from its files alone."""
    if not directory.is_dir():
        return set()
    names = {files.name for files in runs_with_history(directory)}
    journals = (path for path in directory.glob("*.jsonl") if path.is_file())
    return names | {path.stem for path in journals if path.stem not in names and not is_table(path)}


def runs_with_history(directory: Path) -> list[RunFiles]:
    """Return the runs in a folder that have a history file, sorted by name."""
    found = [path for suffix in (".json", ".json.gz") for path in directory.glob(f"*{suffix}")]
    # reading a pipe of that name would block
    names = {run_name(path.name) for path in found if path.name != MANIFEST and path.is_file()}
    return [RunFiles(directory, name) for name in sorted(names, key=lambda name: f"{name}.json")]


def summarized(files: RunFiles, history: History | None = None) -> RunSummary:
    """Return one run as in `list_runs`, with its history if that is read already."""
    running = is_running(files.journal)
    try:
        if files.history.is_file() and not running:
            history = history or load_history(files.history, interviewed=False)
            winner = None if history.outcome is None else history.outcome.winner
            is_not_shared = history.outcome is None or history.outcome.winner is not None or not history.outcome.ranked
            return RunSummary(
                name=files.name,
                status=history.status,
                game=history.game,
                seed=history.seed,
                winner=winner,
                cost_usd=history.paid.cost_usd,
                started_at=history.volatile.get("started_at", ""),
                fallback_rates=fallback_rates_in(history),
                models=Counter(player.model for player in history.seated),
                winner_model=next((player.model for player in history.seated if player.id == winner), None),
                config=_config_file(history),
                trouble=None if _begins(files.journal) else "the journal cannot be read; the history can",
                shared=None if is_not_shared or history.outcome is None else history.outcome.reason,
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


def _config_file(history: History) -> str | None:
    """Return the name of the scenario's file without its folder, or None for a scenario without a file."""
    run = history.volatile.get("run")
    paths = run.get("paths") if isinstance(run, dict) else None
    path = paths.get("config") if isinstance(paths, dict) else None
    return PurePath(path).name if isinstance(path, str) else None


def _begins(journal: Path) -> bool:
    """Return whether a journal's first line is a JSON object; True without a journal."""
    if not journal.is_file():
        return True
    with journal.open("rb") as file:
        first = file.readline()
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def branches_in(directory: Path) -> Iterator[tuple[RunFiles, Branch]]:
    """Yield every branch with a journal in the folder, by name; unreadable files are skipped."""
    for path in sorted(directory.glob("*.jsonl")):
        if not path.is_file():
            continue
        with path.open("rb") as file:
            first = file.readline()
        if b'"fork"' not in first:
            continue  # most runs of a large folder are not branches
        try:
            branch = Branch.restore(json.loads(first)["fork"])
        except (KeyError, TypeError, ValueError, RecursionError):
            continue  # a table, or not readable
        yield RunFiles(directory, path.stem), branch
