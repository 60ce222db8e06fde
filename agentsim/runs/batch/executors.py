"""Executors: the places where the games of a batch are played, in the event loop or in worker processes.

The workers run this module. `on_dask` plays games on a cluster; another kind of cluster is another such module.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import queue
import sys
import threading
import time
from abc import ABC, abstractmethod
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

from agentsim.errors import AgentsimError, Interrupted, JournalError, location_of
from agentsim.models.keys import Variables
from agentsim.models.own import OwnModel
from agentsim.records.journal import Totals
from agentsim.records.run_files import NameTaken, RunFiles, is_running
from agentsim.runs.batch.tally import GameEnd, has_begun
from agentsim.runs.limits import Budget
from agentsim.runs.run import Run, RunOptions, RunResult
from agentsim.runs.watcher import Watcher
from agentsim.scenario.scenario import LimitOverrides, Scenario

_DEATHS = 2
"""The number of workers that may die over a game before it is left alone in this session."""
_LINE = 2**24
_NEW_OBJECTS = 1_000_000
"""Objects of one game after which a worker looks for reference cycles: bots' decisions leave none, so that it is mostly
done between games."""
_GRACE_S = 5.0
_ELSEWHERE_S = 60.0
"""Seconds for which a worker that hung may still play a game that was taken away from it."""


def run_of(scenario: Scenario, files: RunFiles, options: RunOptions) -> Run:
    """Create the game's run, or open it to go on where its journal ends.

    The scenario's limits hold, also if the game began with others. Raises `JournalError` if the journal is missing and
    other files of the game exist: its state is unknown then, and it would get another name.
    """
    if not has_begun(files.journal):
        if left := [path.name for path in (*files.histories, files.page) if path.exists()]:
            raise JournalError(
                f"{files.journal.name} is gone, and {left[0]} is there; without that the game begins anew"
            )
        files.journal.unlink(missing_ok=True)  # the process was killed between creating the file and its first line
        with contextlib.suppress(NameTaken):  # another process began this game first
            return Run.create(scenario, files.directory, options, name=files.name)
    limits = scenario.limits
    return Run.open(files, options, LimitOverrides(limits.max_cost_usd, limits.max_calls, limits.max_wall_s))


def ended(result: RunResult) -> GameEnd:
    """Return the result of a run that returned."""
    why = (None, 0) if result.error is None else (str(result.error), result.error.exit_code)
    return GameEnd(result.files.name, result.status, *result.typed_history.spent, *why)


def failed(name: str, error: BaseException) -> GameEnd:
    """Return the result of a run that could not begin or that raised."""
    if isinstance(error, AgentsimError):
        return GameEnd(name, "failed", error=str(error), exit_code=error.exit_code)
    if not isinstance(error, Exception):
        return GameEnd(name, Interrupted.status, error=type(error).__name__, exit_code=130)
    return GameEnd(name, "failed", error=f"{location_of(error)}: {type(error).__name__}: {error}", exit_code=1)


class Executor(ABC):
    """A place that plays single games, several at once."""

    async def open(self) -> int | None:
        """Prepare, and return the number of games that it can play at once, if known. Raises `UsageError`."""
        return None

    @abstractmethod
    async def play(self, scenario: Scenario, files: RunFiles) -> GameEnd:
        """Play one game, from its beginning or its journal's end. If cancelled, end it in order."""

    async def aclose(self) -> None:  # noqa: B027 - most have nothing to close
        """Release all resources."""


class ExecutorLost(AgentsimError):
    """An error after which the executor can play no more games of this batch."""


@dataclass
class InLoop(Executor):
    """An executor that plays games as tasks of the running loop; `used` is called with each one's totals so far.

    It is for games with models, which mostly wait. Their runs share rate limiters and the budget `within`, so pacing,
    slots, Retry-After and limits hold for all games together.
    """

    env: Mapping[str, str]
    within: Budget
    used: Callable[[str, Totals], None]
    own: Mapping[str, OwnModel]

    async def play(self, scenario: Scenario, files: RunFiles) -> GameEnd:
        watcher = _Counting(files.name, self.used)
        run = run_of(scenario, files, RunOptions(self.env, watcher, budget=self.within, own=self.own))
        return ended(await run.play())


class _Counting(Watcher):
    def __init__(self, name: str, used: Callable[[str, Totals], None]) -> None:
        self._name, self._used = name, used

    def counted(self, totals: Totals) -> None:
        self._used(self._name, totals)


