"""Tally: a batch's progress, its cost so far and expected, and the share of its limits that a game may use.

A game's files tell whether it is done and what it used, regardless of the session and executor that played it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentsim.errors import AgentsimError, JournalError, UsageError
from agentsim.records.history import FINISHED
from agentsim.records.journal import Totals, read_journal
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles, is_running
from agentsim.runs.replay import history_problem, is_over, rebuild_history
from agentsim.scenario.toml_tables import Limits


@dataclass(frozen=True, slots=True)
class GameEnd:
    """The end of one game in this session: its status, the usage of all its sessions, the error that ended it.

    `cost_usd` is that of the calls with a known price, `unpriced_calls` is the number of the others.
    """

    name: str
    status: str
    calls: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0
    error: str | None = None
    exit_code: int = 0


def has_begun(journal: Path) -> bool:
    """Return whether a journal has a line, or a process is about to write one."""
    try:
        with journal.open("rb") as file:
            return file.readline().endswith(b"\n") or is_running(journal)
    except FileNotFoundError:
        return False


def is_done(files: RunFiles, seed: int) -> tuple[bool, str | None]:
    """Return whether a game is over with its history, and what was wrong with a history that was rebuilt, or None.

    A complete history with the game's seed counts without its journal, so that the game is not paid for again.
    """
    if not has_begun(files.journal):
        try:
            history = load_history(files.history, interviewed=False)
        except UsageError:
            return False, None
        return history.status in FINISHED and history.seed == seed, None
    if not is_over(files):
        return False, None
    try:
        if (why := history_problem(files)) is None:
            return True, None
        rebuild_history(files)
    except AgentsimError:
        return False, None  # the game's session reports the problem
    return True, f"{files.history.name} {why}"


def used(files: RunFiles, *, done: bool) -> tuple[int, float, int]:
    """Return the calls, known US dollars and calls of unknown price of a game in earlier sessions."""
    try:
        if done:
            return load_history(files.history, interviewed=False).spent
        contents = read_journal(files.journal)
    except (UsageError, JournalError):
        return 0, 0.0, 0
    totals = Totals.zero()
    for key in {*contents.decisions, *contents.attempts}:
        for attempt in contents.calls(*key):
            totals.add_call(attempt)
    return totals.calls, totals.known_usd, totals.unpriced_calls


def finished(files: RunFiles) -> GameEnd:
    """Return the result of a game that is over, from its history."""
    history = load_history(files.history, interviewed=False)
    return GameEnd(files.name, history.status, *history.spent)


def completed_from_files(end: GameEnd, files: RunFiles, seed: int) -> GameEnd:
    """Return the result of a game whose executor reported no usage; the game may even be over."""
    if is_done(files, seed)[0]:
        return finished(files)
    calls, cost, unpriced = used(files, done=False)
    return replace(end, calls=calls, cost_usd=cost, unpriced_calls=unpriced)


def sweep(directory: Path) -> None:
    """Remove the temporary files of killed processes."""
    for path in directory.glob(".*.tmp"):
        path.unlink(missing_ok=True)


class BatchWatcher:
    """A receiver of a batch's events that ignores them all; a display overrides the methods that it shows."""

    def noted(self, line: str) -> None:
        """Show a line that every display must show: which key goes to which host, what this machine does not allow."""

    def began(self, tally: Tally) -> None:
        """Handle the start of the batch; the tally has its plan and the results of earlier sessions."""

    def changed(self) -> None:
        """Handle the start of a game, or the end of one of its calls."""

    def ended(self, end: GameEnd) -> None:
        """Handle the end or the stop of a game."""


