"""Plays the games of a batch as tasks of a Dask cluster. No other module knows Dask.

The workers see the batch's folder under the same path, and have their own keys in their own environment: journals are
written where the games are played, and no secret is sent to a scheduler.
"""

from __future__ import annotations

import asyncio
import logging
import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

from agentsim.engine.wording import counted
from agentsim.errors import DISTRIBUTION, UsageError
from agentsim.history.run_files import RunFiles
from agentsim.runner.batch.executors import Executor, ExecutorLost, WorkerLost, play_task, task_of
from agentsim.runner.batch.tally import GameEnd
from agentsim.scenario.scenario import Scenario

if TYPE_CHECKING:
    from distributed import Client

    from agentsim.models.keys import Variables

_RETRIES = 2
_CONNECT_S = 20
_WORKER_S = 20  # until the first worker is there
_PATIENCE = 2  # so many times that long without any worker: one may come back


async def dask_setup(worker: object) -> None:
    """Set up a worker process of our own cluster (Dask calls this, by its name).

    Ctrl-C must reach the parent alone, which decides about the worker's games.
    """
    os.setsid()
    _hush()


def _hush() -> None:
    """Silence Dask's loggers: errors of a game are in its line, those of the cluster in our messages."""
    for name in list(logging.root.manager.loggerDict):  # Dask gives some of its loggers levels of their own
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


class OnDask(Executor):
    """Plays games on the cluster of a scheduler (`tcp://host:8786`), or on one of its own with `workers` processes.

    The variables that `env` allows to go to any host may do so there, too.
    """

    def __init__(self, scheduler: str | None, workers: int, env: Variables) -> None:
        self._scheduler, self._workers, self._env = scheduler, workers, env
        self._client: Client | None = None
        self._cluster: Any = None

    async def open(self) -> int:
        """Find the scheduler, or start a cluster; `UsageError` where none could play."""
        import distributed  # what is called here is not typed

        _hush()
        dask: Any = distributed
        address: Any = self._scheduler
        try:
            if address is None:
                address = self._cluster = await dask.LocalCluster(
                    n_workers=self._workers,
                    threads_per_worker=1,  # a game is one thread of Python
                    memory_limit=0,
                    dashboard_address=None,
                    asynchronous=True,
                    preload=[__name__],
                    env=dict(self._env),  # our own processes have our keys, those of an .env file too
                )
            self._client = client = await dask.Client(address, asynchronous=True, timeout=_CONNECT_S)
        except (OSError, ValueError) as error:
            raise UsageError(f"--scheduler {self._scheduler}: cannot be reached: {str(error)[:200]}") from None
        try:
            await client.wait_for_workers(1, timeout=_WORKER_S)
        except TimeoutError:
            raise UsageError(f"--scheduler {self._scheduler}: has no workers; start some with dask worker") from None
        ours = version(DISTRIBUTION)
        # A function of the standard library: one of ours would end a worker without agentsim.
        for worker, theirs in (await client.run(version, DISTRIBUTION, on_error="return")).items():
            if theirs != ours:
                found = f"agentsim {theirs}" if isinstance(theirs, str) else "no agentsim"
                raise UsageError(f"--scheduler {self._scheduler}: the worker {worker} has {found}, and this is {ours}")
        return sum((await client.nthreads()).values())

    async def play(self, scenario: Scenario, files: RunFiles) -> GameEnd:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        assert self._client is not None, "it is open"
        task = task_of(scenario, RunFiles(files.directory.resolve(), files.name), self._env.allowed)
        future: Any = self._client.submit(play_task, task, pure=False, retries=_RETRIES)
        answer = asyncio.ensure_future(future.result())
        alone = 0
        try:
            while not (await asyncio.wait({answer}, timeout=_WORKER_S))[0]:
                alone = 0 if self._client.scheduler_info()["workers"] else alone + 1
                if alone > _PATIENCE:
                    raise self._lost("the last worker is gone")
            return cast("GameEnd", answer.result())
        except FutureCancelledError:
            raise self._lost("the scheduler is lost; workers end the games that they have begun") from None
        except KilledWorker as error:
            raise WorkerLost(f"{counted(error.allowed_failures + 1, 'worker')} died over this game") from None
        finally:
            answer.cancel()
            await future.cancel()  # of one that is done it forgets the result

    def _lost(self, why: str) -> ExecutorLost:
        return ExecutorLost(f"{self._scheduler or 'the cluster'}: {why}")

    async def aclose(self) -> None:
        """Leave the scheduler; a cluster of its own ends."""
        for each in (self._client, self._cluster):
            if each is not None:
                await each.close()
