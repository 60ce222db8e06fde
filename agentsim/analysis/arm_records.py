"""Records of branches: those of a folder by fork and arm, with what is measured in each. Effects are `arms`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from agentsim.analysis.folders import histories
from agentsim.analysis.game_records import game_record
from agentsim.analysis.measures import Measures
from agentsim.errors import UsageError
from agentsim.history.branches import branches_in
from agentsim.history.record import CONTROL, ForkRecord, History


@dataclass(frozen=True, slots=True)
class BranchRecord:
    """One finished branch, with what is measured in it."""

    history: History
    changed: str
    measures: Measures


Arm: TypeAlias = dict[tuple[int, str], BranchRecord]
"""Branches by number and chance."""


@dataclass(frozen=True, slots=True)
class Folder:
    """By the run that was forked and the decision: the arms by name, and why branches are left out, by name."""

    arms: dict[tuple[str, int], dict[str, Arm]] = field(default_factory=dict)
    left_out: dict[tuple[str, int], dict[str, str]] = field(default_factory=dict)


def read_arms(directory: Path, of: str | None = None) -> Folder:
    """The numbered branches in the folder, or those of the run `of`."""
    folder, read = Folder(), dict(_forked(directory, of))
    # named arms first: of two branches with one number and one chance, the one without a name is left out
    for name, (history, fork) in sorted(read.items(), key=lambda each: (each[1][1].arm is None, each[0])):
        place, key = (fork.of, fork.at), (fork.branch or 0, f"{history.seed} {fork.salts}")
        left_out = folder.left_out.setdefault(place, {})
        if (record := game_record(name, history)) is None:
            left_out[name] = f"is not finished ({history.status})"
            continue
        called, changed = _called(fork)
        arm = folder.arms.setdefault(place, {}).setdefault(called, {})
        if key in arm:
            left_out[name] = "has the number and the chance of another branch of its arm"
        else:
            arm[key] = BranchRecord(history, changed, Measures.of(record))
    for files, branch in branches_in(directory):
        if files.name not in read and branch.number is not None and of in {None, branch.of}:
            folder.left_out.setdefault((branch.of, branch.at), {})[files.name] = "has no history"
    return folder


def _forked(directory: Path, of: str | None) -> Iterator[tuple[str, tuple[History, ForkRecord]]]:
    """The numbered branches' histories by name; what cannot be read is no branch."""
    for name, history in histories(directory, b'"fork"'):
        fork = None if isinstance(history, UsageError) else history.fork
        if isinstance(history, History) and fork is not None and fork.branch is not None and of in {None, fork.of}:
            yield name, (history, fork)


def _called(fork: ForkRecord) -> tuple[str, str]:
    """The arm's name, and what it changes; without a name it is called by what it changes."""
    instead = [] if fork.instead is None else [", ".join(f"{key}={value}" for key, value in fork.instead.items())]
    changed = ", ".join((*fork.changed, *instead))
    return fork.arm or changed or CONTROL, changed
