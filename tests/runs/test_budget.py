"""The budget: it checks a limit before each call, and never exceeds it."""

from __future__ import annotations

import asyncio

import pytest

from agentsim.errors import BudgetReached
from agentsim.runs.limits import Budget


def admit(budget: Budget, worst_case_usd: float) -> None:
    asyncio.run(budget.admit(worst_case_usd))


@pytest.mark.parametrize("limit", [0, 3])
def test_as_many_calls_as_the_limit_and_no_more(limit: int) -> None:
    budget = Budget(max_calls=limit)
    for _ in range(limit):
        admit(budget, 1_000.0)
    with pytest.raises(BudgetReached, match=rf"limits\.max_calls = {limit} is reached"):
        admit(budget, 0.0)
    assert budget.calls == limit, "a call that was not admitted is none"


def test_a_call_that_could_pass_the_limit_is_not_made() -> None:
    budget = Budget(max_cost_usd=1.0)
    admit(budget, 0.7)
    budget.charge(0.7, 0.6)
    with pytest.raises(
        BudgetReached, match=r"max_cost_usd = 1 is reached: 0.6000 spent, and the next call reserves 0.5000$"
    ):
        admit(budget, 0.5)
    assert budget.calls == 1


@pytest.mark.parametrize(
    ("limit", "worst"), [(1.0, [0.5, 0.5]), (0.3, [0.1, 0.2]), (0.8, [0.1] * 8), (0.0, [0.0, 0.0])], ids=str
)
def test_exactly_at_the_limit_is_within_it(limit: float, worst: list[float]) -> None:
    """0.1 + 0.2 is 0.30000000000000004 in binary fractions, but must count as 0.3."""
    budget = Budget(max_cost_usd=limit)
    for cost in worst:
        admit(budget, cost)
        budget.charge(cost, cost)
    with pytest.raises(BudgetReached):
        admit(budget, 0.000001)


def test_where_only_reservations_stand_in_the_way_they_are_waited_for() -> None:
    """The concurrency does not decide whether the budget is reached."""

    async def play() -> list[str]:
        budget = Budget(max_cost_usd=1.0)
        await budget.admit(0.4)
        await budget.admit(0.4)
        third = asyncio.create_task(budget.admit(0.4))
        await asyncio.sleep(0)
        seen = ["waits" if not third.done() else "admitted"]
        budget.charge(0.4, 0.1)
        await third
        seen.append("admitted")
        fourth = asyncio.create_task(budget.admit(0.4))
        await asyncio.sleep(0)
        budget.charge(0.4, 0.4)  # 0.5 spent, 0.4 reserved
        await asyncio.sleep(0)
        seen.append("waits" if not fourth.done() else "admitted")
        budget.charge(0.4, 0.4)  # 0.9 spent, and nothing is in flight
        with pytest.raises(BudgetReached, match=r"0\.9000 spent"):
            await fourth
        return seen

    assert asyncio.run(play()) == ["waits", "admitted", "waits"]


@pytest.mark.parametrize("cost", [None, 0.0], ids=["failed", "free"])
def test_a_call_that_cost_nothing_gives_its_reservation_back(cost: float | None) -> None:
    budget = Budget(max_cost_usd=1.0)
    for _ in range(10):
        admit(budget, 0.9)
        budget.charge(0.9, cost)
    assert (budget.calls, budget.cost_usd) == (10, 0.0)


def test_a_call_that_cost_more_than_foreseen_counts_in_full() -> None:
    budget = Budget(max_cost_usd=1.0)
    admit(budget, 0.1)
    budget.charge(0.1, 1.5)
    with pytest.raises(BudgetReached, match=r"1\.5000 spent"):
        admit(budget, 0.0)


def test_what_an_earlier_process_spent_counts() -> None:
    budget = Budget(max_calls=5, max_cost_usd=1.0)
    budget.add_earlier(4, 0.9)
    with pytest.raises(BudgetReached, match="max_cost_usd"):
        admit(budget, 0.2)
    admit(budget, 0.1)
    with pytest.raises(BudgetReached, match="max_calls"):
        admit(budget, 0.0)


def test_calls_that_waited_for_dollars_pass_no_limit_of_calls() -> None:
    budget = Budget(max_calls=2, max_cost_usd=1.0)

    async def play() -> list[BaseException | None]:
        await budget.admit(0.9)
        waiting = [asyncio.create_task(budget.admit(0.3)) for _ in range(3)]
        await asyncio.sleep(0)
        budget.charge(0.9, 0.05)
        return await asyncio.gather(*waiting, return_exceptions=True)

    assert sorted(map(str, asyncio.run(play()))) == ["None", *["limits.max_calls = 2 is reached"] * 2]
    assert budget.calls == 2
