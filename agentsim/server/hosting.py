"""Hosting: the runs that this process plays beside its server, one task each.

`followed` shows all runs in the same way, whichever process plays them.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from agentsim.engine.request import Ask
from agentsim.errors import Interrupted, UsageError
from agentsim.models.keys import Variables
from agentsim.records.run_files import RunFiles
from agentsim.runs.run import Run, RunOptions, RunResult
from agentsim.server.control import Control
from agentsim.server.people import People, digest
from agentsim.server.site import Site


class HostedRun:
    """A run that this process plays once `start` was called. A stopped run that is resumed gets a new object."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._signal: int | None = None
        self._task: asyncio.Task[RunResult] | None = None
        self.control = Control(run)
        run.before_decision, run.before_game = self.before_decision, self.before_game
        self.people = People.of_run(run)

    @property
    def files(self) -> RunFiles:
        return self.run.files

    @property
    def name(self) -> str:
        return self.files.name

    @property
    def playing(self) -> bool:
        """True while the run is played."""
        return self._task is not None and not self._task.done()

    @property
    def result(self) -> RunResult | None:
        """The result of the run, or None while it is played or if it failed with `trouble`."""
        return self._task.result() if self._task is not None and self._task.done() and not self.trouble else None

    @property
    def trouble(self) -> BaseException | None:
        """The exception that ended the run without a result, or None."""
        return self._task.exception() if self._task is not None and self._task.done() else None

    async def before_decision(self, ask: Ask) -> None:
        """Wait until a decision that is not on record may begin."""
        await self.control.before_decision(ask)

    async def before_game(self) -> None:
        """Wait until the people of the run are in their seats, before the game begins or continues."""
        if self.people is not None:
            if self.people.missing(self.run):
                self.control.show_progress()
            await self.people.gathered(self.run)

    def start(self) -> None:
        """Start playing in the running event loop."""
        assert self._task is None, "a run is played once"
        self._task = asyncio.create_task(self._play(), name=f"run {self.name}")

    async def _play(self) -> RunResult:
        status = ""
        try:
            result = await self.run.play()
            status = result.status
        finally:
            self.control.ended()
            if self.people is not None:
                self.people.ended(status)
        if isinstance(result.error, Interrupted) and self._signal is not None:
            return replace(result, error=Interrupted("stopped by a signal", signal_number=self._signal))
        return result

    async def ended(self) -> RunResult:
        """Wait for the end of the run and return its result. Raises its `trouble`."""
        assert self._task is not None, "it was started"
        return await asyncio.shield(self._task)  # a caller that is cancelled does not stop the run

    async def stop(self, signal_number: int | None = None) -> None:
        """Stop the run so that it can be resumed, and return once its files are written.

        `signal_number` is the signal that asked for it, or None.
        """
        if self._task is not None and not self._task.done():
            self._signal = signal_number
            await asyncio.sleep(0)  # a task that is cancelled before it starts would leave its journal open
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


def host(site: Site, run: Run) -> HostedRun:
    """Start playing a run beside the server."""
    hosted = site.hosted[run.files.journal] = HostedRun(run)
    if hosted.people is not None:
        seat(site, hosted.people)
    hosted.start()
    return hosted


def seat(site: Site, people: People) -> None:
    """Register the pages of people. A game that is over has pages too, since questions after it may be open."""
    for each in people.seats.values():
        site.seats[digest(each.record.token)] = each


async def resume(site: Site, files: RunFiles, *, env: Variables) -> HostedRun:
    """Resume a run from where its journal ends.

    Raises `UsageError` if the run is finished or is being played here, and the errors of `agentsim.resume`.
    """
    if (here := site.hosted.get(files.journal)) is not None and here.playing:
        raise UsageError(f"{files.name}: is being played here already")
    run = Run.open(files, RunOptions(env, served=True))
    if run.is_over:
        raise UsageError(f"{files.name}: is finished; there is nothing to resume")
    await asyncio.to_thread(run.prepare)
    return host(site, run)


async def stop_all(site: Site) -> None:
    """Stop all runs that this process plays, so that each can be resumed."""
    await asyncio.gather(*(run.stop() for run in site.hosted.values()))
