"""Wanted: the branches of a fork that a command asks for, each of which is made, resumed or there already.

What the arms show is `analysis.arms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from agentsim.errors import UsageError
from agentsim.history.record import CONTROL
from agentsim.history.run_files import RunFiles, check_name, is_running
from agentsim.models.own import OwnModel
from agentsim.runner.fork import ParentRun
from agentsim.runner.plays import RunResult
from agentsim.runner.replay import over
from agentsim.runner.session import Session, resumed
from agentsim.runner.watch import Watcher


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
