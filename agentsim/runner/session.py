"""Session: one process's part in a run: from a scenario or a journal to a history file.

The loop over waves is `drive`; pages, progress and exit codes belong to the command line.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast

from agentsim.engine.game import Game, bots_of
from agentsim.errors import AgentsimError, Interrupted, JournalError, RunStopped
from agentsim.games import find
from agentsim.history.fold import history_bytes
from agentsim.history.journal import Journal, read_journal
from agentsim.history.record import FINISHED, History
from agentsim.history.run_files import RunFiles, default_stem, write_history
from agentsim.models.own import OwnModel
from agentsim.players.model import BotPlayer
from agentsim.runner.admission import Budget
from agentsim.runner.dispatcher import Before, Dispatcher, Gate
from agentsim.runner.drive import drive
from agentsim.runner.plays import Played, RunResult, filled, head_of, new_play, restored_scenario, stamp, volatile_of
from agentsim.runner.process import make_room, stoppable
from agentsim.runner.recorder import Recording
from agentsim.runner.replay import over, rebuilt, unfit
from agentsim.runner.seats import Seats, seated
from agentsim.runner.watcher import PublicWatcher, Watcher
from agentsim.scenario.scenario import Scenario, with_limits

__all__ = ["MAX_DRAWN_SEED", "RunResult", "Session", "begin", "go_on", "opened", "reopened", "resumed"]

MAX_DRAWN_SEED = 2**31


class _Surroundings(TypedDict, total=False):
    """What a session is given besides its run: a `recording` records or plays replies, `within` is what several games
    may spend together, `own` are the program's own models, and people at pages need a run that is `served`.
    """

    watcher: Watcher | None
    recording: Recording | None
    within: Budget | None
    own: Mapping[str, OwnModel] | None
    served: bool


def opened(
    scenario: Scenario,
    logs_dir: Path,
    *,
    env: Mapping[str, str],
    stem: str | None = None,
    **around: Unpack[_Surroundings],
) -> Session:
    """A session that plays a scenario from its beginning.

    Everything that can be wrong with it is found before the journal exists: `ScenarioError` and `UsageError`
    mean that nothing was written.
    """
    recording = around.get("recording") or Recording()
    seed = recording.seed if scenario.seed is None else scenario.seed
    seed = secrets.randbelow(MAX_DRAWN_SEED) if seed is None else seed
    scenario = replace(scenario, seed=seed)
    game = find(scenario.game)
    seats = seated(scenario, game, env, recording, own=around.get("own"), served=around.get("served", False))
    now = datetime.now(UTC)
    recording.start(seed)
    try:
        files, handle = RunFiles.reserve(logs_dir, stem or default_stem(now, scenario.name), numbered=stem is None)
        journal = Journal.create(files.journal, handle, head_of(scenario, game, files.name, now))
    except BaseException:
        recording.abandon()
        raise
    watcher = around.get("watcher") or Watcher()
    return Session(scenario, game, seats, files, journal, watcher, recording, around.get("within"))


def reopened(
    files: RunFiles,
    *,
    env: Mapping[str, str],
    max_cost_usd: float | None = None,
    max_calls: int | None = None,
    max_wall_s: float | None = None,
    **around: Unpack[_Surroundings],
) -> Session | None:
    """A session that goes on where a run's journal ends; None where it is finished.

    New limits take the place of the recorded ones for this session. Raises `JournalError` for a journal
    that cannot be used, `UsageError` for limits that are none.
    """
    stops = read_journal(files.journal).stops
    if stops and stops[-1].status in FINISHED and files.history.is_file():
        return None
    recording = around.get("recording") or Recording()
    journal = Journal.reopen(files.journal)
    try:
        scenario, game = restored_scenario(journal.contents)
        scenario = with_limits(scenario, env, max_cost_usd=max_cost_usd, max_calls=max_calls, max_wall_s=max_wall_s)
        served = around.get("served", False)
        known = journal.contents.terms(scenario.first_models)
        seats = seated(scenario, game, env, recording, known=known, own=around.get("own"), served=served)
        recording.start(cast("int", scenario.seed))
    except BaseException:
        journal.close()
        raise
    watcher = around.get("watcher") or Watcher()
    return Session(scenario, game, seats, files, journal, watcher, recording, around.get("within"))


def resumed(files: RunFiles, *, env: Mapping[str, str], **options: Any) -> Session | RunResult | None:
    """As `reopened`; where the history of a finished run is missing or not its own, the result with a new one."""
    if over(files) and (why := unfit(files, closely=True)) is not None:
        remark = f"{files.history.name} {why}: it is made again from the journal"
        return RunResult(files, rebuilt(files), remark=remark, rebuilt=True)
    return reopened(files, env=env, **options)


def begin(scenario: Scenario, logs_dir: Path, *, env: Mapping[str, str], **options: Any) -> RunResult:
    """Play a scenario from its beginning; see `opened`."""
    return opened(scenario, logs_dir, env=env, **options).run()


def go_on(files: RunFiles, *, env: Mapping[str, str], **options: Any) -> RunResult | None:
    """Resume a run where its journal ends; None where it is finished and nothing is to be done: see `resumed`."""
    found = resumed(files, env=env, **options)
    return found.run() if isinstance(found, Session) else found


@dataclass
class Session:
    """One process's part in one run: its journal is open, its players sit; it is played once."""

    scenario: Scenario
    game: Game
    seats: Seats
    files: RunFiles
    journal: Journal
    watcher: Watcher
    recording: Recording = field(default_factory=Recording)
    within: Budget | None = None
    gate: Gate | None = None
    before: Before | None = None
    opening: Callable[[], Awaitable[None]] | None = None
    """Is awaited before the game begins, or goes on."""

    _result: RunResult = field(init=False)

    @cached_property
    def _played(self) -> Played:
        return Played(self.scenario, self.game, new_play(self.scenario, self.game, self.journal.contents))

    def run(self) -> RunResult:
        """Play to the end or to whatever stops it, and leave journal and history in order.

        Raises `JournalError`, the files left as they were, where the journal is not of this game.
        """
        with self._recorded(), stoppable(self.seats.interrupt) as stop:
            asyncio.run(self._play(stop))
        return self._result

    async def play(self) -> RunResult:
        """`run` in a loop where other games are played as well; a cancelled one ends in order."""
        with self._recorded():
            try:
                await self._play()
            except asyncio.CancelledError:
                raise Interrupted("stopped with the others") from None
        return self._result

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        started, status = time.monotonic(), "failed"
        error: AgentsimError | None = None
        remark: str | None = None
        ours, fresh = True, not self.journal.contents.decisions
        try:
            yield
            status = self._played.finished or status
            remark = self.recording.finished()
        except RunStopped as stopped:
            status, error = stopped.status, stopped
        except JournalError:
            ours = False
            raise
        except AgentsimError as failed:
            error = failed
        finally:
            self._played.play.close()
            try:
                if ours:
                    history = self._write(status, time.monotonic() - started)
            finally:
                self.journal.close()
                self.recording.close()
        # What the journal answers is not asked again: only a whole game can leave replies over.
        self._result = RunResult(self.files, history, error, not self.recording.live, remark if fresh else None)

    def fill(self, player: str, bot: str) -> None:
        """Put a bot into the seat of a person who did not come, before the game begins; it is on record."""
        self.journal.filled(player, bot)
        self.scenario = filled(self.scenario, {player: bot})
        self.seats.by_id[player] = BotPlayer(bots_of(self.game)[bot.removeprefix("bot/")])

    async def _play(self, stop: Callable[[asyncio.Task[Any]], None] | None = None) -> None:
        if self.opening is not None:
            await self.opening()
        limits = self.scenario.limits
        dispatcher = Dispatcher(
            seats=self.seats.by_id,
            journal=self.journal,
            decisions=self._played.decisions,
            budget=Budget(limits.max_calls, limits.max_cost_usd, limits.max_wall_s, within=self.within),
            prices=self.seats.prices,
            concurrency=limits.concurrency,
            watcher=PublicWatcher(self.watcher) if self.seats.has_person else self.watcher,
            branch=self.scenario.branch,
            tick_deadline_s=limits.tick_deadline_s,
            on_provider_failure=limits.on_provider_failure,
            gate=self.gate,
            before=self.before,
        )
        if (line := make_room(self.seats.most_calls(limits.concurrency))) is not None:
            self.watcher.noted(f"agentsim: {line}")
        self.journal.plays(self.recording.played)
        dispatcher.budget.spent(0, 0.0, self.journal.contents.wall_s)
        for line in self.seats.errands:
            self.watcher.noted(line)
        self.watcher.began(self.files.name, self.game.title, self._played.play.table.players)
        dispatcher.watcher.limited_by(self.seats.endpoints.notes)
        dispatcher.watcher.seated({plan.id: plan.title for plan in self.scenario.seats})
        dispatcher.watcher.budgeted(dispatcher.budget)
        task = asyncio.create_task(drive(self._played.play, dispatcher))
        if stop is not None:
            stop(task)
        try:
            await task
        finally:
            await self.seats.aclose()

    def _write(self, status: str, wall_s: float) -> History:
        now, recorded = stamp(datetime.now(UTC)), self.journal.contents
        volatile = volatile_of(self.scenario, recorded, self.files.name, now, recorded.wall_s + wall_s)
        history = self._played.history(status, recorded, volatile)
        # The journal names it first: a process that is killed in between leaves a history to be made again.
        write_history(
            self.files,
            lambda: history_bytes(history),
            lambda digest: self.journal.stopped(status, now, wall_s, digest),
        )
        return history
