"""Fork: a run's journal up to a decision becomes the beginning of new runs, which are made, resumed or there already.

What the arms of a fork show is `analysis.arms`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from filelock import lock_descriptor

from agentsim.engine.decision import Decision
from agentsim.engine.game import Game
from agentsim.engine.play import Ask
from agentsim.errors import DecisionError, JournalMismatch, UsageError
from agentsim.history.journal import Contents, DecisionRecord, Journal, read_journal
from agentsim.history.load import branches_in
from agentsim.history.record import CONTROL, Branch
from agentsim.history.run_files import RunFiles, check_name, is_running
from agentsim.models.own import OwnModel
from agentsim.runner.drive import not_whole, played_again
from agentsim.runner.plays import RunResult, changed_scenario, head_of, new_play, restored_scenario
from agentsim.runner.referee import Ruling, decision_record_of
from agentsim.runner.replay import over
from agentsim.runner.seats import seated
from agentsim.runner.session import Session, resumed
from agentsim.runner.watcher import Watcher
from agentsim.scenario.document import overridden
from agentsim.scenario.scenario import Scenario, with_limits


@dataclass(frozen=True)
class ParentRun:
    """A run cut before one decision: `ask` is what is to be decided anew."""

    files: RunFiles
    contents: Contents
    scenario: Scenario
    game: Game
    kept: tuple[DecisionRecord, ...]
    ask: Ask

    def branch(
        self,
        *,
        env: Mapping[str, str],
        instead: str | Decision | None = None,
        changes: Sequence[str] = (),
        number: int | None = None,
        of_several: bool = False,
        arm: str | None = None,
        paired: bool = False,
        stem: str | None = None,
        limits: Mapping[str, float | None] = MappingProxyType({}),
        watcher: Watcher | None = None,
        own: Mapping[str, OwnModel] | None = None,
        served: bool = False,
    ) -> Session:
        """The session of a new run with this past; its journal is there, and `agentsim resume` would go on with it.

        With `instead`, JSON as a model would reply or a decision, that is decided. A `number` tells it from other
        branches and gives chance another way after the decision, unless `paired`; one `of_several` takes the first that
        no branch beside the parent has which does the same, and bears it in its name. Branches of an `arm` bear its
        name as well, and each number is there once. `limits`, as `with_limits` takes them, hold for what the branch
        itself calls; people at pages need one that is `served`.
        Raises `UsageError` for a decision that is not allowed, `ScenarioError` for changes that cannot be.
        """
        if stem is not None:
            check_name(stem)
        entry = None if instead is None else self._decided(instead)
        default = f"{self.files.name}_at{self.ask.index}"
        given = stem is not None
        with _alone(self.files.directory):  # or another process would take the same number
            made = self.marked(entry=entry, changes=changes, arm=arm)
            if arm is not None:
                if number in self.alike(made):
                    raise UsageError(f"branch {number} of the arm {arm} already exists, or another process makes it")
                stem = f"{stem or default}_{arm}_b{number}"
            elif number is None and of_several:
                # one more than the highest, so that a repeated command makes new branches and no copies
                number = max(self.alike(made), default=0) + 1
                stem = f"{stem or default}_b{number}"
            salted = [] if self.scenario.branch is None else self.scenario.branch.salts
            salts = [(wave, word) for wave, word in salted if wave < self.ask.wave]
            if number is not None and not paired:
                salts.append((self.ask.wave, str(number)))
            scenario = with_limits(changed_scenario(self.scenario, self.game, changes), env, **limits)
            scenario = replace(scenario, branch=made.model_copy(update={"branch": number, "salts": salts}))
            known = self.contents.terms(self.scenario.first_models)
            seats = seated(scenario, self.game, env, known=known, own=own, served=served)
            files, handle = RunFiles.reserve(self.files.directory, stem or default, numbered=not given)
            os.close(handle)
            draft = files.journal.with_name(f".{files.journal.name}.tmp")
            try:
                head = head_of(scenario, self.game, files.name, datetime.now(UTC))
                self._write(draft, head, entry)
                draft.replace(files.journal)
            except BaseException:
                for path in (draft, files.journal):
                    path.unlink(missing_ok=True)
                raise
        return Session(scenario, self.game, seats, files, Journal.reopen(files.journal), watcher or Watcher())

    def _write(self, draft: Path, head: Mapping[str, Any], entry: DecisionRecord | None) -> None:
        """Write the journal beside its place: a run with half a past would pay again for the other half."""
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        journal = Journal.create(draft, handle, head)
        with journal.beginning():
            for model, terms in self.contents.negotiated.items():
                journal.negotiated(model, terms)
            for wave, does in sorted(self.contents.steered.items()):
                for each in does if wave <= self.ask.wave else ():
                    journal.steered(wave, each)
            for kept in (*self.kept, *((entry,) if entry is not None else ())):
                journal.decided(kept, sync=True)
            journal.sync()
        journal.close()

    def marked(
        self,
        *,
        instead: str | Decision | None = None,
        changes: Sequence[str] = (),
        arm: str | None = None,
        entry: DecisionRecord | None = None,
    ) -> Branch:
        """What a branch with these changes says of itself, but for its number; `entry` is `instead` as it was read."""
        if entry is None and instead is not None:
            entry = self._decided(instead)
        return Branch(
            of=self.files.name,
            at=self.ask.index,
            instead=None if entry is None else entry.decision,
            changed=list(changes),
            wave=self.ask.wave,
            beside=[kept.index for kept in self.kept if kept.wave == self.ask.wave],
            arm=arm,
        )

    def alike(self, branch: Branch) -> dict[int, RunFiles]:
        """By number, the branches beside the parent that make the same change, and those of the arm of that name.

        Raises `UsageError` where the arm makes another change there.
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

    def _decided(self, given: str | Decision) -> DecisionRecord:
        request = self.ask.request
        try:
            decision = request.parse(given).decision if isinstance(given, str) else given
            request.check(decision)
        except DecisionError as error:
            raise UsageError(f"--instead: {error}") from None
        return decision_record_of(self.ask, Ruling(decision, "human"))


