"""Retries: the calls that are retried, their waits and their end. Sleeps are recorded, not slept."""

from __future__ import annotations

import asyncio

import pytest

from agentsim.errors import ModelError, ProviderRejected, RateLimited, RequestRefused, TransportFailed
from agentsim.models.base import Completion
from agentsim.models.pacing import (
    RetryCount,
    RetryPolicy,
    RetryVerdict,
    call_with_retries,
    retry_verdict,
    retry_wait,
)
from tests.amounts import each_row

BROKEN = TransportFailed("broken", code="http_500")
REFUSED = RequestRefused("no", code="refusal")
REJECTED = ProviderRejected("never", code="bad_key")
GOOD = Completion("yes")


def limited(after: float | None = None) -> RateLimited:
    return RateLimited("slow down", retry_after=after)


class Story:
    """A model that fails with these errors and then answers; it records the calls and sleeps."""

    def __init__(
        self, *errors: BaseException, policy: RetryPolicy | None = None, used: RetryCount | None = None
    ) -> None:
        self.errors = list(errors)
        self.policy, self.used = policy or RetryPolicy(), used or RetryCount()
        self.calls = 0
        self.sleeps: list[float] = []
        self.heard: list[ModelError] = []
        self.verdicts: list[RetryVerdict] = []

    async def attempt(self) -> Completion:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return GOOD

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)

    def failed(self, error: ModelError, verdict: RetryVerdict) -> None:
        self.heard.append(error)
        self.verdicts.append(verdict)

    def play(self) -> Completion | ModelError:
        try:
            return asyncio.run(call_with_retries(self.attempt, self.policy, self.used, self.failed, self.sleep))
        except ModelError as error:
            return error


def test_the_first_answer_is_taken() -> None:
    story = Story()
    assert story.play() is GOOD
    assert (story.calls, story.sleeps, story.heard, story.used) == (1, [], [], RetryCount(made=1))


def loading(after: float) -> TransportFailed:
    return TransportFailed("loading", code="http_503", status=503, retry_after=after)


@pytest.mark.parametrize(("asked", "waited"), [(3.0, 3.0), (0.1, 0.5), (300.0, 300.0)])
def test_a_host_that_says_when_it_is_back_is_asked_then(asked: float, waited: float) -> None:
    story = Story(loading(asked))
    assert story.play() is GOOD
    assert story.sleeps == [waited], "never sooner than otherwise"


@pytest.mark.parametrize("error", [loading(300.1), limited(300.1), loading(1e11), limited(1e11)], ids=repr)
def test_a_host_that_wants_more_time_than_there_is_patience_is_not_waited_for(error: ModelError) -> None:
    story = Story(error)
    assert story.play() is error
    assert story.sleeps == []
    assert story.verdicts == [RetryVerdict(None, exceeds_patience=True)]


@each_row(
    "error, waited_s, is_held",
    [
        (limited(100), 0.0, False),
        (limited(100), 200.5, True),
        (limited(), 295.0, True),
        (loading(300), 200.5, False),
        (BROKEN, 300.0, False),
        (REFUSED, 300.0, False),
    ],
)
def test_what_is_held_is_told_from_what_is_given_up(error: ModelError, waited_s: float, is_held: bool) -> None:
    assert (
        retry_verdict(error, RetryPolicy(), RetryCount(made=3, retries=1, waited_s=waited_s)).exceeds_patience
        is is_held
    )


def test_where_there_is_no_patience_the_host_has_asked_for_nothing() -> None:
    """Without patience, two calls of one burst must not stop a run if the host names no time."""
    policy = RetryPolicy(rate_limit_patience_s=0)
    assert retry_verdict(limited(), policy, RetryCount()) == RetryVerdict(None)
    assert retry_verdict(limited(5), policy, RetryCount()) == RetryVerdict(None, exceeds_patience=True)


def test_a_transport_fault_is_tried_again_once() -> None:
    story = Story(BROKEN)
    assert story.play() is GOOD
    assert (story.sleeps, story.heard, story.used) == ([0.5], [BROKEN], RetryCount(made=2, retries=1))


def test_the_last_error_is_raised_and_heard() -> None:
    last = TransportFailed("again", code="timeout")
    story = Story(BROKEN, last)
    assert story.play() is last
    assert (story.heard, story.used) == ([BROKEN, last], RetryCount(made=2, retries=1))


@pytest.mark.parametrize("error", [REFUSED, REJECTED])
def test_what_cannot_succeed_is_raised_at_once(error: ModelError) -> None:
    story = Story(error)
    assert story.play() is error
    assert (story.sleeps, story.heard, story.used) == ([], [error], RetryCount(made=1))


def test_what_earlier_calls_of_the_decision_used_counts() -> None:
    assert Story(BROKEN, used=RetryCount(made=1, retries=1)).play() is BROKEN
    # One attempt was an unreadable reply, so this fault is the third and last attempt.
    story = Story(BROKEN, policy=RetryPolicy(retries=5), used=RetryCount(made=2))
    assert story.play() is BROKEN
    assert story.used == RetryCount(made=3)


@pytest.mark.parametrize(
    ("waits", "expected"),
    [
        (0.5, [0.5, 1.0, 2.0, 4.0]),
        (0.0, [0, 0, 0, 0]),
        ((2.0,), [2, 2, 2, 2]),
        ((1.0, 3.0), [1, 3, 3, 3]),
        ((), [0] * 4),
    ],
)
def test_waits_double_or_are_exact(waits: float | tuple[float, ...], expected: list[float]) -> None:
    story = Story(*[BROKEN] * 4, policy=RetryPolicy(retries=9, max_attempts=9, retry_wait_s=waits))
    assert story.play() is GOOD
    assert story.sleeps == expected


