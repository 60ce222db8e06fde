"""on_dask: a batch's games as tasks of a Dask cluster. Nothing else knows Dask; another cluster is another such file.

The workers see the batch's folder under the same path, and have their own keys in their own environment: journals are
written where the games are played, and nothing secret travels.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, cast

from agentsim.errors import UsageError
from agentsim.history.files import RunFiles
from agentsim.runner.batch.one import GameEnd
from agentsim.runner.batch.worker import play_task, task_of
from agentsim.scenario.scenario import Scenario

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["OnDask"]

_RETRIES = 2
_CONNECT_S = 20


async def dask_setup(worker: object) -> None:
    """A worker process of our own cluster has started (Dask calls this, by its name).

    Ctrl-C is for who started it, and who decides what becomes of its games; a task that is taken back is no warning.
    """
    os.setsid()
    logging.getLogger("distributed").setLevel(logging.ERROR)


class OnDask:
    """Plays games on the cluster of a scheduler (`tcp://host:8786`), or of its own with so many worker processes.

    There, too, the variables that are `allowed` may go anywhere.
    """

    def __init__(self, scheduler: str | None, workers: int, allowed: Collection[str] = ()) -> None:
        self._scheduler, self._workers, self._allowed = scheduler, workers, allowed
        self._client: Client | None = None
        self._cluster: Any = None

    async def open(self) -> None:
        """Find the scheduler, or start a cluster; `UsageError` where there is none."""
        import distributed  # typed in part: what is called here is not

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
                )
            self._client = await dask.Client(address, asynchronous=True, timeout=_CONNECT_S)
        except (OSError, ValueError) as error:
            raise UsageError(f"--scheduler {self._scheduler}: cannot be reached: {str(error)[:200]}") from None

    async def play(self, scenario: Scenario, files: RunFiles) -> GameEnd:
        """Play one game on a worker; where that dies another goes on, from the journal."""
        assert self._client is not None, "it is open"
        task = task_of(scenario, RunFiles(files.directory.resolve(), files.name), self._allowed)
        future: Any = self._client.submit(play_task, task, pure=False, retries=_RETRIES)
        try:
            return cast("GameEnd", await future)
        finally:
            await future.cancel()  # of one that is done it forgets the result

    async def aclose(self) -> None:
        """Leave the scheduler; a cluster of its own ends."""
        for each in (self._client, self._cluster):
            if each is not None:
                await each.close()
