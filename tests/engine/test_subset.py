"""Lists of legal values: some of them, or all of them in an order. Schema, shape, check, form and reading follow."""

from __future__ import annotations

from typing import Any

import pytest

from agentsim.engine import Options, Order, Subset
from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Request
from agentsim.engine.wording import Prompt
from agentsim.errors import DecisionError, IllegalDecision
from tests.amounts import each_row
from tests.players.filled import Filled

TEAM = ("Ada", "Bo", "Cy")


class Ranked(Decision):
    invited: tuple[str, ...]
    ranking: tuple[str, ...]


class Rank(Request[Ranked]):
    """Who is invited, and who is best?"""

    least: int = 0

    def options(self) -> Options:
        return {"invited": Subset(TEAM, self.least, 2), "ranking": Order(TEAM, "the best first")}

    def prompt(self) -> Prompt:
        return Prompt((), (), (), (self.answer_line,))

    def fallback(self) -> Ranked:
        return Ranked(invited=TEAM[: self.least], ranking=TEAM)


REQUEST = Rank(player="A")
BEST = ["Cy", "Ada", "Bo"]


def test_the_schema_bounds_the_list_and_closes_its_values() -> None:
    items = {"type": "string", "enum": [*TEAM]}
    assert REQUEST.schema()["properties"] == {
        "invited": {"type": "array", "items": items, "minItems": 0, "maxItems": 2},
        "ranking": {"type": "array", "items": items, "minItems": 3, "maxItems": 3},
    }


def test_the_shape_of_an_answer_says_how_many_and_in_which_order() -> None:
    assert REQUEST.form() == (
        '{"invited": [<0 to 2 of Ada, Bo and Cy>], "ranking": [<all of Ada, Bo and Cy, the best first>]}'
    )


@pytest.mark.parametrize(
    ("invited", "ranking", "why"),
    [
        (TEAM, TEAM, "invited must be 0 to 2 of: Ada, Bo, Cy."),
        (("Ada", "Ada"), TEAM, "invited must be 0 to 2 of: Ada, Bo, Cy; Ada stands twice."),
        (("Dan",), TEAM, "invited must be 0 to 2 of: Ada, Bo, Cy; Dan is not among them."),
        ((), ("Ada", "Bo"), "ranking must be all of these, each once, in your order: Ada, Bo, Cy."),
        (
            (),
            ("Ada", "Bo", "Bo"),
            "ranking must be all of these, each once, in your order: Ada, Bo, Cy; Bo stands twice.",
        ),
    ],
)
def test_a_list_that_is_not_legal_is_refused_with_what_would_be(
    invited: tuple[str, ...], ranking: tuple[str, ...], why: str
) -> None:
    with pytest.raises(IllegalDecision) as refused:
        REQUEST.check(Ranked(invited=invited, ranking=ranking))
    assert str(refused.value) == why


@each_row(
    "said, invited",
    [
        ('["Bo", "ada"]', ("Bo", "Ada")),
        ('"Bo and Ada"', ("Bo", "Ada")),
        ('"Player Bo, Cy"', ("Bo", "Cy")),
        ('"Cy"', ("Cy",)),
        ("[]", ()),
        ("null", ()),
        ('"nobody"', ()),
    ],
)
def test_a_list_is_read_as_it_is_meant(said: str, invited: tuple[str, ...]) -> None:
    reading = REQUEST.parse(f'{{"invited": {said}, "ranking": "Cy > Ada > Bo"}}')
    assert reading.decision == Ranked(invited=invited, ranking=("Cy", "Ada", "Bo"))


@pytest.mark.parametrize("said", ['["Dan"]', '["Ada", "Bo", "Cy"]', '["Ada", "Ada"]'])
def test_no_value_is_left_out_of_a_list_that_is_not_legal(said: str) -> None:
    with pytest.raises(DecisionError):
        REQUEST.check(REQUEST.parse(f'{{"invited": {said}, "ranking": ["Cy", "Ada", "Bo"]}}').decision)


def test_null_is_no_list_where_some_are_needed() -> None:
    with pytest.raises(DecisionError):
        Rank(player="A", least=1).parse('{"invited": null, "ranking": ["Cy", "Ada", "Bo"]}')


@pytest.mark.parametrize(
    ("lines", "invited"),
    [(("ada, CY", "cy, ada, bo"), ["Ada", "Cy"]), (("", "cy, ada, bo"), []), (("Dan", "bo", "cy, ada, bo"), ["Bo"])],
)
def test_a_person_types_the_values_between_commas(lines: tuple[str, ...], invited: list[Any]) -> None:
    assert Filled(REQUEST, *lines).answer() == {"invited": invited, "ranking": BEST}


def test_random_answers_are_legal_and_of_every_length() -> None:
    drawn = [random_decision(REQUEST, Stream(str(number))) for number in range(60)]
    made = [each for each in drawn if isinstance(each, Ranked)]
    assert {len(each.invited) for each in made} == {0, 1, 2}
    assert len({each.ranking for each in made}) == 6


def test_the_fingerprint_tells_other_bounds_and_an_order_from_a_subset() -> None:
    options = (Subset(TEAM), Subset(TEAM, 1), Subset(TEAM, 0, 2), Subset(TEAM, 3, 3), Order(TEAM), Order(TEAM[:2]))
    assert len({option.identity for option in options}) == len(options)


def test_a_fixed_number_of_values_is_said_as_one() -> None:
    two = Subset(TEAM, 2, 2)
    assert (str(two), two.words("")) == ("2 of: Ada, Bo, Cy", "[<2 of Ada, Bo and Cy>]")
