"""The circuit breaker: the failures after which a provider stops a run, judged in the order of requests."""

from __future__ import annotations

import asyncio
from itertools import permutations

import pytest

from agentsim.errors import ModelError, ProviderRejected, ProviderStopped, RateLimited, RequestRefused, TransportFailed
from agentsim.models.base import Attempt, Completion
from agentsim.models.faults import FORBIDDEN, NOT_FOUND, UNACCEPTED
from agentsim.runs.limits import STREAK, CircuitBreaker, ModelId

LAB, OTHER = ModelId("lab/m", "lab"), ModelId("other/m", "other")


def fault(what: str = "no answer") -> TransportFailed:
    return TransportFailed(what, code="timeout")


def refused() -> RequestRefused:
    return RequestRefused("not this one", code="refusal")


def decision(breaker: CircuitBreaker, *calls: ModelError | None, model: ModelId = LAB) -> None:
    """Run a wave of one request with these calls; the request gives up if the last is an error."""
    breaker.begin_wave([[model]])
    for call in calls:
        breaker.count_call(0, call)
    if calls[-1] is not None:
        asyncio.run(breaker.stop_if_unavailable(0))
    breaker.mark_decided(0)


def test_five_decisions_in_a_row_without_an_answer_stop_the_run_and_say_what_the_last_was() -> None:
    breaker = CircuitBreaker()
    decision(breaker, None)
    for _ in range(STREAK - 1):
        decision(breaker, fault("some fault"))
    with pytest.raises(ProviderStopped, match="lab: no answer for 5 decisions in a row; the last: the last fault"):
        decision(breaker, fault("the last fault"))


def test_the_calls_of_one_decision_count_once() -> None:
    breaker = CircuitBreaker()
    decision(breaker, None)
    for _ in range(STREAK - 1):
        decision(breaker, *[fault()] * 20)
    decision(breaker, *[fault()] * 20, None)


def test_an_answer_ends_the_row() -> None:
    breaker = CircuitBreaker()
    for _ in range(20):
        decision(breaker, None)
        for _ in range(STREAK - 1):
            decision(breaker, fault())


def test_an_answer_within_a_decision_ends_the_row_before_it() -> None:
    """Each decision has a bad reply and then a failed re-ask: the provider fails, but it has answered."""
    breaker = CircuitBreaker()
    for _ in range(3 * STREAK):
        decision(breaker, None, fault())
    for _ in range(STREAK - 2):
        decision(breaker, fault())
    with pytest.raises(ProviderStopped, match="5 decisions in a row"):
        decision(breaker, fault())


def test_a_refusal_is_an_answer() -> None:
    breaker = CircuitBreaker()
    decision(breaker, None)
    for _ in range(STREAK):
        decision(breaker, fault(), refused())
    decision(breaker, fault())


def test_a_wait_neither_ends_the_row_nor_counts() -> None:
    breaker, wait = CircuitBreaker(), RateLimited("slow down")
    decision(breaker, None)
    for _ in range(STREAK - 1):
        decision(breaker, wait, fault(), wait)
        decision(breaker, wait)
    with pytest.raises(ProviderStopped, match="5 decisions in a row"):
        decision(breaker, fault(), wait)


def test_a_decision_that_is_late_counts_and_is_never_the_first() -> None:
    breaker = CircuitBreaker()

    def late() -> None:
        breaker.begin_wave([[LAB]])
        breaker.count_call(0, fault())
        asyncio.run(breaker.stop_if_unavailable(0, late=True))
        breaker.mark_decided(0)

    for _ in range(STREAK - 1):
        late()
    with pytest.raises(ProviderStopped, match="5 decisions in a row"):
        late()


def test_what_an_earlier_process_met_counts_and_stops_nothing_by_itself() -> None:
    breaker = CircuitBreaker()
    decision(breaker, None)
    for _ in range(STREAK):
        breaker.begin_wave([[LAB]])
        breaker.add_earlier(0, Attempt((), fault="transport", final=True), before_stop=False)
        asyncio.run(breaker.stop_if_unavailable(0))
        breaker.mark_decided(0)
    with pytest.raises(ProviderStopped, match="6 decisions in a row"):
        decision(breaker, fault())


