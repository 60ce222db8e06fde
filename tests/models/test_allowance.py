"""Allowance: slots that halve and creep up, and two sliding minutes, as a machine without a clock."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.models.allowance import MINUTE_S, Allowance, Terms, Ticket


def begun(allowance: Allowance, calls: int, now: float = 0.0, tokens: int = 0) -> list[Ticket]:
    return [allowance.start(now, tokens) for _ in range(calls)]


def over(allowance: Allowance, tickets: Sequence[Ticket], *, limited: bool = False) -> None:
    for ticket in tickets:
        (allowance.limited if limited else allowance.answered)(ticket)
        allowance.ended(ticket)


def halved(slots: int) -> Allowance:
    allowance = Allowance(Terms(slots))
    over(allowance, begun(allowance, 1), limited=True)
    return allowance


def test_slots_start_at_the_concurrency_and_a_full_house_waits_for_an_end() -> None:
    allowance = Allowance(Terms(2))
    tickets = begun(allowance, 2)
    assert allowance.wait(0.0, 0) == math.inf
    over(allowance, tickets[:1])
    assert allowance.wait(0.0, 0) == 0
    assert allowance.slots == 2


def test_without_terms_nobody_waits() -> None:
    allowance = Allowance()
    over(allowance, begun(allowance, 1000, tokens=10**9), limited=True)
    assert (allowance.wait(0.0, 10**9), allowance.slots) == (0, None)


@pytest.mark.parametrize(("before", "after"), [(16, 8), (15, 7), (3, 1), (2, 1), (1, 1)])
def test_a_429_halves_and_leaves_one(before: int, after: int) -> None:
    assert halved(before).slots == after


def test_a_burst_of_them_halves_once() -> None:
    allowance = Allowance(Terms(16))
    over(allowance, begun(allowance, 16), limited=True)
    assert allowance.slots == 8


def test_one_of_a_call_that_started_after_the_halving_halves_again() -> None:
    allowance = Allowance(Terms(16))
    over(allowance, begun(allowance, 16), limited=True)
    over(allowance, begun(allowance, 8), limited=True)
    assert allowance.slots == 4


def test_answers_to_calls_of_the_burst_do_not_make_it_grow() -> None:
    allowance = Allowance(Terms(16))
    tickets = begun(allowance, 16)
    over(allowance, tickets[:1], limited=True)
    over(allowance, tickets[1:])
    assert allowance.slots == 8


def test_slots_grow_by_one_a_round_slowly_where_a_429_was_and_never_above_the_concurrency() -> None:
    allowance = halved(8)
    rounds = []
    for _ in range(100):
        answers, slots = 0, allowance.slots
        while allowance.slots == slots and answers < 1000:
            over(allowance, begun(allowance, 1))
            answers += 1
        rounds.append((slots, answers))
    assert rounds[:5] == [(4, 4), (5, 5), (6, 6), (7, 56), (8, 1000)]
    assert {slots for slots, _ in rounds} == {4, 5, 6, 7, 8}


def test_what_is_no_answer_and_no_429_changes_no_slots() -> None:
    allowance = halved(8)
    for ticket in begun(allowance, 4):
        allowance.ended(ticket)
    assert allowance.slots == 4


def test_requests_per_minute_slide() -> None:
    allowance = Allowance(Terms(requests_per_minute=2))
    for start in (0.0, 10.0):
        over(allowance, begun(allowance, 1, start))
    assert allowance.wait(15.0, 0) == 45.0
    assert allowance.short_of(15.0, 0) == "requests_per_minute"
    assert allowance.wait(60.0, 0) == 0
    over(allowance, begun(allowance, 1, 60.0))
    assert allowance.wait(61.0, 0) == 9.0


def test_tokens_are_an_estimate_until_the_call_is_over() -> None:
    allowance = Allowance(Terms(tokens_per_minute=1000))
    [first] = begun(allowance, 1, 0.0, 800)
    assert allowance.wait(1.0, 300) == 59.0
    assert allowance.short_of(1.0, 300) == "tokens_per_minute"
    allowance.used(first, 100)
    assert allowance.wait(1.0, 300) == 0
    [second] = begun(allowance, 1, 1.0, 300)
    allowance.used(second, 950)  # more than was thought: the next one pays for it
    assert allowance.wait(2.0, 60) == MINUTE_S - 1.0, "the first one's end is not enough"
    allowance.used(second, 0)
    assert allowance.wait(2.0, 900) == 0, "what was turned away used nothing"


def test_a_call_larger_than_a_minute_gets_a_minute_for_itself() -> None:
    allowance = Allowance(Terms(tokens_per_minute=1000))
    assert allowance.wait(0.0, 5000) == 0
    over(allowance, begun(allowance, 1, 0.0, 5000))
    assert allowance.wait(1.0, 1) == 59.0
    assert allowance.wait(1.0, 5000) == 59.0


def test_two_who_call_there_keep_to_what_either_knows() -> None:
    allowance = Allowance(Terms(4, 0.1, 100, None))
    allowance.agree(Terms(16, 0.0, 200, 5000))
    assert allowance.terms == Terms(16, 0.1, 100, 5000)
    assert allowance.slots == 16
    limited = halved(8)
    limited.agree(Terms(16))
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
        Terms,
        concurrency=st.none() | st.integers(1, 9),
        requests_per_minute=st.none() | st.integers(1, 6),
        tokens_per_minute=st.none() | st.integers(1, 500),
    ),
    STEPS,
)
def test_whatever_happens_no_limit_is_passed_and_every_wait_ends(terms: Terms, steps: list[tuple[str, int]]) -> None:
    allowance = Allowance(terms)
    under_way: list[Ticket] = []
    started: list[Ticket] = []
    now = 0.0
    for step, number in steps:
        match step:
            case "start":
                wait = allowance.wait(now, number)
                if wait == math.inf:
                    assert under_way, "somebody waits for an end that never comes"
                    continue
                now += wait
                assert wait <= MINUTE_S
                assert allowance.wait(now, number) == 0, "after the wait it may start"
                under_way.append(allowance.start(now, number))
                started.append(under_way[-1])
                assert allowance.slots is None or allowance.in_flight <= allowance.slots
                minute = [each for each in started if each.started > now - MINUTE_S]
                assert terms.requests_per_minute is None or len(minute) <= terms.requests_per_minute
                if terms.tokens_per_minute is not None and len(minute) > 1:
                    before = sum(each.tokens for each in minute[:-1])
                    assert before + min(number, terms.tokens_per_minute) <= terms.tokens_per_minute
            case "used" if started:
                allowance.used(started[number % len(started)], number)
            case "later":
                now += number
            case "answered" | "limited" | "failed" if under_way:
                ticket = under_way.pop(number % len(under_way))
                if step != "failed":
                    (allowance.answered if step == "answered" else allowance.limited)(ticket)
                allowance.ended(ticket)
        assert allowance.in_flight == len(under_way)
        assert allowance.slots is None or 1 <= allowance.slots <= (terms.concurrency or 0)
