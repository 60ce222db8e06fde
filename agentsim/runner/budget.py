"""Budget: what a run may still spend, asked before each call. What a call costs is known to `models.prices`."""

from __future__ import annotations

import asyncio

from agentsim.errors import BudgetReached

__all__ = ["Budget"]

_DUST_USD = 1e-9  # what adding binary fractions may leave above a limit that is exactly reached


class Budget:
    """Calls and US dollars spent, and reserved by the calls in flight."""

    def __init__(self, max_calls: int | None = None, max_cost_usd: float | None = None) -> None:
        self.max_calls, self.max_cost_usd = max_calls, max_cost_usd
        self.calls = 0
        self.cost_usd = 0.0
        self._reserved = 0.0
        self._settled = asyncio.Event()

    async def admit(self, worst_case_usd: float) -> None:
        """Reserve one call of at most this cost; raises `BudgetReached` where a limit would be passed.

        What calls in flight have reserved is not spent: where only that stands in the way, it is waited for, so
        that how many calls run at once does not decide whether the budget is reached.
        """
        if self.max_calls is not None and self.calls + 1 > self.max_calls:
            raise BudgetReached(f"limits.max_calls = {self.max_calls} is reached")
        while self.max_cost_usd is not None and self._foreseen(worst_case_usd) > self.max_cost_usd + _DUST_USD:
            foreseen = self.cost_usd + worst_case_usd
            if foreseen > self.max_cost_usd + _DUST_USD:
                raise BudgetReached(
                    f"limits.max_cost_usd = {self.max_cost_usd:g} is reached: {self.cost_usd:.4f} spent, "
                    f"and the next call could take it to {foreseen:.4f}"
                )
            self._settled.clear()
            await self._settled.wait()
        self.calls += 1
        self._reserved += worst_case_usd

    def _foreseen(self, worst_case_usd: float) -> float:
        return self.cost_usd + self._reserved + worst_case_usd

    def settle(self, worst_case_usd: float, cost_usd: float | None) -> None:
        """A call is over: its reservation becomes what it really cost (None: unknown, or it failed)."""
        self._reserved = max(0.0, self._reserved - worst_case_usd)
        self.cost_usd += cost_usd or 0.0
        self._settled.set()

    def spent(self, calls: int, cost_usd: float) -> None:
        """What an earlier process spent on the same run."""
        self.calls += calls
        self.cost_usd += cost_usd
