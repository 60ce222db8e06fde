"""one: one game of a batch, by the session code of `run` and `resume`, and what came of it in a line.

In which process or loop that happens is `workers` and `loop`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agentsim.errors import AgentsimError, Interrupted, JournalError
from agentsim.history.files import RunFiles
from agentsim.history.journal_file import is_running
from agentsim.models.own import OwnModel
from agentsim.runner.budget import Budget
from agentsim.runner.session import RunResult, Session, opened, reopened
from agentsim.runner.watch import Watcher
from agentsim.scenario.scenario import Scenario

__all__ = ["Executor", "ExecutorLost", "GameEnd", "ended", "failed", "has_begun", "known_usd", "session", "sweep"]


class ExecutorLost(AgentsimError):
    """Nobody is there any more who could play a game of this batch."""


@dataclass(frozen=True, slots=True)
class GameEnd:
    """What came of one game in this session: its status, what all its sessions used, the error that ended it.

    `cost_usd` is of the calls whose price is known; so many others were made besides.
    """

    name: str
    status: str
    calls: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0
    error: str | None = None
    exit_code: int = 0


class Executor(Protocol):
    """Plays single games somewhere; several at once."""

    async def open(self) -> int | None:
        """Make ready, and say how many games can be played at once where that is known; `UsageError` for a mistake."""
        ...

    async def play(self, scenario: Scenario, files: RunFiles) -> GameEnd:
        """Play one game, from its beginning or its journal's end."""
        ...

    async def aclose(self) -> None:
        """Give back what it holds."""
        ...


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

    The scenario's limits hold, whatever those were with which the game began. `JournalError` where other files of the
    game are there without its journal: nobody knows how far it came, and it would get another name.
    """
    if not has_begun(files.journal):
        if left := [path.name for path in (files.history, files.page) if path.exists()]:
            raise JournalError(
                f"{files.journal.name} is gone, and {left[0]} is there; without that the game begins anew"
            )
        files.journal.unlink(missing_ok=True)  # killed between the file's name and its first line
        begun = opened(scenario, files.directory, env=env, stem=files.name, watcher=watcher, within=within, own=own)
        if begun.files == files:
            return begun
        begun.journal.close()  # somebody who plays this game too was quicker, and has its name
        begun.files.journal.unlink()
    limits = scenario.limits
    return reopened(
        files,
        env=env,
        watcher=watcher,
        max_cost_usd=limits.max_cost_usd,
        max_calls=limits.max_calls,
        max_wall_s=limits.max_wall_s,
        within=within,
        own=own,
    )


def has_begun(journal: Path) -> bool:
    """Whether anything has happened of which a journal tells, or somebody is about to write it."""
    try:
        with journal.open("rb") as file:
            return file.readline().endswith(b"\n") or is_running(journal)
    except FileNotFoundError:
        return False


def ended(result: RunResult) -> GameEnd:
    """The line of a game whose session came back."""
    usage, error = result.history["usage"], result.error
    used = (decision["usage"] for decision in result.history["decisions"])
    return GameEnd(
        result.files.name,
        result.status,
        usage["calls"],
        known_usd(usage["cost_usd"], (tokens["cost_usd"] for tokens in used if tokens is not None)),
        usage.get("unpriced_calls", 0),
        None if error is None else str(error),
        0 if error is None else error.exit_code,
    )


def known_usd(whole: float | None, decisions: Iterable[float | None]) -> float:
    """The known dollars of a game: all, or those of its decisions where some call's price is unknown."""
    return whole if whole is not None else sum(cost or 0.0 for cost in decisions)


def failed(name: str, error: BaseException) -> GameEnd:
    """The line of a game whose session could not begin, or broke."""
    if isinstance(error, AgentsimError):
        return GameEnd(name, "failed", error=str(error), exit_code=error.exit_code)
    if not isinstance(error, Exception):
        return GameEnd(name, Interrupted.status, error=type(error).__name__, exit_code=130)
    return GameEnd(name, "failed", error=f"{type(error).__name__}: {error}", exit_code=1)


def sweep(directory: Path) -> None:
    """Take away what a killed process left of files that it was writing."""
    for path in directory.glob(".*.tmp"):
        path.unlink(missing_ok=True)
