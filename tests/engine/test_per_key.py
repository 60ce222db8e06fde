"""One value for each key of an object: what is asked, what is read, what is legal; and words that may not be empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agentsim.engine import Choice, Number, Options, PerKey, Text
from agentsim.engine.chance import Chance
from agentsim.engine.decision import Decision
from agentsim.engine.options import closed_object
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Request
from agentsim.engine.wording import Prompt
from agentsim.errors import IllegalDecision, UnreadableReply
from agentsim.players.page_form import FieldProblem, Form, PageForm


class Lines(Decision):
    lines: dict[str, str]


class Grades(Decision):
    why: str = ""
    grades: dict[str, int]


class Describe(Request[Lines]):
    """What do you say about each?"""

    about: tuple[str, ...] = ("A", "B")

    def options(self) -> Options:
        return {"lines": PerKey(self.about, Text(20, "one line", empty=False))}

    def prompt(self) -> Prompt:
        return Prompt((), (), (), (self.answer_line,))

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"about": self.about}

    def fallback(self) -> Lines:
        return Lines(lines={})


class Grade(Request[Grades]):
    """What does each deserve?"""

    def options(self) -> Options:
        return {"why": Text(40), "grades": PerKey(("A", "B"), Number(1, 6))}

    def prompt(self) -> Prompt:
        return Prompt((), (), (), (self.answer_line,))

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"of": "everybody"}

    def fallback(self) -> Grades:
        return Grades(grades={"A": 6, "B": 6})


class Unnamed(Describe):
    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {}


class Terms(Decision):
    why: str = ""
    terms: dict[str, str | int]


class Offer(Request[Terms]):
    """On which terms?"""

    most: int = 9

    def options(self) -> Options:
        return {"terms": PerKey({"price": Number(1, self.most), "when": Choice(("now", "later"), if_null="later")})}

    def prompt(self) -> Prompt:
        return Prompt((), (), (), (self.answer_line,))


DESCRIBE, GRADE = Describe(player="C"), Grade(player="C")


def test_the_only_field_of_a_decision_is_the_whole_answer() -> None:
    line = {"type": "string", "maxLength": 20}
    assert DESCRIBE.schema() == closed_object({"A": line, "B": line})
    said = '{"A": "<one line, at most 20 characters>", "B": "<one line, at most 20 characters>"}'
    assert DESCRIBE.answer_line == f"Answer: {said}"
    assert DESCRIBE.parse('{"B": " so so ", "a": "good", "D": "x"}').decision == Lines(
        lines={"A": "good", "B": "so so"}
    )


def test_beside_other_fields_the_object_stands_in_its_own() -> None:
    grade = {"type": "integer", "minimum": 1, "maximum": 6}
    inner = closed_object({"A": grade, "B": grade})
    assert GRADE.schema() == closed_object({"why": {"type": "string", "maxLength": 40}, "grades": inner})
    whole = "<a whole number from 1 to 6>"
    assert GRADE.form() == f'{{"why": "<words, at most 40 characters>", "grades": {{"A": {whole}, "B": {whole}}}}}'
    assert GRADE.parse('{"why": "So.", "grades": {"A": 1, "B": 2}}').decision.grades == {"A": 1, "B": 2}


@pytest.mark.parametrize(
    ("reply", "missing"),
    [
        ('{"A": "x"}', "B"),
        ('{"A": "x", "B": "  "}', "B"),
        ('{"A": 4, "B": {}}', "A, B"),
        ('{"B": null, "A": "x"}', "B"),
    ],
)
def test_what_is_missing_is_named(reply: str, missing: str) -> None:
    with pytest.raises(UnreadableReply, match=rf"^There is no line about: {missing}\.$"):
        DESCRIBE.parse(reply)


@pytest.mark.parametrize(
    ("grades", "why"),
    [
        ({"A": 1, "B": 2, "C": 3}, r"grades must have no keys but A, B\."),
        ({"A": 1, "B": 7}, r"grades\.B must be a whole number from 1 to 6\."),
    ],
)
def test_each_value_is_checked_and_a_fallback_may_leave_some_out(grades: dict[str, int], why: str) -> None:
    GRADE.check(Grades(grades={"A": 1, "B": 6}))
    GRADE.check(Grades(grades={"B": 1}))
    with pytest.raises(IllegalDecision, match=why):
        GRADE.check(Grades(grades=grades))


def test_the_fallback_is_legal_though_it_cannot_be_answered() -> None:
    DESCRIBE.check(DESCRIBE.fallback())
    with pytest.raises(UnreadableReply):
        DESCRIBE.parse("{}")


def test_a_person_cannot_leave_out_words_that_may_not_be_empty() -> None:
    form = PageForm(Form(DESCRIBE))
    assert [field.required for field in form.fields] == [True, True]
    with pytest.raises(FieldProblem, match="An empty answer says nothing"):
        form.answered({"A": ["good"], "B": [" "]})
    (why,) = (field for field in PageForm(Form(GRADE)).fields if field.name == "why")
    assert not why.required


def test_the_drawn_answers_are_legal() -> None:
    rng = Chance(1).stream("drawn")
    described, graded = random_decision(DESCRIBE, rng), random_decision(GRADE, rng)
    assert isinstance(described, Lines)
    assert isinstance(graded, Grades)
    DESCRIBE.check(described)
    GRADE.check(graded)


def test_the_question_itself_must_name_what_it_asks_for_in_its_fingerprint() -> None:
    assert DESCRIBE.fingerprint != Describe(player="C", about=("A", "D")).fingerprint
    with pytest.raises(AssertionError, match="no fingerprint names"):
        _ = Unnamed(player="C").fingerprint


def test_each_key_may_have_an_option_of_its_own() -> None:
    offer = Offer(player="C")
    assert offer.form().endswith('"terms": {"price": <a whole number from 1 to 9>, "when": "<now or later>"}}')
    said = offer.parse('{"why": "", "terms": {"price": "4", "when": null}}')
    assert said.decision == Terms(terms={"price": 4, "when": "later"})
    with pytest.raises(IllegalDecision, match=r"terms\.price must be a whole number from 1 to 9\."):
        offer.check(Terms(terms={"price": 10, "when": "now"}))
    drawn = [random_decision(offer, Chance(number).stream("drawn")) for number in range(9)]
    assert {each.terms["when"] for each in drawn if isinstance(each, Terms)} == {"now", "later"}
    assert offer.fingerprint != Offer(player="C", most=8).fingerprint
    with pytest.raises(TypeError, match="one option for all its keys, or a mapping"):
        PerKey(("A",))


def test_a_choice_for_each_is_one_of_its_values() -> None:
    assert PerKey(("A",), Choice(("yes", "no"))).converted({"A": "no", "B": "yes"}, {}) == {"A": "no"}
