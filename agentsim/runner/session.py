"""Session: one process's part in a run: from a scenario or a journal to a history file.

The loop over waves is `drive`; pages, progress and exit codes belong to the command line.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast

from agentsim.engine.codec import text_id
from agentsim.engine.game import Game
from agentsim.engine.play import GamePlay
from agentsim.errors import AgentsimError, Interrupted, JournalError, RunStopped
from agentsim.games import find
from agentsim.history.contents import Entry, read_journal
from agentsim.history.files import RunFiles, default_stem, write_whole
from agentsim.history.fold import dump_history
from agentsim.history.journal import Journal
from agentsim.history.record import FINISHED
from agentsim.models.event_loop import make_room
from agentsim.models.own import OwnModel
from agentsim.runner.budget import Budget
from agentsim.runner.dispatcher import Dispatcher
from agentsim.runner.drive import drive
from agentsim.runner.playback import Recording
from agentsim.runner.plays import (
    RunResult,
    finished_status,
    folded,
    head_of,
    new_play,
    restored_scenario,
    stamp,
    volatile_of,
)
from agentsim.runner.replay import over, rebuilt, unfit
from agentsim.runner.seats import Seats, seated
from agentsim.runner.signals import stoppable
from agentsim.runner.watch import Discreet, Watcher
from agentsim.scenario.limits import with_limits
from agentsim.scenario.scenario import Scenario

__all__ = ["MAX_DRAWN_SEED", "RunResult", "Session", "begin", "go_on", "opened", "remade", "reopened"]

MAX_DRAWN_SEED = 2**31


class _Opening(TypedDict, total=False):
    """What `opened` takes besides."""

    stem: str | None
    watcher: Watcher | None
    recording: Recording | None
    within: Budget | None
    own: Mapping[str, OwnModel] | None


class _Reopening(TypedDict, total=False):
    """What `reopened` takes besides."""

    watcher: Watcher | None
    max_cost_usd: float | None
    max_calls: int | None
    max_wall_s: float | None
    recording: Recording | None
    within: Budget | None
    own: Mapping[str, OwnModel] | None


def begin(scenario: Scenario, logs_dir: Path, *, env: Mapping[str, str], **options: Unpack[_Opening]) -> RunResult:
    """Play a scenario from its beginning; see `opened`."""
    return opened(scenario, logs_dir, env=env, **options).run()


def opened(
    scenario: Scenario,
    logs_dir: Path,
    *,
    env: Mapping[str, str],
    stem: str | None = None,
    watcher: Watcher | None = None,
    recording: Recording | None = None,
    within: Budget | None = None,
    own: Mapping[str, OwnModel] | None = None,
) -> Session:
    """A session that plays a scenario from its beginning; a `recording` records or plays replies.

    Everything that can be wrong with it is found before the journal exists: `ScenarioError` and `UsageError`
    mean that nothing was written. `within` is what several games may spend together, `own` the program's own models.
    """
    seed = scenario.seed
    if seed is None and recording is not None:
        seed = recording.seed  # other dice would make another game than that of the replies
    if seed is None:
        seed = secrets.randbelow(MAX_DRAWN_SEED)
    scenario = replace(scenario, seed=seed)
    game = find(scenario.game)
    seats = seated(scenario, game, env, recording, own=own)
    now = datetime.now(UTC)
    if recording is not None:
        recording.start(seed)
    try:
        files, handle = RunFiles.reserve(logs_dir, stem or default_stem(now, scenario.name))
        journal = Journal.create(files.journal, handle, head_of(scenario, game, files.name, now))
    except BaseException:
        if recording is not None:
            recording.abandon()
        raise
    return Session(scenario, game, seats, files, journal, watcher or Watcher(), recording, within)


def go_on(files: RunFiles, *, env: Mapping[str, str], **options: Unpack[_Reopening]) -> RunResult | None:
    """Resume a run where its journal ends; None where it is finished and nothing is to be done: see `reopened`.

    A finished run whose history is missing, or is not its own, gets a new one: see `remade`.
    """
    if (result := remade(files)) is not None:
        return result
    session = reopened(files, env=env, **options)
    return None if session is None else session.run()


def remade(files: RunFiles) -> RunResult | None:
    """A finished run whose history was missing or not its own, and is made again; `remark` says so. None for others."""
    if not over(files) or (why := unfit(files, closely=True)) is None:
        return None
    remark = f"{files.history.name} {why}: it is made again from the journal"
    return RunResult(files, rebuilt(files), remark=remark, rebuilt=True)


def reopened(
    files: RunFiles,
    *,
    env: Mapping[str, str],
    watcher: Watcher | None = None,
    max_cost_usd: float | None = None,
    max_calls: int | None = None,
    max_wall_s: float | None = None,
    recording: Recording | None = None,
    within: Budget | None = None,
    own: Mapping[str, OwnModel] | None = None,
) -> Session | None:
    """A session that goes on where a run's journal ends; None where it is finished.

    New limits take the place of the recorded ones for this session. Raises `JournalError` for a journal
    that cannot be used, `UsageError` for limits that are none.
    """
    stops = read_journal(files.journal).stops
    if stops and stops[-1].status in FINISHED and files.history.is_file():
        return None
    journal = Journal.reopen(files.journal)
    try:
        scenario, game = restored_scenario(journal.contents.head)
        scenario = with_limits(scenario, env, max_cost_usd=max_cost_usd, max_calls=max_calls, max_wall_s=max_wall_s)
        seats = seated(scenario, game, env, recording, chosen=journal.contents.structured, own=own)
        if recording is not None:
            recording.start(cast("int", scenario.seed))
    except BaseException:
        journal.close()
        raise
    return Session(scenario, game, seats, files, journal, watcher or Watcher(), recording, within)


@dataclass
class _Part:
    """What a session has come to; `result` is there when it is over."""

    play: GamePlay
    entries: list[Entry] = field(default_factory=list)
    result: RunResult | None = None

    def ended(self) -> RunResult:
        assert self.result is not None, "a session that returns has its result"
        return self.result


@dataclass
class Session:
    """One process's part in one run: its journal is open, its players sit; it is played once."""

    scenario: Scenario
    game: Game
    seats: Seats
    files: RunFiles
    journal: Journal
    watcher: Watcher
    recording: Recording | None = None
    within: Budget | None = None

    def run(self) -> RunResult:
        """Play to the end or to whatever stops it, and leave journal and history in order.

        Raises `JournalError`, the files left as they were, where the journal is not of this game.
        """
        with self._recorded() as part, stoppable(self.seats.interrupt) as stop:
            asyncio.run(self._play(part, stop))
        return part.ended()

    async def play(self) -> RunResult:
        """`run` in a loop where other games are played as well; a cancelled one ends in order."""
        with self._recorded() as part:
            try:
                await self._play(part)
            except asyncio.CancelledError:
                raise Interrupted("stopped with the others") from None
        return part.ended()

    @contextmanager
    def _recorded(self) -> Iterator[_Part]:
        started = time.monotonic()
        part = _Part(new_play(self.scenario, self.game))
        status = "failed"
        error: AgentsimError | None = None
        remark: str | None = None
        ours, fresh = True, not self.journal.contents.entries
        try:
            yield part
            status = finished_status(self.scenario, part.entries)
            if self.recording is not None:
                remark = self.recording.finished()
        except RunStopped as stopped:
            status, error = stopped.status, stopped
        except JournalError:
            ours = False
            raise
        except AgentsimError as failed:
            error = failed
        finally:
            part.play.close()
            try:
                if ours:
                    history = self._write(part.play, part.entries, status, time.monotonic() - started)
            finally:
                self.journal.close()
                if self.recording is not None:
                    self.recording.close()
        replayed = self.recording is not None and not self.recording.live
        # What the journal answers is not asked again: only a whole game can leave replies over.
        part.result = RunResult(self.files, history, error, replayed, remark if fresh else None)

    async def _play(self, part: _Part, stop: Callable[[asyncio.Task[Any]], None] | None = None) -> None:
        limits = self.scenario.limits
        dispatcher = Dispatcher(
            seats=self.seats.by_id,
            journal=self.journal,
            budget=Budget(limits.max_calls, limits.max_cost_usd, limits.max_wall_s, within=self.within),
            prices=self.seats.prices,
            concurrency=limits.concurrency,
            watcher=Discreet(self.watcher) if self.seats.has_person else self.watcher,
            branch=self.scenario.branch,
        )
        if (line := make_room(self.seats.most_calls(limits.concurrency))) is not None:
            self.watcher.noted(f"agentsim: {line}")
        if self.recording is not None:
            self.journal.plays(self.recording.played)
        dispatcher.budget.spent(0, 0.0, self.journal.contents.wall_s)
        for line in self.seats.errands:
            self.watcher.noted(line)
        self.watcher.began(self.files.name, self.game.title, part.play.table.players)
        dispatcher.watcher.limited_by(self.seats.endpoints.notes)
        task = asyncio.create_task(drive(part.play, dispatcher, part.entries))
        if stop is not None:
            stop(task)
        try:
            await task
        finally:
            await self.seats.aclose()

    def _write(self, play: GamePlay, entries: list[Entry], status: str, wall_s: float) -> Mapping[str, Any]:
        self.files = RunFiles(self.journal.path.parent, self.journal.path.stem)  # a journal that was removed is saved
        now, contents = stamp(datetime.now(UTC)), self.journal.contents
        volatile = volatile_of(self.scenario, contents, self.files.name, now, contents.wall_s + wall_s)
        undecided = contents.undecided()
        history = folded(
            self.scenario, self.game, play, entries=entries, undecided=undecided, status=status, volatile=volatile
        )
        text = dump_history(history)
        # First in the journal, which names it: a process killed in between leaves a history to be made again.
        try:
            self.journal.stopped(status, now, wall_s, text_id(text))
        finally:
            try:
                write_whole(self.files.history, text)
            except AgentsimError as error:
                raise AgentsimError(f"{error}; `agentsim resume` makes it from the journal") from None
        return history
