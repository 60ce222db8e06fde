"""Spacing between the starts of calls, in order, delayed by the host. The clock is the tests' own."""

from __future__ import annotations

import asyncio
import math

from agentsim.models.pacing import LONGEST_PUSH_S, RateLimiter, RateLimits


class Clock:
    """A clock that only `sleep` advances."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def starts(
    spacing_s: float, callers: int, *, push: float | None = None, patience_s: float = math.inf
) -> list[tuple[int, float]]:
    clock = Clock()
    limits = RateLimits(spacing_s=spacing_s, patience_s=patience_s)
    limiter = RateLimiter(limits, clock=clock, sleep=clock.sleep)
    seen: list[tuple[int, float]] = []

    async def caller(number: int) -> None:
        await limiter.acquire()
        seen.append((number, round(clock.now - 100.0, 6)))
        if push is not None and number == 0:
            limiter.push_back(push)

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(callers):
                group.create_task(caller(number))

    asyncio.run(main())
    return seen


def test_without_spacing_nobody_waits() -> None:
    assert starts(0.0, 3) == [(0, 0.0), (1, 0.0), (2, 0.0)]


def test_calls_start_one_spacing_apart_in_the_order_of_asking() -> None:
    assert starts(0.2, 4) == [(0, 0.0), (1, 0.2), (2, 0.4), (3, 0.6)]


def test_whoever_comes_later_overtakes_nobody_not_even_where_the_line_has_just_moved() -> None:
    clock = Clock()
    limiter = RateLimiter(clock=clock, sleep=clock.sleep)
    seen: list[str] = []

    async def caller(name: str) -> None:
        await limiter.acquire()
        seen.append(name)
        if name == "a":  # the queue may go on, but its tasks have not run yet
            late.append(asyncio.create_task(caller("late")))

    late: list[asyncio.Task[None]] = []

    async def main() -> None:
        limiter.push_back(5)
        async with asyncio.TaskGroup() as group:
            for name in "abc":
                group.create_task(caller(name))
        await late[0]

    asyncio.run(main())
    assert seen == ["a", "b", "c", "late"]


def test_time_already_passed_counts() -> None:
    clock = Clock()
    limiter = RateLimiter(RateLimits(spacing_s=1.0), clock=clock, sleep=clock.sleep)

    async def main() -> float:
        await limiter.acquire()
        clock.now += 5
        await limiter.acquire()
        return clock.now

    assert asyncio.run(main()) == 105.0


def test_a_host_that_asks_to_wait_moves_everyone_even_who_waits_already() -> None:
    assert starts(0.2, 3, push=2.0) == [(0, 0.0), (1, 2.0), (2, 2.2)]


def test_one_answer_cannot_stop_the_others_for_an_hour() -> None:
    assert starts(0.0, 2, push=3600) == [(0, 0.0), (1, LONGEST_PUSH_S)]


def test_what_outlasts_the_patience_of_those_who_wait_moves_nobody() -> None:
    assert starts(0.2, 2, push=20.1, patience_s=20.0) == [(0, 0.0), (1, 0.2)]
    assert starts(0.2, 2, push=20.0, patience_s=20.0) == [(0, 0.0), (1, 20.0)]


def test_nobody_is_held_back_for_longer_than_there_is_patience_however_often_a_host_asks() -> None:
    """The host asks for a new wait during the wait; calls that arrive then wait as long again."""
    clock = Clock()
    limiter = RateLimiter(RateLimits(patience_s=20.0), clock=clock, sleep=clock.sleep)

    async def main() -> list[float]:
        limiter.push_back(15.0)
        first = asyncio.create_task(limiter.acquire())
        for _ in range(2):  # waits in its own task
            await asyncio.sleep(0)
        assert clock.now == 115.0
        limiter.push_back(15.0)
        await first
        began = [clock.now]
        await limiter.acquire()
        return [*began, clock.now]

    assert asyncio.run(main()) == [120.0, 130.0]
