"""loop: a batch's games as tasks of one event loop, for those with models: they wait, and share what hosts allow.

Rate limiters belong to the loop and budgets are shared, so spacing, slots, Retry-After and limits hold for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentsim.history.files import RunFiles
from agentsim.history.totals import Totals
from agentsim.models.own import OwnModel
from agentsim.runner.batch.earlier import finished
from agentsim.runner.batch.one import GameEnd, ended, session
from agentsim.runner.budget import Budget
from agentsim.runner.watch import Watcher
from agentsim.scenario.scenario import Scenario

__all__ = ["InLoop"]


@dataclass
class InLoop:
    """Plays games in the running loop; `used` is told of what each has used so far."""

    env: Mapping[str, str]
    within: Budget
    used: Callable[[str, Totals], None]
    own: Mapping[str, OwnModel]

    async def open(self) -> int | None:
        """There is nothing to make ready."""
        return None

    async def play(self, scenario: Scenario, files: RunFiles) -> GameEnd:
        """Play one game to its end, or to what stops it; cancelled, it ends in order."""
        watcher = _Counting(files.name, self.used)
        begun = session(scenario, files, env=self.env, watcher=watcher, within=self.within, own=self.own)
        return finished(files) if begun is None else ended(await begun.play())

    async def aclose(self) -> None:
        """There is nothing to give back: each session closes its own."""


class _Counting(Watcher):
    def __init__(self, name: str, used: Callable[[str, Totals], None]) -> None:
        self._name, self._used = name, used

    def counted(self, totals: Totals) -> None:
        self._used(self._name, totals)
