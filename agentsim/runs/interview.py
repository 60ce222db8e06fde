"""Interview: questions to the players of a run that was played, as they would have been asked at one of its decisions.

The run is played again from its journal up to that decision; nothing of it changes. Answers are journaled in a file of
their own (`records.interviews`), so that an interview that was stopped goes on there, and no call is paid for twice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentsim.engine.chance import Chance, Stream
from agentsim.engine.request import Ask, Wave
from agentsim.engine.survey import SurveyQuestion
from agentsim.errors import AgentsimError, JournalMismatch, RunStopped, UsageError
from agentsim.lazy import dataclass
from agentsim.records.interviews import LaterInterview, head_of_interview, interview_of, interview_path
from agentsim.records.journal import Journal, JournalContents, Totals, read_journal
from agentsim.records.run_files import RunFiles, create_journal, is_running
from agentsim.runs.decide import Decider
from agentsim.runs.forecast import ModelForecast, forecast_answers
from agentsim.runs.fork import changed_scenario
from agentsim.runs.game_in_progress import GameInProgress, head_of, stamp
from agentsim.runs.limits import Budget, CallLimits
from agentsim.runs.loop import decide_wave
from agentsim.runs.process import reserve_descriptors, stoppable
from agentsim.runs.run import RunOptions, seats_of
from agentsim.scenario.load import load_questions
from agentsim.scenario.scenario import LimitOverrides, Scenario, prices_of, with_limits

AT_END = "end"


@dataclass(frozen=True)
class InterviewPlan:
    """The moments, players and questions of an interview.

    It is held at each decision of `at`, or at the end of the game for None, with `players`, or with all if it is empty.
    The questions are those of `batteries` and of the TOML file `ask`. `model` answers instead of each player's own.
    `label` names the file; by default it is made of the moments.
    """

    ask: Path | None = None
    batteries: tuple[str, ...] = ()
    at: tuple[int | None, ...] = (None,)
    players: tuple[str, ...] = ()
    model: str | None = None
    label: str | None = None

    @property
    def file_label(self) -> str:
        named = "_".join(AT_END if each is None else f"at{each}" for each in self.at)
        return self.label or (named if len(named) <= 60 else f"{named[:50]}_and_more")


@dataclass(frozen=True)
class InterviewResult:
    """The end of an interview: its file, what was answered, the calls, and the error that stopped it, if any."""

    path: Path
    interview: LaterInterview
    totals: Totals
    error: AgentsimError | None


class RunInterview:
    """One interview with the players of a run; see `play_sync`.

    Raises `UsageError` if the plan does not fit the run, `ScenarioError` if a player cannot answer, `JournalError` if
    the journal cannot be used.
    """

    def __init__(
        self, files: RunFiles, plan: InterviewPlan, options: RunOptions, limits: LimitOverrides | None = None
    ) -> None:
        self.files, self.plan, self.options = files, plan, options
        self.path = interview_path(files, plan.file_label)
        if is_running(files.journal):
            raise UsageError(f"{files.name}: is being played; ask its players from its page, or when it has ended")
        contents = read_journal(files.journal)
        played = GameInProgress.of_journal(contents)
        with closing(played.play):
            self.game, original = played.game, played.scenario
            known = [each.id for each in original.players]
            if strangers := [each for each in plan.players if each not in known]:
                raise UsageError(f"{files.name}: no player is called {strangers[0][:40]} (valid: {', '.join(known)})")
            if plan.ask is None and not plan.batteries:
                raise UsageError("asks nothing: give --ask FILE or --battery BATTERY")
            questions = load_questions(plan.ask, plan.batteries, self.game, known)
            self.waves = _waves(files.name, played, contents, plan, questions)
        settings = [] if plan.model is None else [f"players.{n}.model={plan.model}" for n in range(len(known))]
        scenario = changed_scenario(original, self.game, settings)
        self.scenario: Scenario = with_limits(replace(scenario, branch=None), options.env, limits or LimitOverrides())
        models = {each.id: each.model for each in self.scenario.players}
        self._asks = head_of_interview(questions, plan.at, models)

    def forecast(self) -> list[ModelForecast]:
        """Estimate what models are still to be asked. Raises `UsageError` if the file is another interview's."""
        done: Collection[tuple[int, int]] = ()
        if self.path.is_file() and self.path.stat().st_size:
            contents = read_journal(self.path)
            self._require_own(contents)
            done = contents.decisions.keys()
        plans = {plan.id: plan for plan in self.scenario.seats}
        asks = [ask for wave in self.waves for ask in wave.asks if (ask.wave, ask.place) not in done]
        prices = prices_of(self.scenario, self.options.env)
        return forecast_answers(((ask, plans[ask.request.player]) for ask in asks), prices)

    def play_sync(self) -> InterviewResult:
        """Ask what is not answered yet, in a new event loop, which SIGINT and SIGTERM end in order."""
        journal = self._journal()
        try:
            known = journal.contents.adjustments(self.scenario.first_models)
            seats = seats_of(self.scenario, self.game, self.options, known)
            self.options.reply_source.start(self.scenario.seed or 0)
        except BaseException:
            journal.close()
            raise
        started, status = time.monotonic(), "failed"
        error: AgentsimError | None = None
        limits = self.scenario.limits
        budget = Budget(limits.max_calls, limits.max_cost_usd, limits.max_wall_s, within=self.options.budget)
        budget.add_earlier(0, 0.0, journal.contents.wall_s)
        decider = Decider(
            seats=seats.by_id,
            journal=journal,
            limits=CallLimits(journal, budget, seats.prices, limits.concurrency, limits.on_provider_failure),
            watcher=self.options.watcher,
            wave_deadline_s=limits.wave_deadline_s,
        )

        async def ask(stop: Callable[[asyncio.Task[Any]], None]) -> None:
            if (line := reserve_descriptors(seats.most_calls(limits.concurrency))) is not None:
                self.options.watcher.noted(f"agentsim: {line}")
            for line in seats.key_disclosures:
                self.options.watcher.noted(line)
            task = asyncio.create_task(self._ask(decider))
            stop(task)
            try:
                await task
            finally:
                await seats.aclose()

        try:
            with stoppable(seats.interrupt) as stop:
                asyncio.run(ask(stop))
            status = "completed"
            self.options.reply_source.finished()
        except RunStopped as stopped:
            status, error = stopped.status, stopped
        except AgentsimError as failed:
            error = failed
        finally:
            try:
                journal.append_stop(status, stamp(datetime.now(UTC)), time.monotonic() - started, "")
            finally:
                journal.close()
                self.options.reply_source.close()
        return InterviewResult(self.path, interview_of(self.plan.file_label, journal.contents), decider.totals, error)

    async def _ask(self, decider: Decider) -> None:
        chance = Chance(f"{self.scenario.seed}/interview/{self.plan.file_label}")

        def bot_rng(ask: Ask) -> Stream:
            return chance.once(f"{ask.request.player}/{ask.nth}")

        for wave in self.waves:
            await decide_wave(wave, decider, bot_rng)
        decider.journal.sync()

    def _journal(self) -> Journal:
        """Open the interview's file, or begin it. Raises `UsageError` if it has other questions, moments or models."""
        if self.path.is_file() and self.path.stat().st_size:
            journal = Journal.reopen(self.path)
            try:
                self._require_own(journal.contents)
            except UsageError:
                journal.close()
                raise
            return journal
        if (handle := create_journal(self.path)) is None:
            raise UsageError(f"{self.path}: another process holds this interview, or it is no file")
        head = head_of(self.scenario, self.game, self.files.name, datetime.now(UTC))
        return Journal.create(self.path, handle, {**head, "interview": self._asks})

    def _require_own(self, contents: JournalContents) -> None:
        if contents.head.get("interview") != self._asks:
            raise UsageError(
                f"{self.path}: is an interview with other questions, moments or models; give this one a name: --label L"
            )


