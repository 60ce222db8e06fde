"""An executor that plays the games of a batch as tasks of a Dask cluster. No other module imports Dask.

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
from agentsim.records.run_files import RunFiles
from agentsim.runs.batch.executors import Executor, ExecutorLost, WorkerLost, play_task, task_of
from agentsim.runs.batch.tally import GameEnd
from agentsim.scenario.scenario import Scenario

if TYPE_CHECKING:
    from distributed import Client

    from agentsim.models.keys import Variables

_RETRIES = 2
_CONNECT_S = 20
_WORKER_S = 20  # seconds to wait for the first worker
_PATIENCE = 2  # so many waits of _WORKER_S seconds without any worker: one may come back


async def dask_setup(worker: object) -> None:
    """Set up a worker process of our own cluster; Dask calls this function by its name.

    The new session keeps Ctrl-C from the worker: the parent decides about its games.
    """
    os.setsid()
    _hush()


def _hush() -> None:
    """Silence Dask's loggers: game errors are in the games' results, cluster errors in our messages."""
    for name in list(logging.root.manager.loggerDict):  # Dask gives some of its loggers levels of their own
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


class OnDask(Executor):
    """An executor on the cluster of a scheduler (`tcp://host:8786`), or on its own cluster with `workers` processes.

    Variables that `env` allows to go to any host may do so on the workers, too.
    """

    def __init__(self, scheduler: str | None, workers: int, env: Variables) -> None:
        self._scheduler, self._workers, self._env = scheduler, workers, env
        self._client: Client | None = None
        self._cluster: Any = None

    async def open(self) -> int:
        """Connect to the scheduler or start a cluster, and return its threads.

        Raises `UsageError` if it cannot play.
        """
        import distributed  # its functions are not typed

        _hush()
        dask: Any = distributed
        address: Any = self._scheduler
        try:
            if address is None:
                address = self._cluster = await dask.LocalCluster(
                    n_workers=self._workers,
                    threads_per_worker=1,  # one game takes one thread of Python
                    memory_limit=0,
                    dashboard_address=None,
                    asynchronous=True,
                    preload=[__name__],
                    env=dict(self._env),  # our own processes get our keys, also those of an .env file
                )
            self._client = client = await dask.Client(address, asynchronous=True, timeout=_CONNECT_S)
        except (OSError, ValueError) as error:
            raise UsageError(f"--scheduler {self._scheduler}: cannot be reached: {str(error)[:200]}") from None
        try:
            await client.wait_for_workers(1, timeout=_WORKER_S)
        except TimeoutError:
            raise UsageError(f"--scheduler {self._scheduler}: has no workers; start some with dask worker") from None
        ours = version(DISTRIBUTION)
        # A function of the standard library: one of agentsim's would kill a worker that lacks agentsim.
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
            await future.cancel()  # frees the result of a finished future

    def _lost(self, why: str) -> ExecutorLost:
        return ExecutorLost(f"{self._scheduler or 'the cluster'}: {why}")

    async def aclose(self) -> None:
        """Leave the scheduler, or end the own cluster."""
        for each in (self._client, self._cluster):
            if each is not None:
                await each.close()
