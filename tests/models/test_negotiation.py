"""The terms after a rejected request, and the bodies sent under them."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.models.base import UNADJUSTED, Adjustments
from agentsim.models.faults import ErrorReport
from agentsim.models.profiles import BUILT_IN
from agentsim.models.remote import adjustment_words, cap_under, trimmed, without_each_part, without_named_parts
from agentsim.models.wire import messages, responses

EFFORT = {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}
FORMAT = {"format": {"type": "json_schema", "schema": {"type": "object"}}}


def ways(words: str, body: dict[str, Any]) -> list[Adjustments]:
    return list(without_named_parts(ErrorReport(words), body, UNADJUSTED, messages, BUILT_IN["anthropic"]))


@pytest.mark.parametrize(
    "words",
    [
        "This model does not support the effort parameter.",
        "adaptive thinking is not supported on this model",
        "output_config: Extra inputs are not permitted",
    ],
)
def test_reasoning_that_a_messages_host_refuses_is_left_out_whole(words: str) -> None:
    (way,) = ways(words, {"model": "m", "messages": [], **EFFORT})
    assert way == Adjustments(dropped=("reasoning",))
    assert trimmed(way, {"model": "m", **EFFORT}) == {"model": "m"}


def test_a_schema_stays_where_reasoning_is_left_out_beside_it() -> None:
    body = {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low", **FORMAT}}
    assert trimmed(Adjustments(dropped=("reasoning",)), body) == {"output_config": FORMAT}


def test_what_a_refusal_may_mean_is_left_out_one_by_one_and_then_together() -> None:
    body = {"model": "m", "messages": [], "output_config": {"effort": "low", **FORMAT}}
    found = ways("output_config: Extra inputs are not permitted", body)
    assert {Adjustments("tool"), Adjustments("prompt"), Adjustments(dropped=("reasoning",))} <= set(found)
    assert found[-1] == Adjustments("tool", dropped=("reasoning",))


def test_a_schema_that_is_asked_for_in_another_way_is_said() -> None:
    assert list(adjustment_words(Adjustments("tool"))) == [
        "the host enforces a JSON schema for calls of tools alone: replies are asked for as such a call"
    ]
    assert not list(adjustment_words(Adjustments("json_schema")))


STORED = {"model": "m", "input": [], "store": False, "temperature": 1.0}


@pytest.mark.parametrize(
    "report",
    [
        ErrorReport("Unknown parameter: 'store'."),
        ErrorReport("body.store: Extra inputs are not permitted", fields=frozenset(("store",))),
    ],
)
def test_storage_is_turned_off_until_a_refusal_names_it(report: ErrorReport) -> None:
    """Without the field, OpenAI would store the answer."""
    profile = BUILT_IN["openai"]
    (way,) = without_named_parts(report, STORED, UNADJUSTED, responses, profile)
    assert trimmed(way, STORED) == {"model": "m", "input": [], "temperature": 1.0}
    assert not list(
        without_named_parts(ErrorReport("failed to store the response"), STORED, UNADJUSTED, responses, profile)
    )
    candidates = list(without_each_part(STORED, UNADJUSTED, responses, profile))
    assert candidates
    assert all(trimmed(terms, STORED)["store"] is False for terms in candidates)


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
def test_a_cap_that_is_dropped_is_sent_under_no_name(field: str) -> None:
    assert trimmed(Adjustments(dropped=("max_tokens",)), {"model": "m", field: 100}) == {"model": "m"}


@pytest.mark.parametrize(
    ("terms", "cap", "sent"),
    [
        (UNADJUSTED, 400, 400),
        (Adjustments(dropped=("max_tokens",)), 400, None),
        (Adjustments(max_tokens=300), 400, 300),
        (Adjustments(max_tokens=300), None, 300),
        (Adjustments(max_tokens=300), 200, 200),
    ],
)
def test_the_cap_that_is_sent_is_what_the_worst_case_reckons_with(
    terms: Adjustments, cap: int | None, sent: int | None
) -> None:
    assert cap_under(terms, cap) == sent
