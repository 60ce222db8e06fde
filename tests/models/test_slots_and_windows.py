"""The rate limiter's slots, which halve and grow slowly, and its two sliding minutes. The clock is the tests' own."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.errors import RateLimited, TransportFailed
from agentsim.models.pacing import MINUTE_S, RateLimiter, RateLimits, Slot


class Limiter(RateLimiter):
    """A rate limiter whose clock the test sets."""

    def __init__(self, limits: RateLimits = RateLimits()) -> None:
        self.now = 0.0
        super().__init__(limits, clock=lambda: self.now)

    def wait(self, now: float, tokens: int) -> float:
        self.now = now
        return self.wait_s(tokens)


def begun(limiter: Limiter, calls: int, now: float = 0.0, tokens: int = 0) -> list[Slot]:
    limiter.now = now
    return [limiter.start(tokens) for _ in range(calls)]


def over(limiter: Limiter, slots: Sequence[Slot], error: Exception | None = None) -> None:
    for slot in slots:
        limiter.release(slot, error)


BUSY, BROKEN = RateLimited("slow down", retry_after=None), TransportFailed("broken", code="reset")


def halved(slots: int) -> Limiter:
    limiter = Limiter(RateLimits(slots))
    over(limiter, begun(limiter, 1), BUSY)
    return limiter


def test_slots_start_at_the_concurrency_and_a_full_house_waits_for_an_end() -> None:
    limiter = Limiter(RateLimits(2))
    slots = begun(limiter, 2)
    assert limiter.wait(0.0, 0) == math.inf
    over(limiter, slots[:1])
    assert limiter.wait(0.0, 0) == 0
    assert limiter.slots == 2


def test_without_terms_nobody_waits() -> None:
    limiter = Limiter()
    over(limiter, begun(limiter, 1000, tokens=10**9), BUSY)
    assert (limiter.wait(0.0, 10**9), limiter.slots) == (0, None)


@pytest.mark.parametrize(("before", "after"), [(16, 8), (15, 7), (3, 1), (2, 1), (1, 1)])
def test_a_429_halves_and_leaves_one(before: int, after: int) -> None:
    assert halved(before).slots == after


def test_a_burst_of_them_halves_once() -> None:
    limiter = Limiter(RateLimits(16))
    over(limiter, begun(limiter, 16), BUSY)
    assert limiter.slots == 8


def test_one_of_a_call_that_started_after_the_halving_halves_again() -> None:
    limiter = Limiter(RateLimits(16))
    over(limiter, begun(limiter, 16), BUSY)
    over(limiter, begun(limiter, 8), BUSY)
    assert limiter.slots == 4


def test_answers_to_calls_of_the_burst_do_not_make_it_grow() -> None:
    limiter = Limiter(RateLimits(16))
    slots = begun(limiter, 16)
    over(limiter, slots[:1], BUSY)
    over(limiter, slots[1:])
    assert limiter.slots == 8


def test_slots_grow_by_one_a_round_slowly_where_a_429_was_and_never_above_the_concurrency() -> None:
    limiter = halved(8)
    rounds = []
    for _ in range(100):
        answers, slots = 0, limiter.slots
        while limiter.slots == slots and answers < 1000:
            over(limiter, begun(limiter, 1))
            answers += 1
        rounds.append((slots, answers))
    assert rounds[:5] == [(4, 4), (5, 5), (6, 6), (7, 56), (8, 1000)]
    assert {slots for slots, _ in rounds} == {4, 5, 6, 7, 8}


def test_what_is_no_answer_and_no_429_changes_no_slots() -> None:
    limiter = halved(8)
    over(limiter, begun(limiter, 4), BROKEN)
    assert limiter.slots == 4


def test_requests_per_minute_slide() -> None:
    limiter = Limiter(RateLimits(requests_per_minute=2))
    for start in (0.0, 10.0):
        over(limiter, begun(limiter, 1, start))
    assert limiter.wait(15.0, 0) == 45.0
    assert limiter.short_of(0) == "requests_per_minute"
    assert limiter.wait(60.0, 0) == 0
    over(limiter, begun(limiter, 1, 60.0))
    assert limiter.wait(61.0, 0) == 9.0


def test_tokens_are_an_estimate_until_the_call_is_over() -> None:
    limiter = Limiter(RateLimits(tokens_per_minute=1000))
    [first] = begun(limiter, 1, 0.0, 800)
    assert limiter.wait(1.0, 300) == 59.0
    assert limiter.short_of(300) == "tokens_per_minute"
    first.used(100)
    assert limiter.wait(1.0, 300) == 0
    [second] = begun(limiter, 1, 1.0, 300)
    second.used(950)  # more than estimated, so the next call must wait
    assert limiter.wait(2.0, 60) == MINUTE_S - 1.0, "the first one's end is not enough"
    second.used(0)
    assert limiter.wait(2.0, 900) == 0, "what was turned away used nothing"


def test_a_call_larger_than_a_minute_gets_a_minute_for_itself() -> None:
    limiter = Limiter(RateLimits(tokens_per_minute=1000))
    assert limiter.wait(0.0, 5000) == 0
    over(limiter, begun(limiter, 1, 0.0, 5000))
    assert limiter.wait(1.0, 1) == 59.0
    assert limiter.wait(1.0, 5000) == 59.0


def test_two_who_call_there_keep_to_what_either_knows() -> None:
    limiter = Limiter(RateLimits(4, 0.1, 100, None))
    limiter.tighten(RateLimits(16, 0.0, 200, 5000))
    assert limiter.limits == RateLimits(16, 0.1, 100, 5000)
    assert limiter.slots == 16
    limited = halved(8)
    limited.tighten(RateLimits(16))
    assert limited.slots == 4, "what was learned stays"


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("start"), st.integers(0, 400)),
        st.tuples(st.sampled_from(["answered", "limited", "failed"]), st.integers(0, 30)),
        st.tuples(st.just("used"), st.integers(0, 600)),
        st.tuples(st.just("later"), st.integers(0, 40)),
    ),
    max_size=120,
)


@given(
    st.builds(
        RateLimits,
        concurrency=st.none() | st.integers(1, 9),
        requests_per_minute=st.none() | st.integers(1, 6),
        tokens_per_minute=st.none() | st.integers(1, 500),
    ),
    STEPS,
)
def test_whatever_happens_no_limit_is_passed_and_every_wait_ends(
    limits: RateLimits, steps: list[tuple[str, int]]
) -> None:
    limiter = Limiter(limits)
    under_way: list[Slot] = []
    started: list[Slot] = []
    now = 0.0
    for step, number in steps:
        match step:
            case "start":
                wait = limiter.wait(now, number)
                if wait == math.inf:
                    assert under_way, "somebody waits for an end that never comes"
                    continue
                now += wait
                assert wait <= MINUTE_S
                assert limiter.wait(now, number) == 0, "after the wait it may start"
                under_way += begun(limiter, 1, now, number)
                started.append(under_way[-1])
                assert limiter.slots is None or limiter.in_flight <= limiter.slots
                minute = [each for each in started if each.started > now - MINUTE_S]
                assert limits.requests_per_minute is None or len(minute) <= limits.requests_per_minute
                if limits.tokens_per_minute is not None and len(minute) > 1:
                    before = sum(each.tokens for each in minute[:-1])
                    assert before + min(number, limits.tokens_per_minute) <= limits.tokens_per_minute
            case "used" if started:
                started[number % len(started)].used(number)
            case "later":
                now += number
            case "answered" | "limited" | "failed" if under_way:
                slot = under_way.pop(number % len(under_way))
                limiter.release(slot, {"answered": None, "limited": BUSY, "failed": BROKEN}[step])
        assert limiter.in_flight == len(under_way)
        assert limiter.slots is None or 1 <= limiter.slots <= (limits.concurrency or 0)
