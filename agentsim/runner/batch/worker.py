"""worker: a process that plays games for a batch, one after another: tasks come in as JSON lines, ends go out so.

Who starts it, and what becomes of a game whose worker dies, is `workers`. It lives no longer than who started it: at
the end of its input it is gone, in the middle of a game too, which a journal bears.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from agentsim.history.files import RunFiles
from agentsim.history.journal_file import is_running
from agentsim.models.permits import Variables
from agentsim.runner.batch.earlier import finished
from agentsim.runner.batch.one import GameEnd, ended, failed, session
from agentsim.scenario.scenario import Scenario

__all__ = ["play_task", "serve", "task_of"]

_ELSEWHERE_S = 60.0
"""So long a game that was taken from a worker which stood still may be played on there."""


def task_of(scenario: Scenario, files: RunFiles, allowed: Collection[str] = ()) -> dict[str, Any]:
    """One game as JSON values; `allowed` are the names of variables that may go anywhere: their values stay here."""
    return {
        "scenario": scenario.identity(),
        "run": scenario.run_part(),
        "seed": scenario.seed,
        "directory": str(files.directory),
        "name": files.name,
        "allowed": sorted(allowed),
    }


def play_task(task: dict[str, Any]) -> GameEnd:
    """Play one game, in this thread, to its end or to what stops it; what went wrong is in its line."""
    name = str(task["name"])
    try:
        scenario = Scenario.restore(task["scenario"], task["run"], seed=int(task["seed"]))
        env = Variables(os.environ, task["allowed"])
        files = RunFiles(Path(task["directory"]), name)
        until = time.monotonic() + _ELSEWHERE_S
        while is_running(files.journal) and time.monotonic() < until:
            time.sleep(0.05)
        begun = session(scenario, files, env=env)
        return finished(files) if begun is None else ended(begun.run())
    except Exception as error:  # a mistake in one game's rules is a line for the batch, and not the end of the others
        return failed(name, error)


def serve(source: TextIO, sink: TextIO) -> None:
    """Play what comes in until nothing more does."""
    tasks: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in source:
            tasks.put(line)
        os._exit(0)  # nobody is there who would hear of it

    threading.Thread(target=read, daemon=True).start()
    while True:
        end = play_task(json.loads(tasks.get()))
        sink.write(json.dumps(asdict(end)) + "\n")
        sink.flush()


def main() -> None:
    """Serve on the standard streams; whatever else is written goes to stderr."""
    gc.set_threshold(25_000, 20, 20)  # as the command line does
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