def test_doubling_ends_at_a_minute_unless_more_was_asked_for() -> None:
    assert retry_wait(RetryPolicy(), 2000) == 60
    assert retry_wait(RetryPolicy(retry_wait_s=90), 3) == 90


def test_a_rate_limit_is_a_wait_and_not_an_attempt() -> None:
    story = Story(limited(3.0), limited(), limited(0.25))
    assert story.play() is GOOD
    assert story.sleeps == [3.0, 10.0, 0.25]
    assert (story.used.made, story.used.retries, len(story.heard)) == (1, 0, 3)
    assert story.used.waited_s == pytest.approx(14)  # the quarter of a second counts for the patience


def test_patience_ends_before_a_wait_that_would_pass_it() -> None:
    last = limited(5.0)
    story = Story(limited(6.0), last, policy=RetryPolicy(rate_limit_patience_s=10))
    assert story.play() is last
    assert (story.sleeps, story.used) == ([6.0], RetryCount(waited_s=6.0, rate_limited=2))


def test_patience_is_the_decisions_and_carried_over() -> None:
    policy = RetryPolicy(rate_limit_patience_s=10)
    assert retry_verdict(limited(5), policy, RetryCount(waited_s=5)).wait_s == 5
    assert retry_verdict(limited(5), policy, RetryCount(waited_s=5.1)).wait_s is None
    assert retry_verdict(limited(3600), RetryPolicy(), RetryCount()).wait_s is None


def test_a_host_that_says_now_for_ever_is_not_asked_for_ever() -> None:
    story = Story(*[limited(0.0) for _ in range(1000)])
    assert isinstance(story.play(), RateLimited)
    assert story.calls == 301


@pytest.mark.parametrize(
    ("patience", "calls"), [(0.0, 1), (5e-324, 1), (0.005, 1), (0.05, 6), (1.0, 101), (50.0, 101), (300.0, 301)]
)
def test_any_wait_takes_patience_however_little_there_is(patience: float, calls: int) -> None:
    story = Story(*[limited(0.0) for _ in range(1000)], policy=RetryPolicy(rate_limit_patience_s=patience))
    assert isinstance(story.play(), RateLimited)
    assert story.calls == pytest.approx(calls, abs=1)  # sums of hundredths are not exact


def test_rate_limits_and_faults_are_counted_apart() -> None:
    story = Story(limited(1.0), BROKEN, limited(1.0))
    assert story.play() is GOOD
    assert (story.sleeps, story.used) == ([1.0, 0.5, 1.0], RetryCount(made=2, retries=1, waited_s=2.0, rate_limited=2))


SEED = RetryPolicy(
    retries=2,
    retry_wait_s=(1.0,),
    rate_limit_wait_s=(1.0, 2.0, 4.0),
    rate_limit_jitter_s=1.0,
    count_rate_limits=True,
)


def test_three_attempts_in_all_where_rate_limits_count() -> None:
    last = limited()
    story = Story(limited(), BROKEN, last, policy=SEED)
    assert story.play() is last
    assert (story.calls, story.used.rate_limited, story.used.made) == (3, 2, 1)
    assert not story.verdicts[-1].exceeds_patience, "the host asked for nothing that it did not get"


def test_the_nth_wait_after_a_rate_limit_is_two_to_the_n_and_up_to_a_second_by_chance() -> None:
    stories = [Story(limited(), limited(), policy=SEED, used=RetryCount(decision=f"agent{n} {n}")) for n in range(200)]
    for story in stories:
        assert story.play() is GOOD
    extra = [wait - 2.0**index for story in stories for index, wait in enumerate(story.sleeps)]
    assert len(extra) == 400
    assert 0 <= min(extra) < 0.05, "anywhere in a second"
    assert 0.95 < max(extra) < 1
    assert sum(extra) / 400 == pytest.approx(0.5, abs=0.06)


def test_after_a_fault_the_wait_of_a_rate_limit_is_that_of_the_second_attempt() -> None:
    story = Story(BROKEN, limited(), policy=SEED)
    assert story.play() is GOOD
    assert story.sleeps[0] == 1.0
    assert 2.0 <= story.sleeps[1] < 3.0


def test_a_decision_that_is_played_again_waits_as_it_did() -> None:
    first, again = (Story(limited(), limited(), policy=SEED, used=RetryCount(decision="agent7 12")) for _ in range(2))
    assert first.play() is again.play() is GOOD
    assert first.sleeps == again.sleeps


def test_a_cancellation_passes_and_counts_nothing() -> None:
    story = Story(asyncio.CancelledError())
    with pytest.raises(asyncio.CancelledError):
        story.play()
    assert (story.calls, story.heard, story.used) == (1, [], RetryCount())


def test_a_mistake_of_ours_is_not_tried_again() -> None:
    story = Story(KeyError("ours"))
    with pytest.raises(KeyError):
        story.play()
    assert (story.calls, story.heard) == (1, [])


def test_a_cancellation_while_waiting_ends_the_wait() -> None:
    async def main() -> None:
        async def always() -> Completion:
            raise limited(100)

        task = asyncio.create_task(call_with_retries(always, RetryPolicy(), RetryCount(), lambda *_: None))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