def _waves(
    name: str,
    played: GameInProgress,
    contents: JournalContents,
    plan: InterviewPlan,
    questions: Sequence[SurveyQuestion],
) -> list[Wave]:
    """Play a run again, and return a wave of surveys for each moment, in the order of the game."""
    of_decision = {record.index: record.wave for record in contents.decisions.values()}
    numbers = sorted(of_decision)
    for at in plan.at:
        if at is not None and at not in of_decision:
            valid = f"{numbers[0]} to {numbers[-1]}" if numbers else "none: it has no decision yet"
            raise UsageError(f"{name}: has no decision {at} (valid: {valid})")
    moments = {of_decision[at]: at for at in plan.at if at is not None}
    waves: list[Wave] = []

    def ask(at: int | None) -> None:
        moment = "later, at the end" if at is None else f"later, at {at}"
        surveys = played.play.interview(questions, plan.players or played.play.table.players, 0)
        if not surveys:
            raise UsageError(f"{name}: no player was asked anything up to then")
        number, before = len(waves) + 1, sum(len(wave.asks) for wave in waves)
        asks = (
            Ask(before + place + 1, number, place, number, replace(each, moment=moment), round=each.round)
            for place, each in enumerate(surveys)
        )
        waves.append(Wave(number, tuple(asks)))

    for found in played.replay(contents):
        if found.wave.number in moments:
            ask(moments.pop(found.wave.number))
        if not moments and None not in plan.at:
            return waves
    if moments:
        raise JournalMismatch(f"the game ends before wave {min(moments)}, which is recorded")
    if played.play.outcome is None:
        raise UsageError(f"{name}: is not finished; name a decision with --at N")
    ask(None)
    return waves
