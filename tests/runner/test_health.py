"""Health: after which failures a provider cannot be played with any more."""

from __future__ import annotations

import pytest

from agentsim.errors import ModelError, ModelRefused, ProviderRejected, ProviderStopped, RateLimited, TransportFailed
from agentsim.runner.health import STREAK, Health


def fault(what: str = "no answer") -> TransportFailed:
    return TransportFailed(what, code="timeout")


def refused() -> ModelRefused:
    return ModelRefused("not this one", code="refusal")


def test_five_transport_faults_in_a_row_stop_the_run_and_say_what_the_last_was() -> None:
    health = Health()
    health.answered("lab")
    for _ in range(STREAK - 1):
        health.failed("lab", fault("some fault"))
    with pytest.raises(ProviderStopped, match="lab: 5 calls in a row failed; the last: the last fault"):
        health.failed("lab", fault("the last fault"))


def test_an_answer_ends_the_row() -> None:
    health = Health()
    for _ in range(20):
        for _ in range(STREAK - 1):
            health.failed("lab", fault())
        health.answered("lab")


def test_a_refusal_is_an_answer() -> None:
    health = Health()
    for _ in range(STREAK - 1):
        health.failed("lab", fault())
    health.failed("lab", refused())
    health.gave_up("lab")
    health.failed("lab", fault())


def test_a_wait_neither_ends_the_row_nor_counts() -> None:
    health = Health()
    for _ in range(STREAK - 1):
        health.failed("lab", fault())
        health.failed("lab", RateLimited("slow down"))
    with pytest.raises(ProviderStopped):
        health.failed("lab", fault())


def test_providers_are_counted_apart() -> None:
    health = Health()
    health.answered("lab")
    for _ in range(STREAK - 1):
        health.failed("lab", fault())
        health.failed("other", fault())
    health.answered("other")
    with pytest.raises(ProviderStopped, match=r"^lab:"):
        health.failed("lab", fault())


def test_no_call_of_this_kind_can_succeed() -> None:
    health = Health()
    health.answered("lab")
    with pytest.raises(ProviderStopped, match=r"^lab: lab/m: the key is wrong$"):
        health.failed("lab", ProviderRejected("lab/m: the key is wrong", code="bad_key"))


def test_a_first_decision_without_any_answer_stops_the_run() -> None:
    health = Health()
    health.failed("lab", fault("cannot be reached"))
    with pytest.raises(ProviderStopped, match="lab: the first call failed: cannot be reached"):
        health.gave_up("lab")


def test_the_first_failure_is_told_in_its_own_provider_s_words() -> None:
    health = Health()
    health.failed("lab", fault("the lab is closed"))
    health.failed("other", fault("the other is busy"))
    with pytest.raises(ProviderStopped, match="lab: the first call failed: the lab is closed"):
        health.gave_up("lab")


@pytest.mark.parametrize(
    "errors",
    [[refused()], [RateLimited("slow down")], [fault(), refused()]],
    ids=["refused", "rate limited", "a fault, then refused"],
)
def test_a_provider_that_answers_in_some_way_is_alive(errors: list[ModelError]) -> None:
    health = Health()
    for error in errors:
        health.failed("lab", error)
    health.gave_up("lab")


def test_a_decision_given_up_later_is_only_that_decision_s_bad_luck() -> None:
    health = Health()
    health.answered("lab")
    health.failed("lab", fault())
    health.failed("lab", fault())
    health.gave_up("lab")