class Tally:
    """Counts of games by how they ended, in all sessions (`done`) and in this one (`statuses`); dollars and calls."""

    def __init__(self, games: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.games = games
        self.done = 0  # finished, in any session
        self.statuses: Counter[str] = Counter()
        self.calls, self.cost_usd, self.unpriced_calls = 0, 0.0, 0
        self._running: dict[str, Totals] = {}
        self._known: dict[str, tuple[int, float, int]] = {}  # what unfinished games had used when this session began
        self._clock, self._began = clock, clock()

    @property
    def running(self) -> int:
        return len(self._running)

    def playing(self) -> list[tuple[str, Totals]]:
        """Return the games in progress, with the usage of each so far."""
        return list(self._running.items())

    @property
    def failed(self) -> int:
        """The number of this session's games without a result."""
        return sum(count for status, count in self.statuses.items() if status not in FINISHED)

    def earlier(self, name: str, calls: int, cost_usd: float, unpriced_calls: int = 0, *, finished: bool) -> None:
        self.calls += calls
        self.cost_usd += cost_usd
        self.unpriced_calls += unpriced_calls
        if finished:
            self.done += 1
        else:
            self._known[name] = (calls, cost_usd, unpriced_calls)

    def started(self, name: str) -> tuple[int, float]:
        """Mark a game as running; return the calls and dollars that it used before, which its own totals include."""
        calls, cost, unpriced = self._known.pop(name, (0, 0.0, 0))
        self.calls -= calls
        self.cost_usd -= cost
        self.unpriced_calls -= unpriced
        self._running[name] = Totals.zero()
        return calls, cost

    def used(self, name: str, totals: Totals) -> None:
        if name in self._running:
            self._running[name] = totals

    def ended(self, end: GameEnd) -> None:
        self._running.pop(end.name, None)
        self.statuses[end.status] += 1
        self.done += end.status in FINISHED
        self.calls += end.calls
        self.cost_usd += end.cost_usd
        self.unpriced_calls += end.unpriced_calls

    def spent(self) -> float:
        """Return the US dollars so far, including running games."""
        return self.cost_usd + sum(totals.known_usd for totals in self._running.values())

    def forecast_usd(self) -> float | None:
        """Return the expected US dollars of the whole batch at the mean cost so far, or None before any result."""
        over = self.done + self.failed
        return self.cost_usd / over * self.games if over else None

    def left_s(self) -> float | None:
        """Return the seconds left at the pace of this session, or None before its first game is over."""
        ended = self.statuses.total()
        return (self._clock() - self._began) / ended * max(0, self.games - self.done - self.failed) if ended else None


class LimitShares:
    """The part of a batch's limits that each running game may use if its executor cannot ask before each call.

    `lanes` games may run at once; the sum of their shares is never more than what is left.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = {"max_calls": limits.max_calls, "max_cost_usd": limits.max_cost_usd}
        self._given: dict[str, dict[str, float]] = {}
        self.lanes = 0

    @property
    def any(self) -> bool:
        return any(limit is not None for limit in self._limits.values())

    def given(self, name: str, calls: tuple[int, int], cost_usd: tuple[float, float]) -> dict[str, float]:
        """Return the limits of one game: what is left without a share, divided by the number of free lanes.

        `calls` and `cost_usd` are pairs of what was spent by games that do not run and what this game used in earlier
        sessions, which its own limits include.
        """
        share: dict[str, float] = {}
        for what, (others, before) in {"max_calls": calls, "max_cost_usd": cost_usd}.items():
            limit = self._limits[what]
            if limit is not None:
                free = limit - others - before - sum(each[what] for each in self._given.values())
                part = free / (self.lanes - len(self._given))
                share[what] = before + (int(part) if what == "max_calls" else part)
        self._given[name] = share
        return share

    def back(self, name: str) -> None:
        self._given.pop(name, None)


@dataclass
class BatchResult:
    """The result of a batch's session: how its games ended, why it stopped early, and the sums.

    `rebuilt` are games whose history was rebuilt, with what was wrong with it. `enough` says why no more games are
    needed, if an interval was to reach a width and has.
    """

    directory: Path
    tally: Tally
    rebuilt: dict[str, str] = field(default_factory=dict)
    ends: list[GameEnd] = field(default_factory=list)
    stopped: AgentsimError | None = None
    enough: str | None = None

    @property
    def complete(self) -> bool:
        return self.tally.done == self.tally.games or self.enough is not None

    @property
    def exit_code(self) -> int:
        """0 if every game is done (4 if one is degraded), else the code of what stopped the batch or of its games."""
        if self.stopped is not None:
            return self.stopped.exit_code
        codes = {end.exit_code for end in self.ends}
        if self.complete:
            return 4 if any(end.status == "degraded" for end in self.ends) else 0
        return next((code for code in (5, 3) if code in codes), 1)
