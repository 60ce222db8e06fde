"""Probabilities: what stated numbers mean together, which are refused, and how an answer in them is read."""

from __future__ import annotations

import json
from math import isclose, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.options import PerKey, Probabilities
from agentsim.engine.probabilities import brier_score, log_score, normalized, stated_in
from agentsim.engine.request import Request
from agentsim.engine.survey import SurveyAnswers
from agentsim.engine.truth import Truth, truth_at
from agentsim.engine.wording import Prompt
from agentsim.errors import DecisionError
from tests.amounts import each_row

NAMES = ("Ann", "Bea", "Cyd")


class Who(Request[SurveyAnswers]):
    """A survey of one question."""

    def options(self) -> dict[str, Any]:
        return {"answers": PerKey({"who": Probabilities(NAMES)})}

    def prompt(self) -> Prompt:
        return Prompt((), (), (), (self.answer_line,))


@each_row(
    "stated, meant",
    [
        ({"a": 60, "b": 40}, (0.6, 0.4)),
        ({"a": 0.6, "b": 0.4}, (0.6, 0.4)),
        ({"a": "60%", "b": "40 percent"}, (0.6, 0.4)),
        ({"a": 3, "b": 2}, (0.6, 0.4)),
        ({"a": "3/5", "b": "2 in 5"}, (0.6, 0.4)),
        ({"a": "3:2", "b": "3 to 2 against"}, (0.6, 0.4)),
        ({"a": 1, "b": 0}, (1.0, 0.0)),
        ({"a": 1, "b": 1}, (0.5, 0.5)),
        ({"a": 59.4, "b": 39.6}, (0.6, 0.4)),
        ({"a": 0.57, "b": 0.38}, (0.6, 0.4)),
        ({"a": "60%", "b": 40}, (0.6, 0.4)),
        ({"a": "60%", "b": 0.4}, (0.6, 0.4)),
        ({"a": "0,6", "b": "about 0.4"}, (0.6, 0.4)),
        ({"a": "100%", "b": 0}, (1.0, 0.0)),
        ({"a": 90, "b": 60}, (0.6, 0.4)),
        ({"a": "60%", "b": "the rest"}, (0.6, 0.4)),
        ({"a": "3 to 2", "b": "Remainder."}, (0.6, 0.4)),
        ({"a": "the rest", "b": "100%"}, (0.0, 1.0)),
    ],
)
def test_percent_decimals_fractions_odds_and_parts_mean_the_same(stated: Any, meant: tuple[float, float]) -> None:
    assert list(normalized(stated).values()) == pytest.approx(meant)


@each_row(
    "stated, reason",
    [
        ({"a": 0, "b": 0.0}, "must not all be zero"),
        ({"a": -1, "b": 2}, "must be numbers from 0, found -1 for a"),
        ({"a": 1.0, "b": 60}, "must add up to 100 percent, and add up to 61"),
        ({"a": 0.6, "b": 40}, "must add up to 100 percent"),
        ({"a": 0.2, "b": 0.3}, "must add up to 100 percent"),
        ({"a": "60%", "b": "10%"}, "all in the same unit"),
        ({"a": "60%", "b": 7}, "all in the same unit"),
        ({"a": "likely", "b": "40%"}, "found 'likely' for a"),
        ({"a": "20-30", "b": "70"}, "found '20-30' for a"),
        ({"a": 60, "b": "the rest"}, "must give the rest of marked percentages"),
        ({"a": 0.6, "b": "rest"}, "must give the rest of marked percentages"),
        ({"a": "rest", "b": "rest"}, "once"),
        ({"a": "101%", "b": "the rest"}, "it must be there"),
        ({"a": "60%", "b": "the rest of it"}, "found 'the rest of it' for b"),
        ({"a": "1,000", "b": "1"}, "found '1,000' for a"),
        ({"a": float("nan"), "b": 1}, "must be numbers from 0"),
        ({"a": float("inf"), "b": 1}, "must be numbers from 0"),
        ({"a": 10**400, "b": 1}, "must be numbers from 0"),
        ({"a": "9" * 400, "b": "1"}, "…"),
    ],
)
def test_numbers_that_mean_nothing_together_are_refused_in_one_line(stated: Any, reason: str) -> None:
    with pytest.raises(ValueError, match="must") as caught:
        normalized(stated)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 200


ANYTHING = st.integers() | st.floats() | st.text(max_size=9)


@given(st.dictionaries(st.sampled_from("abcdef"), ANYTHING, min_size=1))
def test_any_numbers_are_a_distribution_or_refused(stated: dict[str, Any]) -> None:
    try:
        found = normalized(stated)
    except ValueError:
        return
    assert found.keys() == stated.keys()
    assert isclose(sum(found.values()), 1.0)
    assert all(0 <= each <= 1 for each in found.values())


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=6).filter(any), st.integers(1, 50))
def test_parts_do_not_depend_on_their_unit(parts: list[int], times: int) -> None:
    named = {str(index): part for index, part in enumerate(parts)}
    scaled = {name: part * times for name, part in named.items()}
    assert list(normalized(named).values()) == pytest.approx(list(normalized(scaled).values()))


