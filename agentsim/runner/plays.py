"""plays: a scenario's game about to start, and a played one as a history. Who plays it, and files, are `session`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from agentsim.engine.game import Game
from agentsim.engine.play import GamePlay
from agentsim.errors import AgentsimError, JournalMismatch
from agentsim.games import find
from agentsim.history.entry import Entry
from agentsim.history.files import RunFiles
from agentsim.history.fold import fold
from agentsim.history.shares import shares
from agentsim.history.totals import totals
from agentsim.models.base import Attempt
from agentsim.scenario.scenario import Branch, Scenario

__all__ = ["RunResult", "finished_status", "folded", "new_play", "restored_scenario"]


@dataclass(frozen=True)
class RunResult:
    """How a session ended: its files, its history, and the error that ended it, if one did.

    `replayed` says that its replies came from files, `mended` that the game was over and only its history is new;
    `remark` is what somebody should know of either.
    """

    files: RunFiles
    history: Mapping[str, Any]
    error: AgentsimError | None = None
    replayed: bool = False
    remark: str | None = None
    rebuilt: bool = False

    @property
    def status(self) -> str:
        """The history's status."""
        return str(self.history["status"])


def restored_scenario(head: Mapping[str, Any]) -> tuple[Scenario, Game]:
    """The scenario and game of a journal's head; `JournalMismatch` where the game's rules are others by now."""
    try:
        scenario = Scenario.restore(head["scenario"], head["run"], seed=int(head["seed"]))
        recorded = int(head["rules_version"])
        if "fork" in head:
            scenario = replace(scenario, branch=Branch.restore(head["fork"]))
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
    salts = {} if scenario.branch is None else dict(scenario.branch.salts)
    return GamePlay(game, scenario.config, players, scenario.seed, staff=scenario.staff, names=names, salts=salts)


def finished_status(scenario: Scenario, entries: Sequence[Entry]) -> str:
    """What a game that came to its end is called: degraded where the run's share of fallbacks, or a player's, is above
    the limit.
    """
    limit = scenario.limits.max_fallback_rate
    found = shares((entry.index, entry.player, entry.source) for entry in entries)
    share = found.worst
    if scenario.bots_count and entries:
        share = found.whole.fallbacks / len(entries)
    return "degraded" if limit is not None and share > limit else "completed"


def folded(
    scenario: Scenario,
    game: Game,
    play: GamePlay,
    *,
    entries: list[Entry],
    undecided: Sequence[tuple[str, Attempt]],
    status: str,
    volatile: Mapping[str, Any],
) -> dict[str, Any]:
    """The history of a play, finished or not; `undecided` are attempts at requests that it has no decision for."""
    return fold(
        game=game.name,
        rules_version=game.rules_version,
        seed=cast("int", scenario.seed),
        fork=None
        if scenario.branch is None
        else _fork(scenario.branch, [plan.id for plan in scenario.seats], entries, undecided),
        status=status,
        scenario=scenario.identity(),
        players=[plan.listed() for plan in scenario.seats],
        rounds=play.table.rounds,
        log=play.log,
        entries=entries,
        undecided=undecided,
        outcome=play.outcome,
        volatile=volatile,
    )


def _fork(
    branch: Branch, players: Sequence[str], entries: Sequence[Entry], undecided: Sequence[tuple[str, Attempt]]
) -> dict[str, Any]:
    """The branch's record with what its parent has paid of the whole game's usage, and what it has paid itself."""
    record = branch.record()
    if not branch.wave:
        return record
    kept = [entry for entry in entries if branch.inherits(entry.wave, entry.index)]
    own = [entry for entry in entries if not branch.inherits(entry.wave, entry.index)]
    return {**record, "inherited": totals(kept, players), "paid": totals(own, players, undecided)}
