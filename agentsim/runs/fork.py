"""Fork: new runs that begin with the journal of another run up to one decision.

`analysis.arms` compares the arms of a fork.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import lock_descriptor

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.game import Game, bots_of
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Ask
from agentsim.errors import DecisionError, JournalMismatch, ScenarioError, UsageError
from agentsim.lazy import dataclass
from agentsim.records.history import CONTROL, Branch
from agentsim.records.journal import DecisionRecord, Journal, JournalContents, read_journal
from agentsim.records.load import branches_in
from agentsim.records.run_files import RunFiles, check_name, is_running
from agentsim.runs.decide import DecisionResult, decision_record_of
from agentsim.runs.game_in_progress import GameInProgress, head_of
from agentsim.runs.process import reserve_descriptors
from agentsim.runs.replay import is_over
from agentsim.runs.run import PreparedRun, Run, RunOptions, RunResult, seats_of
from agentsim.scenario.document import errors_by_typed_id, overridden
from agentsim.scenario.player_plan import PlayerPlan, check_terminal
from agentsim.scenario.scenario import LimitOverrides, Scenario, with_limits
from agentsim.scenario.source_files import located, roots
from agentsim.scenario.validation import no_such_bot, screen


@dataclass(frozen=True)
class Change:
    """The difference between a branch and its parent.

    `instead` is the decision to take, as a decision or as JSON in the form of a model's reply; with None the player is
    asked again. `settings` are `KEY=VALUE` changes of the scenario in the journal.
    """

    instead: str | Decision | None = None
    settings: tuple[str, ...] = ()


NO_CHANGE = Change()


@dataclass(frozen=True)
class ForkPoint:
    """A run cut before one decision: `ask` is the request to decide again, `kept` are the decisions before it.

    A branch begins with the decisions of `kept`, at no cost. Those of the same wave are kept as well: they were made
    beside `ask`, not after it.
    """

    files: RunFiles
    contents: JournalContents
    scenario: Scenario
    game: Game
    kept: tuple[DecisionRecord, ...]
    ask: Ask

    @classmethod
    def of(cls, files: RunFiles, at: int) -> ForkPoint:
        """Cut a run before its decision number `at`, playing its past again.

        Raises `UsageError` if there is no such decision, `JournalError` if the journal cannot be used or the rules ask
        something else.
        """
        contents = read_journal(files.journal)
        played = GameInProgress.of_journal(contents)
        cut = next((record for record in contents.decisions.values() if record.index == at), None)
        if cut is None:
            numbers = sorted(record.index for record in contents.decisions.values())
            valid = f"{numbers[0]} to {numbers[-1]}" if numbers else "none: it has no decision yet"
            raise UsageError(f"{files.name}: has no decision {at} (valid: {valid})")
        kept: list[DecisionRecord] = []
        for found in played.replay(contents):
            kept += [record for record in found.records.values() if record is not cut]
            if found.wave.number == cut.wave:
                played.play.close()
                return cls(files, contents, played.scenario, played.game, tuple(kept), found.wave.asks[cut.place])
        raise JournalMismatch(f"the game ends before wave {cut.wave}, which is recorded")

    def branch(
        self,
        options: RunOptions,
        change: Change = NO_CHANGE,
        *,
        number: int | None = None,
        of_several: bool = False,
        arm: str | None = None,
        paired: bool = False,
        name: str | None = None,
        limits: LimitOverrides | None = None,
    ) -> Run:
        """Create a run with this past and write its journal, which `agentsim resume` can go on with.

        A `number` tells the branch from others and salts chance after the decision, unless `paired`. With `of_several`
        and no number, the branch takes the number after the highest of the branches that make the same change, and its
        name ends with it. The name of a branch of an `arm` has the arm and the number, which must be free. `limits`
        count only the branch's own calls. Raises `UsageError` if the decision is not allowed, `ScenarioError` for
        changes that are not valid.
        """
        if name is not None:
            check_name(name)
        record = None if change.instead is None else self._decision_instead(change.instead)
        default = f"{self.files.name}_at{self.ask.index}"
        given = name is not None
        with _alone(self.files.directory):  # or another process could take the same number
            made = self._branch(record, change.settings, arm)
            if arm is not None:
                if number in self.existing_branches(made):
                    raise UsageError(f"branch {number} of the arm {arm} already exists, or another process makes it")
                name = f"{name or default}_{arm}_b{number}"
            elif number is None and of_several:
                # one more than the highest, so that a repeated command makes new branches and no copies
                number = max(self.existing_branches(made), default=0) + 1
                name = f"{name or default}_b{number}"
            salted = [] if self.scenario.branch is None else self.scenario.branch.salts
            salts = [(wave, word) for wave, word in salted if wave < self.ask.wave]
            if number is not None and not paired:
                salts.append((self.ask.wave, str(number)))
            scenario = changed_scenario(self.scenario, self.game, change.settings)
            scenario = with_limits(scenario, options.env, limits or LimitOverrides())
            scenario = replace(scenario, branch=made.model_copy(update={"branch": number, "salts": salts}))
            seats = seats_of(scenario, self.game, options, self.contents.adjustments(self.scenario.first_models))
            files, handle = RunFiles.reserve(self.files.directory, name or default, numbered=not given)
            os.close(handle)
            draft = files.journal.with_name(f".{files.journal.name}.tmp")
            try:
                head = head_of(scenario, self.game, files.name, datetime.now(UTC))
                self._write(draft, head, record)
                draft.replace(files.journal)
            except BaseException:
                for path in (draft, files.journal):
                    path.unlink(missing_ok=True)
                raise
        prepared = PreparedRun(scenario, self.game, seats, Journal.reopen(files.journal))
        return Run(files, options, prepared=prepared)

    def _write(self, draft: Path, head: Mapping[str, Any], record: DecisionRecord | None) -> None:
        """Write the journal to `draft`, which is renamed when complete: half a past would be paid for again."""
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        journal = Journal.create(draft, handle, head)
        with journal.beginning():
            for model, adjustments in self.contents.negotiated.items():
                journal.append_adjustments(model, adjustments)
            for wave, does in sorted(self.contents.steered.items()):
                for each in does if wave <= self.ask.wave else ():
                    journal.append_steering(wave, each)
            for kept in (*self.kept, *((record,) if record is not None else ())):
                journal.append_decision(kept, write_now=True)
            journal.sync()
        journal.close()

    def branch_record(self, change: Change = NO_CHANGE, arm: str | None = None) -> Branch:
        """Return the record of a branch with this change, without its number."""
        record = None if change.instead is None else self._decision_instead(change.instead)
        return self._branch(record, change.settings, arm)

    def _branch(self, record: DecisionRecord | None, settings: Sequence[str], arm: str | None) -> Branch:
        return Branch(
            of=self.files.name,
            at=self.ask.index,
            instead=None if record is None else record.decision,
            changed=list(settings),
            wave=self.ask.wave,
            beside=[kept.index for kept in self.kept if kept.wave == self.ask.wave],
            arm=arm,
        )

    def existing_branches(self, branch: Branch) -> dict[int, RunFiles]:
        """Return the branches beside the parent that make the same change in the same arm, by number.

        Raises `UsageError` if a branch of the same arm makes another change.
        """
        found: dict[int, RunFiles] = {}
        for files, other in branches_in(self.files.directory):
            named = (branch.of, branch.at, branch.arm) == (other.of, other.at, other.arm)
            if other.branch is None or not named:
                continue
            if branch.instead == other.instead and _alike(branch.changed, other.changed):
                found.setdefault(other.branch, files)
            elif branch.arm is not None:
                raise UsageError(
                    f"--arm {branch.arm}: {files.name} is of this arm and changes {other.change or 'nothing'}, this is "
                    f"{branch.change or 'no change'}; give it another name"
                )
        return found

    def _decision_instead(self, given: str | Decision) -> DecisionRecord:
        """Return the record of a decision whose source is `human`: the person who forks chose it."""
        request = self.ask.request
        try:
            decision = request.parse(given).decision if isinstance(given, str) else given
            request.check(decision)
        except DecisionError as error:
            legal = random_decision(request, Stream("an example"))  # a fallback such as no vote may be refused
            example = f"decision {self.ask.index} is a {request.kind}, such as {legal.model_dump_json()}"
            raise UsageError(f"--instead: {str(error).rstrip('.')}; {example}") from None
        return decision_record_of(self.ask, DecisionResult(decision, "human"))


def _alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two lists of `KEY=VALUE` changes mean the same."""
    return one == other or overridden({}, one) == overridden({}, other)


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Lock the folder against other processes that make a branch in it."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        lock_descriptor(handle, poll_interval=0.01)
        yield
    finally:
        os.close(handle)


