"""Plays: a scenario's game as far as it was played, and what a journal's head and a history say of the run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

from agentsim.engine.codec import values
from agentsim.engine.event import LoggedEvent
from agentsim.engine.game import Game, bots_of
from agentsim.engine.play import GamePlay
from agentsim.engine.reading import READER_VERSION
from agentsim.errors import AgentsimError, JournalMismatch, ScenarioError, UsageError
from agentsim.games import find
from agentsim.history.fold import dump_history, fold
from agentsim.history.journal import Contents, DecisionRecord
from agentsim.history.record import Branch, History, Totals
from agentsim.history.run_files import RunFiles
from agentsim.history.shares import shares
from agentsim.history.versions import package_versions
from agentsim.models.base import AS_ASKED, Attempt
from agentsim.scenario.document import by_typed_ids, overridden
from agentsim.scenario.player_plan import PlayerPlan, check_terminal
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.source_files import located, roots
from agentsim.scenario.validation import no_such_bot, screen


def restored_scenario(recorded: Contents) -> tuple[Scenario, Game]:
    """The scenario and game of a journal; `JournalMismatch` where its first line describes no run."""
    head = recorded.head
    try:
        scenario = Scenario.restore(head["scenario"], head["run"], seed=int(head["seed"]))
        if "fork" in head:
            scenario = replace(scenario, branch=Branch.restore(head["fork"]))
    except (KeyError, TypeError, ValueError) as error:
        raise JournalMismatch(f"the journal's first line does not describe a run: {error}") from None
    return filled(scenario, recorded.filled), find(scenario.game)


def filled(scenario: Scenario, bots: Mapping[str, str]) -> Scenario:
    """The scenario with these bots in seats of people who did not come."""
    players = tuple(plan.filled(bots[plan.id]) if plan.id in bots else plan for plan in scenario.players)
    return replace(scenario, players=players) if bots else scenario


def new_play(scenario: Scenario, game: Game, recorded: Contents | None = None) -> GamePlay:
    """The game of a scenario, about to start; it is steered as it is `recorded`, where it was played before."""
    assert scenario.seed is not None, "a run has its seed before it plays"
    players = [plan.id for plan in scenario.players]
    names = {plan.id: plan.called for plan in scenario.players if plan.called is not None}
    salts = {} if scenario.branch is None else dict(scenario.branch.salts)
    return GamePlay(
        game,
        scenario.config,
        players,
        scenario.seed,
        staff=scenario.staff,
        names=names,
        salts=salts,
        interviews=scenario.interviews,
        steering=None if recorded is None else recorded.steered,
    )


_MAY_CHANGE = ("players", "staff", "prices", "providers")


def changed_scenario(scenario: Scenario, game: Game, changes: Sequence[str]) -> Scenario:
    """The scenario with `KEY=VALUE` put into what a journal keeps of it."""
    for change in changes:
        first = change.partition("=")[0].strip().partition(".")[0]
        if first not in _MAY_CHANGE:
            raise UsageError(f"--set {first}: cannot be changed by a fork (valid: {', '.join(_MAY_CHANGE)})")
    if not changes:
        return scenario
    screen(overridden({}, changes))  # what is changed is kept as it was typed
    identity = overridden(scenario.identity(), changes)
    with by_typed_ids(identity, changes):
        changed = Scenario.restore(identity, dict(scenario.run_part()), seed=scenario.seed)
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
    """The plan, its model's file found; `ScenarioError` where its new model cannot play here."""
    if before is not None and [each.model for each in plan.models] == [each.model for each in before.models]:
        return plan
    at = f"the model of {plan.id}"
    try:
        name = plan.name
    except ValueError as error:
        raise ScenarioError(str(error), key=at) from None
    if name.kind == "bot" and name.rest not in bots_of(game):
        raise no_such_bot(game.name, name.rest, bots_of(game), key=at)
    if name.kind not in {"bot", "human", "web"} and (
        plan.settings.timeout_s is None or plan.settings.max_attempts is None
    ):
        raise ScenarioError(
            "a person has no time limit and a model needs one: set timeout_s and max_attempts as well", key=at
        )
    if name.file is None:
        return replace(plan, path=None)
    return replace(plan, path=located(name.file, scenario.path, roots(scenario.path, scenario.allow_dirs), key=at))


