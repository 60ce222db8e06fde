"""workers: worker processes for games that need the processor and nobody's network: those of bots alone."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import PIPE, Process

from agentsim.errors import AgentsimError
from agentsim.history.files import RunFiles
from agentsim.runner.batch.one import GameEnd
from agentsim.runner.batch.worker import task_of
from agentsim.scenario.scenario import Scenario

__all__ = ["InProcesses", "WorkerLost"]

_DEATHS = 2
"""So many workers may die over one game before it is left alone in this session."""
_LINE = 2**24
_GRACE_S = 5.0


class WorkerLost(AgentsimError):
    """The processes that played a game died of it, or were killed."""


class InProcesses:
    """Plays games in worker processes, each of which is started when it is first needed."""

    def __init__(self) -> None:
        self._idle: list[Process] = []
        self._all: list[Process] = []

    async def open(self) -> int | None:
        """There is nothing to make ready: workers start with their first game."""
        return None

    async def play(self, scenario: Scenario, files: RunFiles) -> GameEnd:
        """Play one game in a worker; where that dies another goes on, from the journal. Cancelled, the worker ends."""
        task = json.dumps(task_of(scenario, files)).encode() + b"\n"
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
        """End every worker."""
        for worker in self._all:
            assert worker.stdin is not None, "it was opened"
            worker.stdin.close()
        for worker in self._all:
            await worker.wait()
        self._all.clear()

    async def _started(self) -> Process:
        worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "agentsim.runner.batch.worker"),
            stdin=PIPE,
            stdout=PIPE,
            limit=_LINE,
            start_new_session=True,  # Ctrl-C is for us, who tell it what becomes of its game
        )
        self._all.append(worker)
        return worker


async def _asked(worker: Process, task: bytes) -> bytes:
    """The worker's line; a part of one, or nothing, where it died."""
    assert worker.stdin is not None, "it was opened"
    assert worker.stdout is not None, "it was opened"
    try:
        with contextlib.suppress(ConnectionError):
            worker.stdin.write(task)
            await worker.stdin.drain()
        return await worker.stdout.readline()
    except asyncio.CancelledError:
        with contextlib.suppress(ProcessLookupError):
            worker.terminate()  # it ends its game in order, and writes how that stands
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(worker.stdout.readline(), _GRACE_S)
        raise
