"""Budget: what a run may still spend, in calls, US dollars and seconds. What a call costs is `models.prices`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from agentsim.errors import BudgetReached

_DUST_USD = 1e-9  # what adding binary fractions may leave above a limit that is exactly reached


class Budget:
    """Calls, US dollars and seconds spent; dollars are also reserved by the calls in flight.

    The seconds are wall clock, from when this is made. `within` is a budget that several games share: what is
    admitted here is admitted there as well.
    """

    def __init__(
        self,
        max_calls: int | None = None,
        max_cost_usd: float | None = None,
        max_wall_s: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        within: Budget | None = None,
    ) -> None:
        self.max_calls, self.max_cost_usd, self.max_wall_s = max_calls, max_cost_usd, max_wall_s
        self.calls, self.cost_usd = 0, 0.0
        self._within = within
        self._reserved = 0.0
        self._settled = asyncio.Event()
        self._clock, self._started = clock, clock()

    async def admit(self, worst_case_usd: float) -> None:
        """Reserve one call of at most this cost; raises `BudgetReached` where a limit would be passed.

        What calls in flight have reserved is not spent: where only that stands in the way, it is waited for, so
        that how many calls run at once does not decide whether the budget is reached.
        """
        self.check_time()
        if self.max_calls is not None and self.calls + 1 > self.max_calls:
            raise BudgetReached(f"limits.max_calls = {self.max_calls} is reached")
        while self._passes(self._reserved + worst_case_usd):
            if self._passes(worst_case_usd):
                raise BudgetReached(
                    f"limits.max_cost_usd = {self.max_cost_usd:g} is reached: {self.cost_usd:.4f} spent, "
                    f"and the next call could take it to {self.cost_usd + worst_case_usd:.4f}"
                )
            self._settled.clear()
            await self._settled.wait()
        self.calls += 1
        self._reserved += worst_case_usd
        if self._within is not None:
            try:
                await self._within.admit(worst_case_usd)
            except BaseException:
                self.calls -= 1
                self._release(worst_case_usd)
                raise

    def settle(self, worst_case_usd: float, cost_usd: float | None) -> None:
        """A call is over: its reservation becomes what it really cost (None: it failed)."""
        self.cost_usd += cost_usd or 0.0
        self._release(worst_case_usd)
        if self._within is not None:
            self._within.settle(worst_case_usd, cost_usd)

    def spent(self, calls: int, cost_usd: float, wall_s: float = 0.0) -> None:
        """What earlier processes spent on the same run; a shared budget is told of it by its own maker."""
        self.calls += calls
        self.cost_usd += cost_usd
        self._started -= wall_s

    def check_time(self) -> None:
        """Raise `BudgetReached` where the run has had its time; also asked when an admitted call's turn comes."""
        if self.left_s() == 0:
            raise self.out_of_time()

    def left_s(self) -> float | None:
        """Seconds until the run has had its time; None where it has all there is."""
        return None if self.max_wall_s is None else max(0.0, self.max_wall_s - self._played_s())

    def out_of_time(self) -> BudgetReached:
        """The error of a run that has had its time."""
        return BudgetReached(f"limits.max_wall_s = {self.max_wall_s:g} is reached: {self._played_s():.1f} s played")

    async def rest(self, seconds: float) -> None:
        """Wait so long; `BudgetReached` where the run's time is over before that."""
        left = self.left_s()
        await asyncio.sleep(seconds if left is None else min(seconds, left))
        if left is not None and seconds >= left:
            raise self.out_of_time()

    def _played_s(self) -> float:
        return self._clock() - self._started

    def _passes(self, usd: float) -> bool:
        return self.max_cost_usd is not None and self.cost_usd + usd > self.max_cost_usd + _DUST_USD

    def _release(self, usd: float) -> None:
        self._reserved = max(0.0, self._reserved - usd)
        self._settled.set()