def _alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether changes, as `KEY=VALUE`, are the same ones, however they are written."""
    return one == other or overridden({}, one) == overridden({}, other)


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Locks the folder against other processes that make a branch in it."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        lock_descriptor(handle, poll_interval=0.01)
        yield
    finally:
        os.close(handle)


def parent_of(files: RunFiles, at: int) -> ParentRun:
    """The run cut before its decision number `at`; its past is played again, and must be what the rules ask.

    Raises `UsageError` where there is no such decision, `JournalError` for a journal that cannot be used.
    """
    contents = read_journal(files.journal)
    scenario, game = restored_scenario(contents)
    cut = next((entry for entry in contents.decisions.values() if entry.index == at), None)
    if cut is None:
        numbers = sorted(entry.index for entry in contents.decisions.values())
        valid = f"{numbers[0]} to {numbers[-1]}" if numbers else "none: it has no decision yet"
        raise UsageError(f"{files.name}: has no decision {at} (valid: {valid})")
    play = new_play(scenario, game, contents)
    kept: list[DecisionRecord] = []
    for wave, entries, whole in played_again(play, contents):
        kept += [entry for entry in entries if entry is not cut]
        if wave.number == cut.wave:
            play.close()
            return ParentRun(files, contents, scenario, game, tuple(kept), wave.asks[cut.place])
        if not whole:
            raise not_whole(wave)
    raise JournalMismatch(f"the game ends before wave {cut.wave}, which is recorded")


@dataclass(frozen=True)
class Wanted:
    """One branch that is asked for; `files` where its journal is there already."""

    parent: ParentRun
    options: Mapping[str, Any]
    files: RunFiles | None = None

    @property
    def running(self) -> bool:
        """Whether another process plays it now."""
        return self.files is not None and is_running(self.files.journal)

    def come_by(
        self,
        *,
        env: Mapping[str, str],
        stem: str | None = None,
        limits: Mapping[str, float | None] = MappingProxyType({}),
        watcher: Watcher | None = None,
        own: Mapping[str, OwnModel] | None = None,
    ) -> Session | RunResult | None:
        """A session that plays it from the fork, or on from where its journal ends; None where it is finished.

        A result is that of a finished branch whose history was lost and is made again.
        """
        if self.files is None:
            return self.parent.branch(env=env, stem=stem, limits=limits, watcher=watcher, own=own, **self.options)
        return resumed(self.files, env=env, watcher=watcher, own=own, **limits)

    def played(self, **options: Any) -> RunResult | None:
        """Come by it and play it; None where it is finished."""
        found = self.come_by(**options)
        return found.run() if isinstance(found, Session) else found


def of_arm(
    parent: ParentRun, arm: str, count: int, *, instead: str | None = None, changes: Sequence[str] = ()
) -> list[Wanted]:
    """Branches 1 to `count` of the arm, each before that of the same number of the control, which shares its luck.

    Those that are there are in the list with their files, so that the same command again goes on where one ended.
    An arm that changes nothing either is drawn anew as well. Raises `UsageError` where the arm is there and changes
    something else, or the control would change anything.
    """
    if arm == CONTROL and (instead is not None or changes):
        raise UsageError(f"--arm {CONTROL}: changes nothing, so --set and --instead are for other arms")
    return of_arms(parent, {arm: {"instead": instead, "changes": tuple(changes)}, CONTROL: {}}, count)


def of_arms(parent: ParentRun, arms: Mapping[str, Mapping[str, Any]], count: int) -> list[Wanted]:
    """Branches 1 to `count` of each arm, by number: what each arm changes, as `ParentRun.marked` takes it, by its name.

    Raises `UsageError` as `of_arm`.
    """
    for name in arms:
        check_name(name)
    # before anything is paid for: where an arm cannot be, none is played
    there = {name: parent.alike(parent.marked(arm=name, **options)) for name, options in arms.items()}
    return [
        Wanted(parent, {**options, "arm": name, "number": number}, there[name].get(number))
        for number in range(1, count + 1)
        for name, options in arms.items()
    ]


def of_several(
    parent: ParentRun, count: int, *, paired: bool = False, instead: str | None = None, changes: Sequence[str] = ()
) -> list[Wanted]:
    """`count` branches without a name for what they change: first those that were stopped, then new ones."""
    there = parent.alike(parent.marked(instead=instead, changes=changes))
    stopped = [files for _, files in sorted(there.items()) if not over(files) and not is_running(files.journal)]
    options = {"instead": instead, "changes": tuple(changes), "paired": paired, "of_several": True}
    begun = [Wanted(parent, options, files) for files in stopped[:count]]
    return [*begun, *(Wanted(parent, options) for _ in range(count - len(begun)))]


def to_play(wanted: Sequence[Wanted], noted: Callable[[str], object]) -> Iterator[Wanted]:
    """Those that no other process plays; the others are noted."""
    for each in wanted:
        if each.running and each.files is not None:
            noted(f"{each.files.name} is being played by another process")
        else:
            yield each
