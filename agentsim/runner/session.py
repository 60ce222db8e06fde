"""Session: one process's part in a run: from a scenario or a journal to a history file.

The loop over waves is `drive`; pages, progress and exit codes belong to the command line.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from agentsim.engine.game import Game
from agentsim.engine.play import GamePlay
from agentsim.errors import AgentsimError, JournalError, JournalMismatch, RunStopped
from agentsim.games import find
from agentsim.history.contents import read_journal
from agentsim.history.entry import Entry
from agentsim.history.files import RunFiles, default_stem, write_whole
from agentsim.history.fold import dump_history, fold
from agentsim.history.journal import Journal
from agentsim.models.tape import Tape
from agentsim.players.base import Try
from agentsim.runner.budget import Budget
from agentsim.runner.desk import Desk
from agentsim.runner.drive import drive
from agentsim.runner.imprint import head_of, stamp, volatile_of
from agentsim.runner.seats import Seats, seated
from agentsim.runner.signals import stoppable
from agentsim.runner.watch import Discreet, Watcher
from agentsim.scenario.relimit import with_limits
from agentsim.scenario.scenario import Scenario

__all__ = ["FINISHED", "RunResult", "begin", "finished_status", "folded", "go_on", "new_play", "restored_scenario"]

FINISHED = frozenset({"completed", "degraded"})
MAX_DRAWN_SEED = 2**31


@dataclass(frozen=True)
class RunResult:
    """How a session ended: its files, its history, and the error that ended it, if one did.

    `replayed` says that its replies came from files, `remark` what somebody should know about them.
    """

    files: RunFiles
    history: Mapping[str, Any]
    error: AgentsimError | None = None
    replayed: bool = False
    remark: str | None = None

    @property
    def status(self) -> str:
        """The history's status."""
        return str(self.history["status"])


def begin(
    scenario: Scenario,
    logs_dir: Path,
    *,
    env: Mapping[str, str],
    stem: str | None = None,
    watcher: Watcher | None = None,
    tape: Tape | None = None,
) -> RunResult:
    """Play a scenario from its beginning; a `tape` records the models' replies, or plays recorded ones.

    Everything that can be wrong with it is found before the journal exists: `ScenarioError` and `UsageError`
    mean that nothing was written.
    """
    seed = scenario.seed
    if seed is None and tape is not None:
        seed = tape.seed  # other dice would make another game than that of the replies
    if seed is None:
        seed = secrets.randbelow(MAX_DRAWN_SEED)
    scenario = replace(scenario, seed=seed)
    game = find(scenario.game)
    seats = seated(scenario, game, env, tape)
    now = datetime.now(UTC)
    if tape is not None:
        tape.start(seed)
    files, handle = RunFiles.reserve(logs_dir, stem or default_stem(now, scenario.name))
    journal = Journal.create(files.journal, handle, head_of(scenario, game, files.name, now))
    return _Session(scenario, game, seats, files, journal, watcher or Watcher(), tape).run()


def go_on(
    files: RunFiles,
    *,
    env: Mapping[str, str],
    watcher: Watcher | None = None,
    max_cost_usd: float | None = None,
    max_calls: int | None = None,
    max_wall_s: float | None = None,
    tape: Tape | None = None,
) -> RunResult | None:
    """Resume a run where its journal ends; None where it is finished and nothing is to be done.

    New limits take the place of the recorded ones for this session. Raises `JournalError` for a journal
    that cannot be used, `UsageError` for limits that are none.
    """
    stops = read_journal(files.journal).stops
    if stops and stops[-1]["status"] in FINISHED and files.history.is_file():
        return None
    journal = Journal.reopen(files.journal)
    try:
        scenario, game = restored_scenario(journal.contents.head)
        scenario = with_limits(scenario, env, max_cost_usd=max_cost_usd, max_calls=max_calls, max_wall_s=max_wall_s)
        seats = seated(scenario, game, env, tape, journal.contents.structured)
        if tape is not None:
            tape.start(cast("int", scenario.seed))
    except BaseException:
        journal.close()
        raise
    return _Session(scenario, game, seats, files, journal, watcher or Watcher(), tape).run()


def restored_scenario(head: Mapping[str, Any]) -> tuple[Scenario, Game]:
    """The scenario and game of a journal's head; `JournalMismatch` where the game's rules are others by now."""
    try:
        scenario = Scenario.restore(head["scenario"], head["run"], seed=int(head["seed"]))
        recorded = int(head["rules_version"])
    except (KeyError, TypeError, ValueError) as error:
        raise JournalMismatch(f"the journal's first line does not describe a run: {error}") from None
    game = find(scenario.game)
    if recorded != game.rules_version:
        raise JournalMismatch(
            f"the journal was played by rules version {recorded} of {game.name}, this is version {game.rules_version}"
        )
    return scenario, game