@dataclass(frozen=True)
class RunResult:
    """How a session ended: its files, its history, and the error that ended it, if one did.

    `replayed` says that its replies came from files, `rebuilt` that the game was over and only its history is new;
    `remark` is a line on either for the user.
    """

    files: RunFiles
    record: History
    error: AgentsimError | None = None
    replayed: bool = False
    remark: str | None = None
    rebuilt: bool = False

    @property
    def status(self) -> str:
        """The history's status."""
        return self.record.status

    @property
    def history(self) -> dict[str, Any]:
        """The history as in the file."""
        found: dict[str, Any] = json.loads(dump_history(self.record))
        return found


@dataclass(frozen=True)
class Played:
    """A scenario's game with the decisions that were made in it so far."""

    scenario: Scenario
    game: Game
    play: GamePlay
    decisions: list[DecisionRecord] = field(default_factory=list)

    @property
    def finished(self) -> str | None:
        """What the game's end is called: degraded where the run's share of fallbacks, or a player's, is above the
        limit; None where it came to none.
        """
        if self.play.outcome is None:
            return None
        limit = self.scenario.limits.max_fallback_rate
        own = [each for each in self.decisions if each.survey is None]
        found = shares((entry.index, entry.player, entry.source) for entry in own)
        return "degraded" if limit is not None and found.worst > limit else "completed"

    def history(self, status: str, recorded: Contents, volatile: Mapping[str, Any]) -> History:
        """Its history, finished or not; attempts at requests that have no decision are those of the journal."""
        undecided = recorded.undecided()
        return self._folded(
            self.play.log,
            self.decisions,
            status=status,
            fork=None if self.scenario.branch is None else self._fork(self.scenario.branch, undecided),
            undecided=undecided,
            outcome=self.play.outcome,
            volatile=volatile,
        )

    def since(self, told: int, entries: Sequence[DecisionRecord]) -> History:
        """The history with nothing but the events after the first `told`, and these decisions."""
        log = self.play.log[told:]
        return self._folded(log, entries, first=told + 1, status="interrupted", outcome=None, volatile={})

    def _folded(self, log: Sequence[LoggedEvent], entries: Sequence[DecisionRecord], **more: Any) -> History:
        return fold(
            game=self.game.name,
            rules_version=self.game.rules_version,
            seed=cast("int", self.scenario.seed),
            scenario=self.scenario.identity(),
            players=[plan.listed for plan in self.scenario.seats],
            rounds=self.play.table.rounds,
            log=log,
            decisions=entries,
            asides=self.play.asides,
            **more,
        )

    def _fork(self, branch: Branch, undecided: Sequence[tuple[str, Attempt]]) -> Branch:
        """The branch's record with what its parent has paid of the whole game's usage, and what it has paid itself."""
        players = [plan.id for plan in self.scenario.seats]
        kept = [entry for entry in self.decisions if branch.inherits(entry.wave, entry.index)]
        own = [entry for entry in self.decisions if not branch.inherits(entry.wave, entry.index)]
        used = {"inherited": Totals.of(kept, players), "paid": Totals.of(own, players, undecided)}
        return branch.model_copy(update=used)


def head_of(scenario: Scenario, game: Game, name: str, now: datetime) -> dict[str, Any]:
    """The journal's first record of a scenario with a seed."""
    return {
        "game": game.name,
        "rules_version": game.rules_version,
        "reader": READER_VERSION,
        "seed": scenario.seed,
        "name": name,
        "started_at": stamp(now),
        "versions": package_versions(),
        "scenario": scenario.identity(),
        "run": scenario.run_part(),
        **({} if scenario.branch is None else {"fork": scenario.branch.model_dump(mode="json")}),
    }


def volatile_of(scenario: Scenario, recorded: Contents, name: str, now: str, wall_s: float) -> dict[str, Any]:
    """The history's `volatile`; `wall_s` are the seconds of all sessions."""
    run = scenario.run_part()
    void = recorded.void_calls()
    negotiated = {model: values(terms) for model, terms in sorted(recorded.negotiated.items()) if terms != AS_ASKED}
    return {
        "name": name,
        "started_at": recorded.head["started_at"],
        "finished_at": now,
        "wall_s": round(wall_s, 3),
        "versions": recorded.head["versions"],
        "run": {"concurrency": run["limits"]["concurrency"], **run},
        **({"replies": list(recorded.replies)} if recorded.replies else {}),
        # they were made, and the undisturbed run's `usage` has none of them
        **({"void_calls": void} if void else {}),
        **({"filled": dict(sorted(recorded.filled.items()))} if recorded.filled else {}),
        **({"negotiated": negotiated} if negotiated else {}),
    }


def stamp(moment: datetime) -> str:
    """A moment in UTC, as it is kept."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