def test_a_run_that_goes_on_is_stopped_by_no_silence() -> None:
    breaker = CircuitBreaker("fallback")
    for _ in range(3 * STREAK):
        decision(breaker, fault())
        held(breaker, WANTS_A_DAY[0])


def test_a_run_that_goes_on_is_stopped_by_no_request_that_is_not_accepted() -> None:
    breaker = CircuitBreaker("fallback")
    for _ in range(3):
        decision(breaker, RequestRefused("not in this form", code=UNACCEPTED))
    with pytest.raises(ProviderStopped):
        decision(CircuitBreaker(), RequestRefused("not in this form", code=UNACCEPTED))


def unknown(what: str = "no such thing", status: int = 403, code: str = FORBIDDEN) -> RequestRefused:
    return RequestRefused(f"lab/m: the key may not use this model [it says: {what}]", code=code, status=status)


def test_five_refusals_alike_in_a_row_stop_the_run_and_say_what_was_refused() -> None:
    breaker = CircuitBreaker()
    decision(breaker, None)
    for number in range(STREAK - 1):
        decision(breaker, unknown(f"no entry (request {number}ab-{number})"))
    with pytest.raises(
        ProviderStopped, match=r"^lab: refuses 5 decisions in a row alike, whatever the prompt; the last: "
    ):
        decision(breaker, unknown("no entry (request ff-99)"))


@pytest.mark.parametrize("between", [None, RequestRefused("too long", code="context"), refused()], ids=str)
def test_an_answer_or_a_refusal_of_one_prompt_ends_a_row_of_refusals(between: ModelError | None) -> None:
    breaker = CircuitBreaker()
    decision(breaker, None)
    for _ in range(4):
        for _ in range(STREAK - 1):
            decision(breaker, unknown())
        decision(breaker, between)


@pytest.mark.parametrize(
    "other", [unknown("another thing"), unknown(status=404, code=NOT_FOUND), unknown(status=401)], ids=str
)
def test_refusals_that_differ_are_no_row(other: RequestRefused) -> None:
    breaker = CircuitBreaker()
    decision(breaker, None)
    for _ in range(3 * STREAK):
        decision(breaker, unknown())
        decision(breaker, other)


def test_a_fault_or_a_wait_neither_ends_a_row_of_refusals_nor_counts() -> None:
    breaker = CircuitBreaker()
    decision(breaker, None)
    for error in (unknown(), fault(), unknown(), RateLimited("slow down"), unknown(), fault(), unknown()):
        decision(breaker, error)
    with pytest.raises(ProviderStopped, match="refuses 5 decisions"):
        decision(breaker, unknown())


def test_refusals_are_counted_by_model() -> None:
    breaker, sister = CircuitBreaker(), ModelId("lab/other", "lab")
    decision(breaker, None)
    decision(breaker, None, model=sister)
    for _ in range(STREAK - 1):
        decision(breaker, unknown())
        decision(breaker, unknown(), model=sister)
    decision(breaker, None, model=sister)
    with pytest.raises(ProviderStopped, match="refuses 5 decisions"):
        decision(breaker, unknown())


def test_a_run_that_goes_on_is_stopped_by_no_refusals_alike() -> None:
    breaker = CircuitBreaker("fallback")
    decision(breaker, None)
    for _ in range(3 * STREAK):
        decision(breaker, unknown())


def test_refusals_of_an_earlier_process_count_unless_a_provider_stopped_it() -> None:
    attempt = Attempt((), FORBIDDEN, str(unknown()), fault="refused", status=403, final=True)
    for past in (False, True):
        breaker = CircuitBreaker()
        decision(breaker, None)
        for _ in range(STREAK - 1):
            breaker.begin_wave([[LAB]])
            breaker.add_earlier(0, attempt, before_stop=past)
            breaker.mark_decided(0)
        if past:
            decision(breaker, unknown())
        else:
            with pytest.raises(ProviderStopped, match="refuses 5 decisions"):
                decision(breaker, unknown())


