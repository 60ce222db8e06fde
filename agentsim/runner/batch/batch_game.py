"""One game of a batch: its session, by the code of `run` and `resume`, and its result in a line.

A game's files say whether it is done and what it used, in whichever session, process or loop it was played
(`executors`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from agentsim.errors import AgentsimError, Interrupted, JournalError, UsageError
from agentsim.history.contents import read_journal
from agentsim.history.load import load_history
from agentsim.history.record import FINISHED
from agentsim.history.run_files import NameTaken, RunFiles, is_running
from agentsim.models.own import OwnModel
from agentsim.runner.admission import Budget
from agentsim.runner.replay import over, rebuilt, unfit
from agentsim.runner.session import RunResult, Session, opened, reopened
from agentsim.runner.watch import Watcher
from agentsim.scenario.scenario import Scenario


@dataclass(frozen=True, slots=True)
class GameEnd:
    """How one game ended in this session: its status, what all its sessions used, the error that ended it.

    `cost_usd` is that of the calls whose price is known, `unpriced_calls` is the number of the others.
    """

    name: str
    status: str
    calls: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0
    error: str | None = None
    exit_code: int = 0


def session(
    scenario: Scenario,
    files: RunFiles,
    *,
    env: Mapping[str, str],
    watcher: Watcher | None = None,
    within: Budget | None = None,
    own: Mapping[str, OwnModel] | None = None,
) -> Session | None:
    """The game's session: from its beginning, or from where its journal ends; None where it is finished.

    The scenario's limits hold, also where the game began with others. `JournalError` where other files of the game are
    there without its journal: how far it came is unknown, and it would get another name.
    """
    if not _has_begun(files.journal):
        if left := [path.name for path in (files.history, files.page) if path.exists()]:
            raise JournalError(
                f"{files.journal.name} is gone, and {left[0]} is there; without that the game begins anew"
            )
        files.journal.unlink(missing_ok=True)  # killed between the file's name and its first line
        with suppress(NameTaken):  # another process began this game first
            return opened(scenario, files.directory, env=env, stem=files.name, watcher=watcher, within=within, own=own)
    limits = scenario.limits.model_dump(include={"max_cost_usd", "max_calls", "max_wall_s"})
    return reopened(files, env=env, watcher=watcher, within=within, own=own, **limits)


def _has_begun(journal: Path) -> bool:
    """Whether a journal has a line, or a process is about to write one."""
    try:
        with journal.open("rb") as file:
            return file.readline().endswith(b"\n") or is_running(journal)
    except FileNotFoundError:
        return False


def ended(result: RunResult) -> GameEnd:
    """The line of a game whose session came back."""
    history, error = result.history, result.error
    costs = (decision["usage"]["cost_usd"] for decision in history["decisions"] if decision["usage"] is not None)
    return GameEnd(
        result.files.name,
        result.status,
        history["usage"]["calls"],
        _known_usd(history["usage"]["cost_usd"], costs),
        history["usage"]["unpriced_calls"],
        *((None, 0) if error is None else (str(error), error.exit_code)),
    )


def _known_usd(whole: float | None, decisions: Iterable[float | None]) -> float:
    """The known dollars of a game: its total, or the sum over its decisions where some call's price is unknown."""
    return whole if whole is not None else sum(cost or 0.0 for cost in decisions)


def failed(name: str, error: BaseException) -> GameEnd:
    """The line of a game whose session could not begin, or broke."""
    if isinstance(error, AgentsimError):
        return GameEnd(name, "failed", error=str(error), exit_code=error.exit_code)
    if not isinstance(error, Exception):
        return GameEnd(name, Interrupted.status, error=type(error).__name__, exit_code=130)
    return GameEnd(name, "failed", error=f"{type(error).__name__}: {error}", exit_code=1)


def is_done(files: RunFiles, seed: int) -> tuple[bool, str | None]:
    """Whether a game is over and its history is there, and what was wrong with a history that was made again.

    A whole history with the game's seed counts without its journal: the game is not paid for again.
    """
    if not _has_begun(files.journal):
        try:
            history = load_history(files.history)
        except UsageError:
            return False, None
        return history.status in FINISHED and history.seed == seed, None
    if not over(files):
        return False, None
    try:
        if (why := unfit(files)) is None:
            return True, None
        rebuilt(files)
    except AgentsimError:
        return False, None  # its session says what is wrong with the journal
    return True, f"{files.history.name} {why}"


def used(files: RunFiles, *, done: bool) -> tuple[int, float, int]:
    """Calls, known dollars and calls of unknown price of a game in earlier sessions."""
    try:
        if done:
            history = load_history(files.history)
            costs = [each.usage.cost_usd for each in history.decisions if each.usage is not None]
            known = _known_usd(history.usage.cost_usd, costs)
            return history.usage.calls, known, history.usage.unpriced_calls
        contents = read_journal(files.journal)
    except (UsageError, JournalError):
        return 0, 0.0, 0
    tries = [attempt for key in {*contents.entries, *contents.tries} for attempt in contents.calls(*key)]
    costs = [each.usage.cost_usd for each in tries if each.usage is not None]
    return len(tries), sum(cost or 0.0 for cost in costs), costs.count(None)


def finished(files: RunFiles) -> GameEnd:
    """The line of a game that is over, by its history."""
    return GameEnd(files.name, load_history(files.history).status, *used(files, done=True))


def completed_from_files(end: GameEnd, files: RunFiles, seed: int) -> GameEnd:
    """The line of a game whose executor could not say what it used; the game may even be over."""
    if is_done(files, seed)[0]:
        return finished(files)
    calls, cost, unpriced = used(files, done=False)
    return replace(end, calls=calls, cost_usd=cost, unpriced_calls=unpriced)


def sweep(directory: Path) -> None:
    """Remove the temporary files of killed processes."""
    for path in directory.glob(".*.tmp"):
        path.unlink(missing_ok=True)
