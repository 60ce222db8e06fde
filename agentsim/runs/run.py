"""Run: one game that is played into files, created from a scenario or opened to go on where its journal ends.

`loop` plays its waves. Pages, progress and exit codes belong to the command line.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

from agentsim.engine.game import Game, bots_of
from agentsim.errors import AgentsimError, Interrupted, JournalError, RunStopped
from agentsim.games import find
from agentsim.models.base import Adjustments
from agentsim.models.own import OwnModel
from agentsim.players.model import BotPlayer
from agentsim.records.history import History, dump_history, history_bytes
from agentsim.records.journal import Journal
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles, check_name, default_stem, write_history
from agentsim.runs import loop
from agentsim.runs.decide import BeforeDecision, Decider
from agentsim.runs.game_in_progress import (
    GameInProgress,
    head_of,
    restored_scenario,
    stamp,
    volatile_of,
    with_filled_seats,
)
from agentsim.runs.limits import Budget, CallLimits
from agentsim.runs.loop import BeforeWave
from agentsim.runs.process import reserve_descriptors, stoppable
from agentsim.runs.recorder import ReplySource
from agentsim.runs.replay import history_problem, is_over, rebuild_history
from agentsim.runs.seats import Seats, build_players
from agentsim.runs.watcher import PublicWatcher, Watcher
from agentsim.scenario.load import LoadOptions, Source, load
from agentsim.scenario.scenario import LimitOverrides, Scenario, idle_settings, with_limits

if TYPE_CHECKING:
    from agentsim.runs.fork import ForkPoint

MAX_DRAWN_SEED = 2**31


@dataclass(frozen=True)
class RunOptions:
    """The arguments of a run besides its scenario and its files.

    `env` are the variables that keys come from, `reply_source` records or plays replies, `budget` is shared by several
    runs, `own` are the program's own models by name. Players at pages need a run that is `served`.
    """

    env: Mapping[str, str]
    watcher: Watcher = field(default_factory=Watcher)
    reply_source: ReplySource = field(default_factory=ReplySource)
    budget: Budget | None = None
    own: Mapping[str, OwnModel] = field(default_factory=dict)
    served: bool = False


@dataclass(frozen=True)
class RunResult:
    """The end of a run: its files, its history, and the error that ended it, if any.

    `typed_history` is the history as records, `history` the same as the JSON value of its file.
    A run that was over before is not played: it is `unchanged`, or its history is `rebuilt` from the journal.
    `replayed` is True if its replies came from files; `remark` is a line for the user.
    """

    files: RunFiles
    typed_history: History
    error: AgentsimError | None = None
    how: Literal["played", "rebuilt", "unchanged"] = "played"
    replayed: bool = False
    remark: str | None = None

    @property
    def status(self) -> str:
        return self.typed_history.status

    @property
    def history(self) -> dict[str, Any]:
        """The history as the JSON value in the file."""
        found: dict[str, Any] = json.loads(dump_history(self.typed_history))
        return found


@dataclass
class PreparedRun:
    """An open journal, seated players, and the scenario and game that they play."""

    scenario: Scenario
    game: Game
    seats: Seats
    journal: Journal


class Run:
    """One run, which is played once; a run that was stopped goes on as another object.

    `before_decision` is awaited before each decision that is not on record, `before_wave` before each wave, and
    `before_game` before the game begins or goes on.
    """

    def __init__(
        self,
        files: RunFiles,
        options: RunOptions,
        limits: LimitOverrides | None = None,
        prepared: PreparedRun | None = None,
    ) -> None:
        self.files, self.options = files, options
        self.before_decision: BeforeDecision | None = None
        self.before_wave: BeforeWave | None = None
        self.before_game: Callable[[], Awaitable[None]] | None = None
        self._limits = limits or LimitOverrides()
        self._prepared = prepared
        self._result: RunResult

    @classmethod
    def create(cls, scenario: Scenario, logs_dir: Path, options: RunOptions, *, name: str | None = None) -> Run:
        """Create the run of a scenario, with its journal.

        Without a `name`, it is named after the time and the scenario.

        All errors of the scenario are found before the journal exists: after `ScenarioError` and `UsageError` nothing
        is written.
        """
        reply_source = options.reply_source
        seed = reply_source.seed if scenario.seed is None else scenario.seed
        seed = secrets.randbelow(MAX_DRAWN_SEED) if seed is None else seed
        scenario = replace(scenario, seed=seed)
        game = find(scenario.game)
        seats = seats_of(scenario, game, options)
        now = datetime.now(UTC)
        reply_source.start(seed)
        try:
            stem = name or default_stem(now, scenario.name)
            files, handle = RunFiles.reserve(logs_dir, stem, numbered=name is None)
            journal = Journal.create(files.journal, handle, head_of(scenario, game, files.name, now))
        except BaseException:
            reply_source.abandon()
            raise
        return cls(files, options, prepared=PreparedRun(scenario, game, seats, journal))

    @classmethod
    def open(cls, files: RunFiles, options: RunOptions, limits: LimitOverrides | None = None) -> Run:
        """Open a run to go on where its journal ends; `limits` replace the recorded ones."""
        return cls(files, options, limits)

    @property
    def is_over(self) -> bool:
        """Whether its game ended earlier, so that there is nothing to play."""
        return self._prepared is None and is_over(self.files)

    @property
    def scenario(self) -> Scenario:
        return self.prepare().scenario

    @property
    def game(self) -> Game:
        return self.prepare().game

    @property
    def seats(self) -> Seats:
        return self.prepare().seats

    @property
    def journal(self) -> Journal:
        return self.prepare().journal

    def prepare(self) -> PreparedRun:
        """Lock the journal and seat the players, unless that is done.

        Raises `JournalError` if the journal cannot be used, `ScenarioError` if a player cannot play, `UsageError` if
        the limits are not valid.
        """
        if self._prepared is None:
            journal = Journal.reopen(self.files.journal)
            try:
                scenario, game = restored_scenario(journal.contents)
                scenario = with_limits(scenario, self.options.env, self._limits)
                known = journal.contents.adjustments(scenario.first_models)
                seats = seats_of(scenario, game, self.options, known)
                self.options.reply_source.start(cast("int", scenario.seed))
            except BaseException:
                journal.close()
                raise
            self._prepared = PreparedRun(scenario, game, seats, journal)
        return self._prepared

    def fork(self, at: int) -> ForkPoint:
        """Return the run cut before its decision number `at`, as the beginning of branches; see `ForkPoint`."""
        from agentsim.runs.fork import ForkPoint

        return ForkPoint.of(self.files, at)

    def fill(self, player: str, bot: str) -> None:
        """Put a bot into the seat of a person who did not come, and journal it; call it before the game begins."""
        prepared = self.prepare()
        prepared.journal.append_filled_seat(player, bot)
        prepared.scenario = with_filled_seats(prepared.scenario, {player: bot})
        prepared.seats.by_id[player] = BotPlayer(bots_of(prepared.game)[bot.removeprefix("bot/")])

    def play_sync(self) -> RunResult:
        """Play in a new event loop, which SIGINT and SIGTERM end in order; see `play`."""
        if self.is_over:
            return self._result_of_files()
        with self._recorded(), stoppable(self.seats.interrupt) as stop:
            asyncio.run(self._play(stop))
        return self._result

    async def play(self) -> RunResult:
        """Play to the end, or until something stops it, and leave journal and history in order.

        A run that is over is not played; its history is rebuilt if it is not the journal's. A cancelled run ends in
        order. Raises like `prepare`, with the files left as they were.
        """
        if self.is_over:
            return await asyncio.to_thread(self._result_of_files)
        with self._recorded():
            try:
                await self._play()
            except asyncio.CancelledError:
                raise Interrupted("stopped with the others") from None
        return self._result

    def _result_of_files(self) -> RunResult:
        if (problem := history_problem(self.files, closely=True)) is None:
            return RunResult(self.files, load_history(self.files.history), how="unchanged")
        remark = f"{self.files.history.name} {problem}: it is made again from the journal"
        return RunResult(self.files, rebuild_history(self.files), how="rebuilt", remark=remark)

    @cached_property
    def _played(self) -> GameInProgress:
        """The game, built when it begins: until then a bot may take a seat."""
        prepared = self.prepare()
        return GameInProgress.of_scenario(prepared.scenario, prepared.game, prepared.journal.contents)

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        """Write the history when the block ends, also by an error but one of the journal, and set the result."""
        journal, reply_source = self.journal, self.options.reply_source
        started, status = time.monotonic(), "failed"
        error: AgentsimError | None = None
        remark: str | None = None
        ours, fresh = True, not journal.contents.decisions
        try:
            yield
            status = self._played.final_status or status
            remark = reply_source.finished()
        except RunStopped as stopped:
            status, error = stopped.status, stopped
        except JournalError:
            ours = False
            raise
        except AgentsimError as failed:
            error = failed
        finally:
            try:
                self._played.play.close()
                if ours:
                    history = self._write(status, time.monotonic() - started)
            finally:
                journal.close()
                reply_source.close()
        # Recorded decisions are not asked again, so only a run from the start can tell which replies were never asked
        # for.
        self._result = RunResult(
            self.files, history, error, replayed=not reply_source.live, remark=remark if fresh else None
        )

    async def _play(self, stop: Callable[[asyncio.Task[Any]], None] | None = None) -> None:
        if self.before_game is not None:
            await self.before_game()
        scenario, seats, journal, watcher = self.scenario, self.seats, self.journal, self.options.watcher
        limits, contents = scenario.limits, journal.contents
        budget = Budget(limits.max_calls, limits.max_cost_usd, limits.max_wall_s, within=self.options.budget)
        budget.add_earlier(0, 0.0, contents.wall_s)
        decider = Decider(
            seats=seats.by_id,
            journal=journal,
            limits=CallLimits(journal, budget, seats.prices, limits.concurrency, limits.on_provider_failure),
            watcher=PublicWatcher(watcher) if seats.has_person else watcher,
            branch=scenario.branch,
            wave_deadline_s=limits.wave_deadline_s,
            before_decision=self.before_decision,
        )
        if (line := reserve_descriptors(seats.most_calls(limits.concurrency))) is not None:
            watcher.noted(f"agentsim: {line}")
        journal.append_reply_files(self.options.reply_source.played)
        for line in seats.key_disclosures:
            watcher.noted(line)
        watcher.began(self.files.name, self.game.title, self._played.play.table.players)
        decider.watcher.limited_by(seats.endpoints.notes)
        decider.watcher.seated({plan.id: plan.title for plan in scenario.seats})
        decider.watcher.budgeted(budget)
        task = asyncio.create_task(loop.play(self._played, decider, self.before_wave))
        if stop is not None:
            stop(task)
        try:
            await task
        finally:
            await seats.aclose()

    def _write(self, status: str, wall_s: float) -> History:
        now, contents = stamp(datetime.now(UTC)), self.journal.contents
        volatile = volatile_of(self.scenario, contents, self.files.name, now, contents.wall_s + wall_s)
        history = self._played.history(status, contents, volatile)
        # The journal names the digest first: if the process is killed in between, the history is made again.
        write_history(
            self.files,
            lambda: history_bytes(history),
            lambda digest: self.journal.append_stop(status, now, wall_s, digest),
        )
        return history


def create_run(
    scenario: Source, logs_dir: Path, options: RunOptions, *, name: str | None, **loading: Unpack[LoadOptions]
) -> Run:
    """Load a scenario and create its run, with its journal."""
    if name is not None:
        check_name(name)
    found = load(scenario, own=options.own, **loading)
    for line in idle_settings(found):
        options.watcher.noted(f"agentsim: {scenario if isinstance(scenario, Path) else found.game}: {line}")
    return Run.create(found, logs_dir, options, name=name)


def seats_of(
    scenario: Scenario, game: Game, options: RunOptions, known: Mapping[str, Adjustments] | None = None
) -> Seats:
    """Seat the players of a scenario; see `build_players`."""
    return build_players(
        scenario, game, options.env, options.reply_source, known=known, own=options.own, served=options.served
    )