def held(breaker: CircuitBreaker, error: ModelError, *, model: ModelId = LAB) -> None:
    """Run a wave of one request whose host asks for a longer wait than the decision's patience."""
    breaker.begin_wave([[model]])
    breaker.count_call(0, error, exceeds_patience=True)
    asyncio.run(breaker.stop_if_unavailable(0))
    breaker.mark_decided(0)


WANTS_A_DAY = [RateLimited("tomorrow", retry_after=86_400), TransportFailed("moving", code="http_503", retry_after=1e5)]


@pytest.mark.parametrize("error", WANTS_A_DAY, ids=str)
def test_a_host_that_wants_more_time_than_two_decisions_have_stops_the_run(error: ModelError) -> None:
    breaker = CircuitBreaker()
    decision(breaker, None)
    held(breaker, error)
    held(breaker, error, model=ModelId("lab/other", "lab"))
    with pytest.raises(
        ProviderStopped, match=r"^lab: wants more time than rate_limit_patience_s, twice .*: " + str(error)
    ):
        held(breaker, error)


def test_providers_are_counted_apart() -> None:
    breaker = CircuitBreaker()
    decision(breaker, None)
    decision(breaker, None, model=OTHER)
    for _ in range(STREAK - 1):
        decision(breaker, fault())
        decision(breaker, fault(), model=OTHER)
    decision(breaker, None, model=OTHER)
    with pytest.raises(ProviderStopped, match=r"^lab:"):
        decision(breaker, fault())


def test_the_first_failure_is_told_in_its_own_provider_s_words() -> None:
    breaker = CircuitBreaker()
    breaker.begin_wave([[LAB], [OTHER]])
    breaker.count_call(0, fault("the lab is closed"))
    breaker.count_call(1, fault("the other is busy"))
    with pytest.raises(ProviderStopped, match="lab: the first call failed: the lab is closed"):
        asyncio.run(breaker.stop_if_unavailable(0))


@pytest.mark.parametrize(
    "errors",
    [[refused()], [RateLimited("slow down")], [fault(), refused()]],
    ids=["refused", "rate limited", "a fault, then refused"],
)
def test_a_provider_that_answers_in_some_way_is_alive(errors: list[ModelError]) -> None:
    decision(CircuitBreaker(), *errors)


def test_what_an_earlier_process_was_answered_counts() -> None:
    breaker = CircuitBreaker()
    breaker.begin_wave([[LAB]])
    breaker.add_earlier(0, Attempt((), completion=Completion("yes")), before_stop=False)
    breaker.mark_decided(0)
    decision(breaker, fault(), fault())


WAVES = {
    "answers between": ([[None], [fault()], [None], [fault()], [None], [fault()]], False),
    "five in a row behind an answer": ([[None], [fault()], [fault(), fault()], *[[fault()]] * 3, [None]], True),
    "four in a row behind an answer": ([[None], [fault()], [fault(), fault()], *[[fault()]] * 2, [None]], False),
    "the first gives up": ([[fault()], [None], [None], [None], [None], [None]], True),
    "a later one gives up": ([[None], [fault()], [None], [None], [None], [None]], False),
    "nobody is answered": ([[fault()]] * 6, True),
    "five refusals behind an answer": ([[None], *[[unknown()]] * 5], True),
    "four refusals behind an answer": ([[None], *[[unknown()]] * 4, [None]], False),
    "five refusals around an answer": ([[None], *[[unknown()]] * 2, [None], *[[unknown()]] * 3], False),
}


@pytest.mark.parametrize(("calls", "stops"), WAVES.values(), ids=WAVES)
def test_the_order_of_replies_never_decides(calls: list[list[ModelError | None]], stops: bool) -> None:
    """The requests of one wave, with replies in every order, give the verdict of calls one by one."""

    async def play(order: tuple[int, ...]) -> bool:
        breaker = CircuitBreaker()
        breaker.begin_wave([[LAB]] * len(calls))

        async def one(place: int) -> None:
            for call in calls[place]:
                breaker.count_call(place, call)
            if calls[place][-1] is not None:
                await breaker.stop_if_unavailable(place)
            breaker.mark_decided(place)

        tasks = [asyncio.create_task(one(place)) for place in order]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            task.cancel()  # as a stopped run does; otherwise tasks would wait for places that never settle
        results = await asyncio.gather(*tasks, return_exceptions=True)
        return any(isinstance(result, ProviderStopped) for result in results)

    for order in list(permutations(range(len(calls))))[::17]:
        assert asyncio.run(play(order)) is stops


