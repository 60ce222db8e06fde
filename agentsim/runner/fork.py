"""Fork: a run's journal up to a decision becomes the beginning of a new run. No model is called.

`session` plays the new run on, as it resumes any run that stopped.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agentsim.engine.codec import values
from agentsim.engine.game import Game
from agentsim.engine.play import Ask
from agentsim.errors import DecisionError, JournalMismatch, ScenarioError, UsageError
from agentsim.history.contents import Contents, Entry, read_journal
from agentsim.history.files import RunFiles
from agentsim.history.journal import Journal
from agentsim.models.own import OwnModel
from agentsim.runner.journal_lookup import not_whole, recall, recalled, restored
from agentsim.runner.plays import head_of, new_play, restored_scenario
from agentsim.runner.seats import seated
from agentsim.scenario.document import overridden
from agentsim.scenario.plan import PlayerPlan
from agentsim.scenario.scenario import Branch, Scenario, with_limits
from agentsim.scenario.source_files import located, roots
from agentsim.scenario.validation import screen

__all__ = ["ParentRun", "parent_of"]

_MAY_CHANGE = ("players", "staff", "prices", "providers")


@dataclass(frozen=True)
class ParentRun:
    """A run cut before one decision: `ask` is what is to be decided anew."""

    files: RunFiles
    contents: Contents
    scenario: Scenario
    game: Game
    kept: tuple[Entry, ...]
    ask: Ask

    def branch(
        self,
        *,
        env: Mapping[str, str],
        instead: str | None = None,
        changes: Sequence[str] = (),
        number: int | None = None,
        of_several: bool = False,
        paired: bool = False,
        stem: str | None = None,
        limits: Mapping[str, float | None] = MappingProxyType({}),
        own: Mapping[str, OwnModel] | None = None,
    ) -> RunFiles:
        """The journal of a new run with this past: `agentsim resume` would go on with it.

        With `instead`, JSON as a model would reply, that is the decision. A `number` tells it from other branches and
        gives chance another way after the decision, unless `paired`; one `of_several` takes the first that no branch
        beside the parent has which does the same, and bears it in its name. `limits`, as `with_limits` takes them, hold
        for what the branch itself calls. Raises `UsageError` for a decision that is not
        allowed, `ScenarioError` for changes that cannot be.
        """
        entry = None if instead is None else self._decided(instead)
        with _alone(self.files.directory):  # or another process would take the same number
            if number is None and of_several:
                number = self._unused(self._arm(entry, changes))
                stem = f"{stem or self.files.name + f'_at{self.ask.index}'}_b{number}"
            salts = () if self.scenario.branch is None else self.scenario.branch.salts
            salts = tuple((wave, word) for wave, word in salts if wave < self.ask.wave)
            if number is not None and not paired:
                salts = (*salts, (self.ask.wave, str(number)))
            beside = tuple(kept.index for kept in self.kept if kept.wave == self.ask.wave)
            branch = replace(self._arm(entry, changes), number=number, salts=salts, wave=self.ask.wave, beside=beside)
            scenario = with_limits(_changed(self.scenario, self.game, changes), env, **limits)
            scenario = replace(scenario, branch=branch)
            seats = seated(scenario, self.game, env, chosen=self.contents.structured, own=own)
            asyncio.run(seats.aclose())
            files, handle = RunFiles.reserve(self.files.directory, stem or f"{self.files.name}_at{self.ask.index}")
            os.close(handle)
            draft = files.journal.with_name(f".{files.journal.name}.tmp")
            try:
                head = head_of(scenario, self.game, files.name, datetime.now(UTC))
                # its past was read by the parent's version of the reader
                self._write(draft, head | {"reader": self.contents.head.get("reader")}, entry)
                draft.replace(files.journal)
            except BaseException:
                for path in (draft, files.journal):
                    path.unlink(missing_ok=True)
                raise
        return files

    def _write(self, draft: Path, head: Mapping[str, Any], entry: Entry | None) -> None:
        """Write the journal beside its place: a run with half a past would pay again for the other half."""
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        journal = Journal.create(draft, handle, head)
        with journal.beginning():
            for model, mode in self.contents.structured.items():
                journal.chose(model, mode)
            for kept in (*self.kept, *((entry,) if entry is not None else ())):
                journal.decided(kept, sync=True)
            journal.sync()
        journal.close()

    def _arm(self, entry: Entry | None, changes: Sequence[str]) -> Branch:
        instead = None if entry is None else entry.decision
        return Branch(of=self.files.name, at=self.ask.index, instead=instead, changed=tuple(changes))

    def _unused(self, arm: Branch) -> int:
        """One more than the highest number there, so that a repeated command makes new branches and no copies."""
        numbers = [0]
        for path in self.files.directory.glob("*.jsonl"):
            with path.open("rb") as file:
                first = file.readline()
            if b'"fork"' not in first:
                continue  # most runs of a large folder are no branches
            try:
                branch = Branch.restore(json.loads(first)["fork"])
            except (KeyError, TypeError, ValueError, RecursionError):
                continue  # a table, or not readable
            if branch.number is not None and arm.same_arm(branch):
                numbers.append(branch.number)
        return max(numbers) + 1

    def _decided(self, text: str) -> Entry:
        request = self.ask.request
        try:
            decision = request.parse(text).decision
            request.check(decision)
        except DecisionError as error:
            raise UsageError(f"--instead: {error}") from None
        return Entry(
            index=self.ask.index,
            wave=self.ask.wave,
            place=self.ask.place,
            player=request.player,
            kind=request.kind,
            fingerprint=request.fingerprint(),
            decision=values(decision),
            source="human",
            fallback_reason=None,
            tries=(),
            parse=None,
        )


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Locks the folder against other processes that make a branch in it."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def parent_of(files: RunFiles, at: int) -> ParentRun:
    """The run cut before its decision number `at`; its past is played again, and must be what the rules ask.

    Raises `UsageError` where there is no such decision, `JournalError` for a journal that cannot be used.
    """
    contents = read_journal(files.journal)
    scenario, game = restored_scenario(contents.head)
    found = next((entry for entry in contents.entries.values() if entry.index == at), None)
    if found is None:
        numbers = sorted(entry.index for entry in contents.entries.values())
        valid = f"{numbers[0]} to {numbers[-1]}" if numbers else "none: it has no decision yet"
        raise UsageError(f"{files.name}: has no decision {at} (valid: {valid})")
    play = new_play(scenario, game)
    wave = play.start()
    kept: list[Entry] = []
    while wave is not None and wave.number < found.wave:
        entries, decisions = recalled(contents, wave)
        if decisions is None:
            raise not_whole(wave)
        kept += entries
        wave = play.answer(decisions)
    if wave is None:
        raise JournalMismatch(f"the game ends before wave {found.wave}, which is recorded")
    for ask in wave.asks:
        entry = recall(contents, ask)
        if entry is not None and entry is not found:
            restored(contents, ask, entry)
            kept.append(entry)
    asked = wave.asks[found.place]
    play.close()
    return ParentRun(files, contents, scenario, game, tuple(kept), asked)


def _changed(scenario: Scenario, game: Game, changes: Sequence[str]) -> Scenario:
    """The scenario with `KEY=VALUE` put into what a journal keeps of it."""
    for change in changes:
        first = change.partition("=")[0].strip().partition(".")[0]
        if first not in _MAY_CHANGE:
            raise UsageError(
                f"--set {first}: would change the past as well, or is no part of it (valid: {', '.join(_MAY_CHANGE)})"
            )
    if not changes:
        return scenario
    screen(overridden({}, changes))  # what is changed is kept as it was typed
    identity = overridden(scenario.identity(), changes)
    run: dict[str, Any] = scenario.run_part()
    changed = Scenario.restore(identity, run, seed=scenario.seed)
    if [plan.id for plan in changed.players] != [plan.id for plan in scenario.players]:
        raise UsageError("--set players: who plays cannot change in the middle of a game")
    before = {plan.id: plan for plan in scenario.seats}
    return replace(
        changed,
        players=tuple(_checked(plan, before[plan.id], changed, game) for plan in changed.players),
        staff={role: _checked(plan, before.get(plan.id), changed, game) for role, plan in changed.staff.items()},
    )


def _checked(plan: PlayerPlan, before: PlayerPlan | None, scenario: Scenario, game: Game) -> PlayerPlan:
    """The plan, its model's file found; `ScenarioError` where its new model cannot play here."""
    if before is not None and [each.model for each in plan.models] == [each.model for each in before.models]:
        return plan
    try:
        name = plan.name
    except ValueError as error:
        raise ScenarioError(str(error), key=f"the model of {plan.id}") from None
    at = f"the model of {plan.id}"
    if name.kind == "bot" and name.rest not in game.bots:
        raise ScenarioError(f"{game.name} has no {plan.model}", key=at, valid=", ".join(game.bots))
    if name.kind not in {"bot", "human"} and (plan.settings.timeout_s is None or plan.settings.max_attempts is None):
        raise ScenarioError("a person had all the time there is; set timeout_s and max_attempts as well", key=at)
    if name.file is None:
        return replace(plan, path=None)
    return replace(plan, path=located(name.file, scenario.path, roots(scenario.path, scenario.allow_dirs), key=at))
