"""Hosting: runs that this process plays beside its server, each a task of its own.

How a run is shown does not depend on who plays: `followed`.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from agentsim.engine.play import Ask
from agentsim.errors import Interrupted, UsageError
from agentsim.history.run_files import RunFiles
from agentsim.models.keys import Variables
from agentsim.runner.run import Run, RunOptions, RunResult
from agentsim.server.control import Control
from agentsim.server.people import People, digest
from agentsim.server.site import Site


class HostedRun:
    """One run that this process plays from `start` on; a run that was stopped is hosted anew by another object."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._signal: int | None = None
        self._task: asyncio.Task[RunResult] | None = None
        self.control = Control(run)
        run.gate, run.opening = self.gate, self.opening
        self.people = People.of_run(run)

    @property
    def files(self) -> RunFiles:
        """The run's files."""
        return self.run.files

    @property
    def name(self) -> str:
        """The run's name."""
        return self.files.name

    @property
    def playing(self) -> bool:
        """Whether it is played now."""
        return self._task is not None and not self._task.done()

    @property
    def result(self) -> RunResult | None:
        """What it came to; None while it is played, and where it has `trouble`."""
        return self._task.result() if self._task is not None and self._task.done() and not self.trouble else None

    @property
    def trouble(self) -> BaseException | None:
        """What broke the run, so that there is no result."""
        return self._task.exception() if self._task is not None and self._task.done() else None

    async def gate(self, ask: Ask) -> None:
        """Is passed before each decision that is not on record: what has to hold the game back waits here."""
        await self.control.gate(ask)

    async def opening(self) -> None:
        """Is passed before the game begins or goes on: people come to their seats here."""
        if self.people is not None:
            if self.people.missing(self.run):
                self.control.stands()
            await self.people.gathered(self.run)

    def start(self) -> None:
        """Begin to play, in the running loop."""
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
        """The result, once the run has ended; raises its `trouble`."""
        assert self._task is not None, "it was started"
        return await asyncio.shield(self._task)  # who waits no longer does not stop it

    async def stop(self, signal_number: int | None = None) -> None:
        """Stop in order, so that the run can be resumed; returns once its files are written.

        `signal_number` is that of the signal which asked for it.
        """
        if self._task is not None and not self._task.done():
            self._signal = signal_number
            await asyncio.sleep(0)  # a task that has not begun would leave its journal open
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


def host(site: Site, run: Run) -> HostedRun:
    """Play a run beside the server from now on."""
    hosted = site.hosted[run.files.journal] = HostedRun(run)
    if hosted.people is not None:
        seat(site, hosted.people)
    hosted.start()
    return hosted


def seat(site: Site, people: People) -> None:
    """Give people their pages, those of a game that is over too: questions after it may be open."""
    for place in people.seats.values():
        site.seats[digest(place.record.token)] = place


async def resume(site: Site, files: RunFiles, *, env: Variables) -> HostedRun:
    """Play a run on from where its journal ends.

    Raises `UsageError` if the run is finished or is being played here, and as `agentsim.resume`.
    """
    if (here := site.hosted.get(files.journal)) is not None and here.playing:
        raise UsageError(f"{files.name}: is being played here already")
    run = Run.open(files, RunOptions(env, served=True))
    if run.is_over:
        raise UsageError(f"{files.name}: is finished; there is nothing to resume")
    await asyncio.to_thread(run.prepare)
    return host(site, run)


async def stop_all(site: Site) -> None:
    """Stop what is played here, each run so that it can be resumed."""
    await asyncio.gather(*(run.stop() for run in site.hosted.values()))