_MAY_CHANGE = ("players", "staff", "prices", "providers")


def changed_scenario(scenario: Scenario, game: Game, changes: Sequence[str]) -> Scenario:
    """Return the scenario with the `KEY=VALUE` changes put into what a journal keeps of it.

    Raises `UsageError` for keys that a fork cannot change, `ScenarioError` for values that are not valid.
    """
    for change in changes:
        first = change.partition("=")[0].strip().partition(".")[0]
        if first not in _MAY_CHANGE:
            raise UsageError(f"--set {first}: cannot be changed by a fork (valid: {', '.join(_MAY_CHANGE)})")
    if not changes:
        return scenario
    screen(overridden({}, changes))  # changed values are stored as they were typed, so they are screened first
    identity = overridden(scenario.game_settings(), changes)
    with errors_by_typed_id(identity, changes):
        changed = Scenario.restore(identity, dict(scenario.run_settings()), seed=scenario.seed)
    if [plan.id for plan in changed.players] != [plan.id for plan in scenario.players]:
        raise UsageError("--set players: who plays cannot change in the middle of a game")
    before = {plan.id: plan for plan in scenario.seats}
    players = tuple(_checked(plan, before[plan.id], changed, game) for plan in changed.players)
    check_terminal(players)
    return replace(
        changed,
        players=players,
        staff={role: _checked(plan, before.get(plan.id), changed, game) for role, plan in changed.staff.items()},
    )