class WorkerLost(AgentsimError):
    """An error for a game whose worker processes died or were killed."""


class InProcesses(Executor):
    """An executor that plays games of bots in worker processes, each started when it is first needed."""

    def __init__(self) -> None:
        self._idle: list[Process] = []
        self._all: list[Process] = []

    async def play(self, scenario: Scenario, files: RunFiles) -> GameEnd:
        """Play one game in a worker.

        If the worker dies, another goes on from the journal; cancellation ends the worker.
        """
        task = json.dumps(task_of(scenario, files)).encode() + b"\n"  # a path may hold bytes that are not UTF-8
        for _ in range(_DEATHS):
            worker = self._idle.pop() if self._idle else await self._started()
            answer = await _asked(worker, task)
            if answer.endswith(b"\n"):
                self._idle.append(worker)
                return GameEnd(**json.loads(answer))
            code = await worker.wait()
            self._all.remove(worker)
        raise WorkerLost(f"{_DEATHS} workers died over this game, the last with exit code {code}")

    async def aclose(self) -> None:
        for worker in self._all:
            assert worker.stdin is not None, "it was opened"
            worker.stdin.close()
        for worker in self._all:
            await worker.wait()
        self._all.clear()

    async def _started(self) -> Process:
        worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "agentsim.runs.batch.executors"),
            stdin=PIPE,
            stdout=PIPE,
            limit=_LINE,
            start_new_session=True,  # Ctrl-C reaches only this process, which tells the worker
        )
        self._all.append(worker)
        return worker


async def _asked(worker: Process, task: bytes) -> bytes:
    """Return the worker's line, which is incomplete or empty if the worker died."""
    assert worker.stdin is not None, "it was opened"
    assert worker.stdout is not None, "it was opened"
    try:
        with contextlib.suppress(ConnectionError):
            worker.stdin.write(task)
            await worker.stdin.drain()
        return await worker.stdout.readline()
    except asyncio.CancelledError:
        with contextlib.suppress(ProcessLookupError):
            worker.terminate()  # the worker ends its game in order and writes its line
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(worker.stdout.readline(), _GRACE_S)
        raise


def task_of(scenario: Scenario, files: RunFiles, allowed: Collection[str] = ()) -> dict[str, Any]:
    """Return one game as a JSON value; `allowed` names variables that may go to any host. Values are not sent."""
    return {
        "scenario": json.dumps([scenario.game_settings(), scenario.run_settings()]),
        "seed": scenario.seed,
        "directory": str(files.directory),
        "name": files.name,
        "allowed": sorted(allowed),
    }


@lru_cache(maxsize=64)  # the games of a batch mostly differ by their seeds alone
def _scenario(settings: str) -> Scenario:
    """Return the scenario of a task, without a seed. Raises `ScenarioError`."""
    return Scenario.restore(*json.loads(settings))


def play_task(task: dict[str, Any]) -> GameEnd:
    """Play one game in this thread until it ends or stops, and return its result or error."""
    name = str(task["name"])
    try:
        scenario = replace(_scenario(task["scenario"]), seed=int(task["seed"]))
        env = Variables(os.environ, task["allowed"])
        files = RunFiles(Path(task["directory"]), name)
        until = time.monotonic() + _ELSEWHERE_S
        while is_running(files.journal) and time.monotonic() < until:
            time.sleep(0.05)
        return ended(run_of(scenario, files, RunOptions(env)).play_sync())
    except Exception as error:  # a bug in one game's rules must not end the others
        return failed(name, error)


def serve(source: TextIO, sink: TextIO) -> None:
    """Play games one after another, from JSON lines of tasks to JSON lines of results.

    At the end of its input the process exits at once, even in the middle of a game, so that workers do not outlive
    their parent; the journal keeps what was decided.
    """
    tasks: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in source:
            tasks.put(line)
        os._exit(0)  # the parent is gone

    threading.Thread(target=read, daemon=True).start()
    while True:
        end = play_task(json.loads(tasks.get()))
        sink.write(json.dumps(asdict(end)) + "\n")
        sink.flush()
        gc.collect()
        gc.freeze()  # what is loaded by now stays


def main() -> None:
    """Serve on the standard streams; all other output goes to stderr."""
    gc.set_threshold(_NEW_OBJECTS)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
