"""Shares: what each running game may use of a batch's limits, where whoever plays it cannot ask before each call."""

from __future__ import annotations

from agentsim.scenario.schema import Limits

__all__ = ["Shares"]


class Shares:
    """`lanes` are the games that may run at once; together their shares are never more than what is left."""

    def __init__(self, limits: Limits) -> None:
        self._limits = {"max_calls": limits.max_calls, "max_cost_usd": limits.max_cost_usd}
        self._given: dict[str, dict[str, float]] = {}
        self.lanes = 0

    @property
    def any(self) -> bool:
        """Whether there is anything to share."""
        return any(limit is not None for limit in self._limits.values())

    def given(self, name: str, calls: tuple[int, int], cost_usd: tuple[float, float]) -> dict[str, float]:
        """The limits of one game: what nobody has a share of is divided by the lanes without a game.

        `calls` and `cost_usd` are what was spent so far: by games that do not run, and by this one before, which
        counts it as its own.
        """
        share: dict[str, float] = {}
        for what, (others, before) in {"max_calls": calls, "max_cost_usd": cost_usd}.items():
            limit = self._limits[what]
            if limit is not None:
                free = limit - others - before - sum(each[what] for each in self._given.values())
                part = free / (self.lanes - len(self._given))
                share[what] = before + (int(part) if what == "max_calls" else part)
        self._given[name] = share
        return share

    def back(self, name: str) -> None:
        """A game is over: what it spent is known."""
        self._given.pop(name, None)