def _checked(plan: PlayerPlan, before: PlayerPlan | None, scenario: Scenario, game: Game) -> PlayerPlan:
    """Return the plan with the files of its models. Raises `ScenarioError` if its new models cannot play here."""
    if before is not None and plan.models == before.models:
        return plan
    at = f"the model of {plan.id}"
    try:
        name, *_ = names = plan.names
    except ValueError as error:
        raise ScenarioError(str(error), key=at) from None
    if name.kind == "bot" and name.rest not in bots_of(game):
        raise no_such_bot(game.name, name.rest, bots_of(game), key=at)
    if name.kind not in {"bot", "human", "web"} and (plan.timeout_s is None or plan.max_attempts is None):
        raise ScenarioError(
            "a person has no time limit and a model needs one: set timeout_s and max_attempts as well", key=at
        )
    allowed = roots(scenario.path, scenario.allow_dirs)
    files = [None if each.file is None else located(each.file, scenario.path, allowed, key=at) for each in names]
    return plan.with_files(files)


@dataclass(frozen=True)
class BranchJob:
    """A branch to play; `files` is set if its journal exists."""

    point: ForkPoint
    change: Change = NO_CHANGE
    number: int | None = None
    of_several: bool = False
    arm: str | None = None
    paired: bool = False
    files: RunFiles | None = None

    @property
    def running(self) -> bool:
        """Whether another process is playing the branch."""
        return self.files is not None and is_running(self.files.journal)

    def run(self, options: RunOptions, *, name: str | None = None, limits: LimitOverrides | None = None) -> Run:
        """Return the branch's run: a new one, or the existing one. Raises like `ForkPoint.branch`."""
        if self.files is not None:
            return Run.open(self.files, options, limits)
        return self.point.branch(
            options,
            self.change,
            number=self.number,
            of_several=self.of_several,
            arm=self.arm,
            paired=self.paired,
            name=name,
            limits=limits,
        )


def jobs_of_arm(point: ForkPoint, arm: str, count: int, change: Change = NO_CHANGE) -> list[BranchJob]:
    """Return branches 1 to `count` of the arm, each before the control of the same number, which shares its luck.

    Existing branches are in the list with their files, so that the same command resumes them. An arm without a change
    is decided again too. Raises `UsageError` if a branch of the arm exists with another change, or if the control is
    given one.
    """
    if arm == CONTROL and change != NO_CHANGE:
        raise UsageError(f"--arm {CONTROL}: changes nothing, so --set and --instead are for other arms")
    return jobs_of_arms(point, {arm: change, CONTROL: NO_CHANGE}, count)