# ---------------------------------------------------------------------------- several models for one request

CHAIN = [LAB, OTHER]


def chain_decision(breaker: CircuitBreaker, *calls: tuple[int, ModelError | None]) -> tuple[int, ...]:
    """Run a wave of one request with two models and these calls, and return the order of its models."""
    breaker.begin_wave([CHAIN])
    for link, error in calls:
        breaker.count_call(0, error, link)
    breaker.mark_decided(0)
    return breaker.order(0)


def rejected(what: str = "no credit") -> ProviderRejected:
    return ProviderRejected(what, code="no_credit")


def test_a_model_that_refused_five_decisions_alike_is_passed_over() -> None:
    breaker = CircuitBreaker()
    chain_decision(breaker, (0, None))
    for _ in range(STREAK):
        assert chain_decision(breaker, (0, unknown()), (1, None)) == (0, 1)
    assert chain_decision(breaker, (1, None)) == (1,)
    decision(breaker, None)
    assert chain_decision(breaker, (0, None)) == (0, 1)


def test_it_is_asked_again_once_somebody_who_has_no_other_was_answered() -> None:
    breaker = CircuitBreaker()
    for _ in range(STREAK):
        chain_decision(breaker, (0, fault()), (1, None))
    decision(breaker, None)
    assert chain_decision(breaker, (0, None)) == (0, 1)


def test_who_has_only_the_dead_one_is_stopped_by_the_next_failure() -> None:
    breaker = CircuitBreaker()
    for _ in range(STREAK):
        chain_decision(breaker, (0, fault()), (1, None))
    with pytest.raises(ProviderStopped, match="lab: no answer for 6 decisions in a row"):
        decision(breaker, fault())


def test_a_rejected_model_is_asked_no_more_and_another_of_its_provider_is() -> None:
    breaker, sister = CircuitBreaker(), ModelId("lab/other", "lab")
    chain_decision(breaker, (0, rejected()), (1, None))
    breaker.begin_wave([[LAB, sister]])
    assert breaker.order(0) == (1,)


def test_a_rejected_spare_stops_nobody_whose_first_is_only_busy() -> None:
    breaker = CircuitBreaker()
    chain_decision(breaker, (0, None))
    chain_decision(breaker, (0, fault()), (1, rejected()))
    assert chain_decision(breaker, (0, None)) == (0,)


def test_when_all_are_dead_all_are_asked_once_more() -> None:
    breaker = CircuitBreaker()
    for _ in range(STREAK):
        breaker.begin_wave([CHAIN])
        for model in ("lab/m", "other/m"):
            breaker.add_earlier(0, Attempt((), fault="transport", model=model), before_stop=False)
        breaker.mark_decided(0)
    breaker.begin_wave([CHAIN])
    assert breaker.order(0) == (0, 1)
    for link in breaker.order(0):
        breaker.count_call(0, fault(), link)
    with pytest.raises(ProviderStopped, match="lab: no answer for 6 decisions in a row"):
        asyncio.run(breaker.stop_if_unavailable(0))


def test_who_is_asked_is_settled_when_the_wave_begins() -> None:
    breaker = CircuitBreaker()
    breaker.begin_wave([CHAIN] * (STREAK + 1))
    for index in range(STREAK):
        breaker.count_call(index, fault(), 0)
        breaker.count_call(index, None, 1)
        breaker.mark_decided(index)
    assert breaker.order(STREAK) == (0, 1), "whether it is asked before or after those calls must not matter"
    breaker.begin_wave([CHAIN])
    assert breaker.order(0) == (1,)
