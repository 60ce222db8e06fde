"""Records of branches: those of a folder by fork and arm, with what is measured in each. Effects are `arms`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

from agentsim import games
from agentsim.analysis.game_records import game_record
from agentsim.engine.event import NAMED
from agentsim.errors import ScenarioError, UsageError
from agentsim.history.branches import branches_in
from agentsim.history.load import derived, load_history, told_events
from agentsim.history.pairs import pairs
from agentsim.history.record import CONTROL, FINISHED, ForkRecord, History
from agentsim.history.run_files import MANIFEST

Column: TypeAlias = tuple[str, str]
"""A measure and a player."""


@dataclass(frozen=True, slots=True)
class BranchRecord:
    """One finished branch, with what is measured in it by (measure, player): rank, win and scores; and deeds."""

    history: History
    changed: str
    results: Mapping[Column, float]
    deeds: Mapping[Column, float]

    def row(self, results: Iterable[Column], deeds: Iterable[Column]) -> list[float]:
        """The values of these columns: a score that is not there is unknown, a deed was not done."""
        return [*(self.results.get(each, math.nan) for each in results), *(self.deeds.get(each, 0.0) for each in deeds)]


Arm: TypeAlias = dict[tuple[int, str], BranchRecord]
"""Branches by number and chance."""


@dataclass(frozen=True, slots=True)
class Folder:
    """By the run that was forked and the decision: the arms by name, and why branches are left out, by name."""

    arms: dict[tuple[str, int], dict[str, Arm]] = field(default_factory=dict)
    left_out: dict[tuple[str, int], dict[str, str]] = field(default_factory=dict)


def read_arms(directory: Path, of: str | None = None) -> Folder:
    """The numbered branches in the folder, or those of the run `of`."""
    folder, read = Folder(), dict(_histories(directory, of))
    # named arms first: of two branches with one number and one chance, the one without a name is left out
    for name, (history, fork) in sorted(read.items(), key=lambda each: (each[1][1].arm is None, each[0])):
        place, key = (fork.of, fork.at), (fork.branch or 0, f"{history.seed} {fork.salts}")
        left_out = folder.left_out.setdefault(place, {})
        if history.status not in FINISHED or history.outcome is None:
            left_out[name] = f"is not finished ({history.status})"
            continue
        called, changed = _called(fork)
        arm = folder.arms.setdefault(place, {}).setdefault(called, {})
        if key in arm:
            left_out[name] = "has the number and the chance of another branch of its arm"
        else:
            arm[key] = BranchRecord(history, changed, results_of(name, history), deeds(history))
    for files, branch in branches_in(directory):
        if files.name not in read and branch.number is not None and of in {None, branch.of}:
            folder.left_out.setdefault((branch.of, branch.at), {})[files.name] = "has no history"
    return folder


def _histories(directory: Path, of: str | None) -> Iterator[tuple[str, tuple[History, ForkRecord]]]:
    """The numbered branches' histories by name; what cannot be read is no branch."""
    for path in sorted(directory.glob("*.json")):
        if path.name == MANIFEST or not path.is_file() or b'"fork"' not in path.read_bytes():
            continue
        try:
            history = load_history(path)
        except UsageError:
            continue
        fork = history.fork
        if fork is not None and fork.branch is not None and of in {None, fork.of}:
            yield path.stem, (history, fork)


def _called(fork: ForkRecord) -> tuple[str, str]:
    """The arm's name, and what it changes; without a name it is called by what it changes."""
    instead = [] if fork.instead is None else [", ".join(f"{key}={value}" for key, value in fork.instead.items())]
    changed = ", ".join((*fork.changed, *instead))
    return fork.arm or changed or CONTROL, changed


def results_of(name: str, history: History) -> dict[Column, float]:
    """What the outcome of a finished game gives: by measure, then by player in the order of the table."""
    record = game_record(name, history)
    assert record is not None, "it is finished"
    assert history.outcome is not None, "it is finished"
    ranks = {entrant.player: entrant.rank for entrant in record.entrants}
    firsts = [player for player, rank in ranks.items() if rank == min(ranks.values())]
    found = {("rank", player): rank for player, rank in ranks.items()}
    found |= {("win", player): 1 / len(firsts) if player in firsts else 0.0 for player in ranks}
    scores = {standing.player: standing.score for standing in history.outcome.standings}
    for measure in dict.fromkeys(measure for score in scores.values() for measure in score):
        found |= {
            (measure, player): float(scores[player][measure]) for player in ranks if measure in scores.get(player, {})
        }
    return found


def deeds(history: History) -> dict[Column, float]:
    """How often each deed that events declare was done by a player, and how often to it."""
    try:
        log = told_events(history, games.find(history.game))
        dealt = derived(partial(pairs, names=history.names), log, history)
    except (UsageError, ScenarioError):
        return {}  # the game is not installed, or its events are of other rules
    counts: Counter[Column] = Counter()
    for pair in dealt:
        for deed in pair.deeds:
            if deed.deed != NAMED:
                counts[f"{deed.deed} (done)", pair.who] += deed.times
                counts[f"{deed.deed} (received)", pair.whom] += deed.times
    return {column: float(count) for column, count in counts.items()}