def jobs_of_arms(point: ForkPoint, arms: Mapping[str, Change], count: int) -> list[BranchJob]:
    """Return branches 1 to `count` of each arm, by number. Raises like `jobs_of_arm`."""
    for name in arms:
        check_name(name)
    # before anything is paid for: if one arm is impossible, no arm is played
    there = {name: point.existing_branches(point.branch_record(change, name)) for name, change in arms.items()}
    return [
        BranchJob(point, change, number, arm=name, files=there[name].get(number))
        for number in range(1, count + 1)
        for name, change in arms.items()
    ]


def jobs_of_several(
    point: ForkPoint, count: int, change: Change = NO_CHANGE, *, paired: bool = False
) -> list[BranchJob]:
    """Return `count` branches outside any arm: first the stopped ones with this change, then new ones."""
    there = point.existing_branches(point.branch_record(change))
    stopped = [files for _, files in sorted(there.items()) if not is_over(files) and not is_running(files.journal)]
    new = BranchJob(point, change, paired=paired, of_several=True)
    begun = [replace(new, files=files) for files in stopped[:count]]
    return [*begun, *[new] * (count - len(begun))]


def jobs_to_play(jobs: Sequence[BranchJob], noted: Callable[[str], object]) -> Iterator[BranchJob]:
    """Yield the branches that no other process plays; report the others with `noted`."""
    for job in jobs:
        if job.running and job.files is not None:
            noted(f"{job.files.name} is being played by another process")
        else:
            yield job


CALLERS = 8
"""The number of branches with models that are played at once by default; each waits for its own replies."""


def concurrent_branches(kinds: Collection[str], asked: int | None = None) -> int:
    """Return the number of branches to play at once, if their players are of these kinds of models.

    By default it is 1 for bots, who do not wait, for embedded models, each with a server of its own, and for a person
    at the terminal. Raises `UsageError` if fewer than 1 are `asked` for, or more than 1 with a person.
    """
    if asked is not None:
        if asked < 1 or (asked > 1 and "human" in kinds):
            why = "a person at this terminal plays one branch at a time" if asked > 1 else "nothing would be played"
            raise UsageError(f"--jobs {asked}: {why} (valid: 1)")
        return asked
    return CALLERS if set(kinds) - {"bot"} and not {"local", "human"} & set(kinds) else 1


def kinds_of_models(jobs: Sequence[BranchJob]) -> set[str]:
    """Return the kinds of models that play in the branches: `bot`, `human`, `local`, ... Raises as `changed_scenario`.

    A change may replace a model.
    """
    changed = {job.change.settings: job.point for job in jobs}
    scenarios = [changed_scenario(point.scenario, point.game, settings) for settings, point in changed.items()]
    return {name.kind for scenario in scenarios for plan in scenario.seats for name in plan.names}


async def play_concurrently(
    jobs: Sequence[BranchJob],
    opened: Callable[[BranchJob], Run],
    ended: Callable[[RunResult], object],
    *,
    concurrency: int,
    noted: Callable[[str], object],
) -> None:
    """Play the branches, up to `concurrency` at a time, and pass each result to `ended`.

    `opened` makes the run of a branch when its turn comes. An error of either ends all branches in order, as a
    cancellation does. `noted` gets a line about branches that another process plays.
    """
    turns = jobs_to_play(jobs, noted)

    async def play_in_turn() -> None:
        for job in turns:
            run = opened(job)
            calls = run.seats.most_calls(run.scenario.limits.concurrency) if not run.is_over else 0
            if (line := reserve_descriptors(calls * concurrency, concurrency)) is not None:
                noted(line)
            task = asyncio.create_task(run.play())
            try:
                await asyncio.wait({task})
            finally:
                task.cancel()  # has no effect on a finished run
                await asyncio.wait({task})
                ended(task.result())

    workers = [asyncio.create_task(play_in_turn()) for _ in range(min(concurrency, len(jobs)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for each in workers:
            each.cancel()
        if workers:
            await asyncio.wait(workers)