def new_play(scenario: Scenario, game: Game) -> GamePlay:
    """The game of a scenario, about to start."""
    assert scenario.seed is not None, "a run has its seed before it plays"
    players = [plan.id for plan in scenario.players]
    names = {plan.id: plan.called for plan in scenario.players if plan.called is not None}
    return GamePlay(game, scenario.config, players, scenario.seed, staff=scenario.staff, names=names)


def finished_status(scenario: Scenario, entries: Sequence[Entry]) -> str:
    """What a game that came to its end is called."""
    limit = scenario.limits.max_fallback_rate
    fallbacks = sum(entry.source == "fallback" for entry in entries)
    return "degraded" if limit is not None and entries and fallbacks / len(entries) > limit else "completed"


def folded(
    scenario: Scenario,
    game: Game,
    play: GamePlay,
    *,
    entries: list[Entry],
    undecided: Sequence[tuple[str, Try]],
    status: str,
    volatile: Mapping[str, Any],
) -> dict[str, Any]:
    """The history of a play, finished or not; `undecided` are attempts at requests that it has no decision for."""
    plans = (*scenario.players, *scenario.staff.values())
    return fold(
        game=game.name,
        rules_version=game.rules_version,
        seed=cast("int", scenario.seed),
        status=status,
        scenario=scenario.identity(),
        players=[plan.listed() for plan in plans],
        rounds=play.table.rounds,
        log=play.log,
        entries=entries,
        undecided=undecided,
        outcome=play.outcome,
        volatile=volatile,
    )


@dataclass
class _Session:
    scenario: Scenario
    game: Game
    seats: Seats
    files: RunFiles
    journal: Journal
    watcher: Watcher
    tape: Tape | None = None

    def run(self) -> RunResult:
        """Play to the end or to whatever stops it, and leave journal and history in order.

        Raises `JournalError`, the files left as they were, where the journal is not of this game.
        """
        started = time.monotonic()
        play = new_play(self.scenario, self.game)
        entries: list[Entry] = []
        status = "failed"
        error: AgentsimError | None = None
        remark: str | None = None
        ours, fresh = True, not self.journal.contents.entries
        try:
            with stoppable(self.seats.bell) as stop:
                asyncio.run(self._play(play, entries, stop))
            status = finished_status(self.scenario, entries)
            if self.tape is not None:
                remark = self.tape.finished()
        except RunStopped as stopped:
            status, error = stopped.status, stopped
        except JournalError:
            ours = False
            raise
        except AgentsimError as failed:
            error = failed
        finally:
            play.close()
            try:
                if ours:
                    history = self._write(play, entries, status, time.monotonic() - started)
            finally:
                self.journal.close()
                if self.tape is not None:
                    self.tape.close()
        replayed = self.tape is not None and not self.tape.live
        # What the journal answers is asked of nobody again: only a whole game can leave replies over.
        return RunResult(self.files, history, error, replayed, remark if fresh else None)

    async def _play(self, play: GamePlay, entries: list[Entry], stop: Callable[[asyncio.Task[Any]], None]) -> None:
        limits = self.scenario.limits
        desk = Desk(
            seats=self.seats.by_id,
            journal=self.journal,
            budget=Budget(limits.max_calls, limits.max_cost_usd, limits.max_wall_s),
            prices=self.seats.prices,
            concurrency=limits.concurrency,
            watcher=Discreet(self.watcher) if self.seats.has_person else self.watcher,
        )
        if self.tape is not None:
            self.journal.plays(self.tape.played)
        desk.budget.spent(0, 0.0, self._earlier_s())
        self.watcher.began(self.files.name, self.game.title, play.table.players)
        desk.watcher.limited_by(self.seats.endpoints.notes)
        task = asyncio.create_task(drive(play, desk, entries))
        stop(task)
        try:
            await task
        finally:
            await self.seats.aclose()

    def _earlier_s(self) -> float:
        """Seconds of earlier sessions; one that was killed left no word of its own."""
        return float(sum(stop["wall_s"] for stop in self.journal.contents.stops))

    def _write(self, play: GamePlay, entries: list[Entry], status: str, wall_s: float) -> Mapping[str, Any]:
        now, contents = stamp(datetime.now(UTC)), self.journal.contents
        volatile = volatile_of(self.scenario, contents, self.files.name, now, self._earlier_s() + wall_s)
        undecided = contents.undecided()
        history = folded(
            self.scenario, self.game, play, entries=entries, undecided=undecided, status=status, volatile=volatile
        )
        write_whole(self.files.history, dump_history(history))
        self.journal.stopped(status, now, wall_s)
        return history