@each_row(
    "reply",
    [
        '{"who": {"Ann": 50, "Bea": 30, "Cyd": 20}}',
        '{"who": {"ann": 50, "player Bea": 30, "CYD": 20}}',
        '{"Ann": 50, "Bea": 30, "Cyd": 20}',
        '{"who": "Ann: 50%, Bea: 30%, Cyd: 20%"}',
        '{"who": "Ann: 50%, Bea: 30%, Cyd: the rest"}',
        'I think so.\n```json\n{"who": {"Ann": "50%", "Bea": "30%", "Cyd": "20%"}}\n```',
        '{"who": {"Ann": 0.5, "Bea": 0.3, "Cyd": 0.2}}',
    ],
)
def test_an_answer_is_read_and_keeps_the_numbers_as_stated(reply: str) -> None:
    decision = Who(player="Ann").parse(reply).decision
    Who(player="Ann").check(decision)
    assert list(normalized(decision.answers["who"]).values()) == pytest.approx([0.5, 0.3, 0.2])  # type: ignore[arg-type]
    assert SurveyAnswers.model_validate_json(decision.model_dump_json()) == decision


@each_row(
    "reply, reason",
    [
        ('{"who": {"Ann": 0, "Bea": 0, "Cyd": 0}}', "must not all be zero"),
        ('{"who": {"Ann": 60, "Bea": 40}}', "there is none for Cyd"),
        ('{"who": {"Ann": 60, "Bea": 20, "Cyd": 10, "Zoe": 10}}', "Zoe is not among them"),
        ('{"who": {"Ann": -1, "Bea": 20, "Cyd": 10}}', "found -1 for Ann"),
        ('{"who": {"Ann": true, "Bea": 20, "Cyd": 10}}', "another value for Ann"),
        ('{"who": {"Ann": [1], "Bea": 20, "Cyd": 10}}', "another value for Ann"),
        ('{"who": "Ann"}', "must be an object with a number for each of: Ann, Bea, Cyd"),
        ('{"who": null}', "no probabilities about: who"),
        ("I give Ann 60%, Bea 30% and Cyd the rest.", "There is no decision in the reply"),
        ("I would not give Ann: 60%, Bea: 30%, Cyd: 10%", ""),
        ('{"who": "I give Ann 60%, Bea 30% and Cyd the rest."}', "must be an object with a number for each"),
        ('{"who": "Ann: 50%, Ann: 90%, Bea: 5%, Cyd: 5%"}', "must be an object with a number for each"),
    ],
)
def test_an_answer_that_is_no_distribution_is_refused_with_the_reason(reply: str, reason: str) -> None:
    with pytest.raises(DecisionError) as caught:
        Who(player="Ann").parse(reply)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_question_says_its_form_and_the_schema_has_every_name() -> None:
    asked = Who(player="Ann")
    assert asked.form() == '{"who": {"Ann": <percent>, "Bea": <percent>, "Cyd": <percent>}}'
    (who,) = asked.schema()["properties"].values()
    assert who["required"] == list(NAMES)
    assert {json.dumps(each) for each in who["properties"].values()} == {'{"type": "number", "minimum": 0}'}


def test_numbers_by_name_are_found_in_a_line_of_words() -> None:
    assert stated_in("Ann: 60%; Bea: 0,4") == {"Ann": "60%", "Bea": "0,4"}
    assert stated_in("Ann: 60, Bea: 40") == {"Ann": "60", "Bea": "40"}
    assert stated_in("It will be Ann") == {}


def test_scores_are_those_of_the_literature() -> None:
    """Brier (1950): over all outcomes, 0 to 2; the log score is that of the outcome that happened."""
    certain, even = {"a": 1.0, "b": 0.0}, {"a": 0.5, "b": 0.5}
    assert (brier_score(certain, "a"), brier_score(certain, "b"), brier_score(even, "a")) == (0, 2, 0.5)
    assert brier_score({"a": 0.7, "b": 0.2, "c": 0.1}, "a") == pytest.approx(0.09 + 0.04 + 0.01)
    assert log_score(even, "b") == pytest.approx(log(2))
    assert log_score(certain, "b") == pytest.approx(log(1000)), "one zero does not make every mean infinite"


def test_a_belief_is_about_the_next_occurrence_or_the_state_that_holds() -> None:
    truths = [
        Truth("role", "seer", 1, "Ann", lasting=True, public=9),
        Truth("cash", 5, 2, "Ann", lasting=True),
        Truth("died", "Bea", 4, public=4),
        Truth("cash", 7, 6, "Ann", lasting=True),
        Truth("died", "Cyd", 8, public=8),
    ]
    found = [truth_at(truths, "died", None, events) for events in (0, 3, 4, 7, 8)]
    assert [each and each.value for each in found] == ["Bea", "Bea", "Cyd", "Cyd", None]
    held = [truth_at(truths, "cash", "Ann", events) for events in (1, 2, 5, 6)]
    assert [each and each.value for each in held] == [None, 5, 5, 7]
    known = [truth_at(truths, "role", "Ann", events) for events in (1, 8, 9)]
    assert [each and each.value for each in known] == ["seer", "seer", None], "all know it from event 9 on"
