"""Batch: the unfinished games of a manifest, played several at once; one failed game does not end the others.

`manifest` plans the games, `executors` play them, `tally` sums them up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from agentsim.engine.wording import counted
from agentsim.errors import AgentsimError, BudgetReached, Interrupted, ProviderStopped, RunStopped, UsageError
from agentsim.games import find
from agentsim.lazy import dataclass
from agentsim.models.own import OwnModel
from agentsim.records.history import FINISHED
from agentsim.records.journal import Totals
from agentsim.records.run_files import RunFiles, is_running
from agentsim.runs.batch.executors import Executor, ExecutorLost, InLoop, InProcesses, failed
from agentsim.runs.batch.manifest import Manifest, concurrent_games, locked, plays_alone
from agentsim.runs.batch.seating import PlannedGame
from agentsim.runs.batch.tally import (
    BatchResult,
    BatchWatcher,
    GameEnd,
    LimitShares,
    Tally,
    completed_from_files,
    is_done,
    sweep,
    used,
)
from agentsim.runs.limits import Budget
from agentsim.runs.process import reserve_descriptors, stoppable
from agentsim.runs.seats import build_players
from agentsim.scenario.scenario import Scenario

Enough: TypeAlias = Callable[[], str | None]
"""A function that returns why no more games are needed after the finished ones, or None if more are."""
_ORPHANS_S = 10.0
"""Seconds that the workers of a killed batch may take to exit."""


@dataclass
class Batch:
    """The unfinished games of a batch, whose folder and manifest exist; they are played once, `jobs` at a time.

    The scenario's limits in calls and dollars hold for all games together. After `abort_after` consecutive games
    without a result (0: no limit), no more begin. By default, games of bots are played in worker processes and games of
    models in the event loop; an `executor` is made in that loop and plays them elsewhere. `own` are the program's own
    models. `enough`, if given, is called after every few blocks, while no block is half played, and may end the batch.
    """

    manifest: Manifest
    directory: Path
    _: KW_ONLY
    env: Mapping[str, str]
    jobs: int | None = None
    abort_after: int = 0
    watcher: BatchWatcher = field(default_factory=BatchWatcher)
    executor: Callable[[], Executor] | None = None
    own: Mapping[str, OwnModel] = field(default_factory=dict)
    enough: Enough | None = None

    def __post_init__(self) -> None:
        limits = self.manifest.casts[0].limits
        self._jobs = self.jobs or concurrent_games(self.manifest)
        self._budget = Budget(limits.max_calls, limits.max_cost_usd)
        self.result = BatchResult(self.directory, Tally(len(self.manifest.games)))
        self._in_a_row = 0
        self._calls = self._shared_calls = 0  # of one game, and of all together, which share the hosts' limits
        self._shares = LimitShares(limits)

    def run(self) -> BatchResult:
        """Play the games; the first SIGINT or SIGTERM ends them in order.

        Raises errors that make every game impossible, such as a missing key, before any begins, and `UsageError` if
        another process plays the batch.
        """
        with self._locked_batch(), stoppable() as stop:
            asyncio.run(self._play(stop))
        return self.result

    async def play(self) -> BatchResult:
        """Play the games in the running loop; cancellation ends them in order. Raises like `run`."""
        with self._locked_batch():
            await self._play()
        return self.result

    @contextmanager
    def _locked_batch(self) -> Iterator[None]:
        with locked(self.directory):
            try:
                yield
            except RunStopped as stopped:
                self.result.stopped = self.result.stopped or stopped

    async def _play(self, stop: Callable[[asyncio.Task[Any]], None] | None = None) -> None:
        sweep(self.directory)
        left = self._left()
        if left:
            await self._seat()
        task = asyncio.create_task(self._play_all(left))
        if stop is not None:
            stop(task)
        try:
            await task
        finally:
            task.cancel()
            await asyncio.wait({task})
        sweep(self.directory)  # all writers are gone; a worker may have been killed while it wrote

    async def _seat(self) -> None:
        """Raise errors that make every game impossible; note which key goes to which host."""
        key_disclosures: dict[str, None] = {}
        for cast in self.manifest.casts:
            seats = build_players(cast, find(cast.game), self.env, own=self.own)
            self._calls = max(self._calls, seats.most_calls(cast.limits.concurrency))
            self._shared_calls = max(self._shared_calls, cast.limits.concurrency * len(seats.endpoints))
            await seats.aclose()
            key_disclosures |= dict.fromkeys(seats.key_disclosures)
        for line in key_disclosures:
            self.watcher.noted(line)

    def _files(self, game: PlannedGame) -> RunFiles:
        return RunFiles(self.directory, game.name)

    def _left(self) -> list[PlannedGame]:
        """Return the games that are not done; count the earlier usage of all games."""
        left, tally = [], self.result.tally
        free = plays_alone(self.manifest)
        for game in self.manifest.games:
            files = self._files(game)
            done, why = is_done(files, game.seed)
            if why is not None:
                self.result.rebuilt[game.name] = why
            calls, cost, unpriced = (0, 0.0, 0) if free else used(files, done=done)
            tally.earlier(game.name, calls, cost, unpriced, finished=done)
            self._budget.add_earlier(calls, cost)
            if not done:
                left.append(game)
        return left

    async def _play_all(self, left: Sequence[PlannedGame]) -> None:
        tally = self.result.tally
        await self._orphans_gone(left)
        if self.executor is not None:
            executor = self.executor()
        elif plays_alone(self.manifest):
            executor = InProcesses()
        else:
            executor = InLoop(self.env, self._budget, self._used, self.own)
        games = min(self._jobs, len(left))
        most = self._calls * games
        if isinstance(executor, InLoop) and (
            line := reserve_descriptors(min(most, self._shared_calls), games, connections=most)
        ):
            self.watcher.noted(f"agentsim: {line}")
        lanes: list[asyncio.Task[None]] = []
        try:
            capacity = await executor.open()
            self.watcher.began(tally)
            # A game that waits for a worker must not hold a share of the limits.
            most = self._jobs if capacity is None or not self._shares.any else min(self._jobs, capacity)
            for part in self._parts(left):
                if self.result.stopped is not None:
                    break
                turns = iter(part)
                self._shares.lanes = min(most, len(part))
                lanes += [asyncio.create_task(self._lane(turns, executor)) for _ in range(self._shares.lanes)]
                await asyncio.gather(*lanes)
        finally:
            for lane in lanes:
                lane.cancel()
            if lanes:
                await asyncio.wait(lanes)
            await executor.aclose()

    def _parts(self, left: Sequence[PlannedGame]) -> Iterator[Sequence[PlannedGame]]:
        """Yield the unfinished games in parts; before each part, `enough` may end the batch.

        A part ends with a block, and blocks that have begun are played to their end first: otherwise the games that
        `enough` sees would depend on how long games last.
        """
        if self.enough is None:
            yield left
            return
        begun = {game.seed for game in self.manifest.games if self._files(game).journal.exists()}
        owed = max((index for index, game in enumerate(left) if game.seed in begun), default=-1)
        part: list[PlannedGame] = []
        for index, game in enumerate(left):
            if not part and index > owed and (why := self.enough()) is not None:
                self.result.enough = why
                return
            part.append(game)
            following = left[index + 1].seed if index + 1 < len(left) else None
            if following is None or (index >= owed and len(part) >= self._jobs and following != game.seed):
                yield part
                part = []

    async def _lane(self, turns: Iterator[PlannedGame], executor: Executor) -> None:
        for game in turns:
            if self._exhausted():
                break
            await self._one(game, executor)
        self._shares.lanes -= 1

    def _exhausted(self) -> bool:
        """Return whether the limits are reached: games that are played elsewhere cannot ask before each call."""
        limits, tally = self.manifest.casts[0].limits, self.result.tally
        if limits.max_calls is not None and 0 < tally.calls >= limits.max_calls:
            self._stop(BudgetReached(f"limits.max_calls = {limits.max_calls} is reached"))
        if limits.max_cost_usd is not None and 0 < tally.cost_usd >= limits.max_cost_usd:
            self._stop(BudgetReached(f"limits.max_cost_usd = {limits.max_cost_usd:g} is reached"))
        return self.result.stopped is not None

    async def _one(self, game: PlannedGame, executor: Executor) -> None:
        before = self.result.tally.started(game.name)
        self.watcher.changed()
        task = asyncio.create_task(executor.play(self._allowed(game, *before), self._files(game)))
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()  # has no effect on a finished game
            await asyncio.wait({task})
            self._note(game, task)

    def _allowed(self, game: PlannedGame, calls: int, cost_usd: float) -> Scenario:
        """Return the game's scenario; if it is played elsewhere, its limits are its share of the batch's limits.

        `calls` and `cost_usd` are what it used in earlier sessions.
        """
        scenario, tally = self.manifest.scenario(game), self.result.tally
        if self.executor is None:
            return scenario
        share = self._shares.given(game.name, (tally.calls, calls), (tally.cost_usd, cost_usd))
        return replace(scenario, limits=scenario.limits.model_copy(update=share))

    def _note(self, game: PlannedGame, task: asyncio.Task[GameEnd]) -> None:
        self._shares.back(game.name)
        if task.cancelled():
            end = GameEnd(game.name, Interrupted.status, exit_code=130)
        elif (error := task.exception()) is not None:
            end = failed(game.name, error)
            if isinstance(error, ExecutorLost):
                self._stop(error)
        else:
            end = task.result()
        if end.status not in FINISHED and not end.calls:
            end = completed_from_files(end, self._files(game), game.seed)
        self.result.ends.append(end)
        self.result.tally.ended(end)
        self.watcher.ended(end)
        if end.status == Interrupted.status:  # by a signal to the batch, which is no failure of a game
            return
        self._in_a_row = 0 if end.status in FINISHED else self._in_a_row + 1
        if end.status == BudgetReached.status:
            whose = "" if self.executor is None else f"{end.name} had its share of what is left of the batch's limits: "
            self._stop(BudgetReached(f"{whose}{end.error or 'a limit is reached'}"))
        elif self.abort_after and self._in_a_row >= self.abort_after:
            self._stop(_abort(end, self._in_a_row))

    def _stop(self, why: AgentsimError) -> None:
        self.result.stopped = self.result.stopped or why

    def _used(self, name: str, totals: Totals) -> None:
        self.result.tally.used(name, totals)
        self.watcher.changed()

    async def _orphans_gone(self, left: Sequence[PlannedGame]) -> None:
        """Wait until the workers of a killed batch exit and release their journals.

        Raises `UsageError` after `_ORPHANS_S`.
        """
        until = asyncio.get_running_loop().time() + _ORPHANS_S
        for game in left:
            while (journal := self._files(game).journal).exists() and is_running(journal):
                if asyncio.get_running_loop().time() > until:
                    raise UsageError(f"{game.name}: is being played by another process")
                await asyncio.sleep(0.02)


def _abort(last: GameEnd, number: int) -> AgentsimError:
    message = f"{counted(number, 'game')} in a row came to no result, the last ({last.name}) with: {last.error}"
    return ProviderStopped(message) if last.status == ProviderStopped.status else AgentsimError(message)
