"""A variant: what is asked for goes by another field, and schema, shape, form and random answers follow from that."""

from __future__ import annotations

from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.prompt import Prompt
from agentsim.engine.random_policy import random_decision
from agentsim.engine.reading import Decision
from agentsim.engine.request import Choice, Number, Options, Request, Text, Variant

ERRANDS = Variant(
    "do",
    {
        "buy": {"good": Choice(("tin", "corn")), "price": Number(1, 9)},
        "sell": {"good": Choice(("corn", "hay")), "price": Number(2, None)},
        "say": {"text": Text(20, "your words")},
    },
)


class Errand(Decision):
    do: str
    how: dict[str, Any]


class Run(Request[Errand]):
    def options(self) -> Options:
        return {"do": Choice(("rest", *ERRANDS.fields)), "how": ERRANDS}

    def prompt(self) -> Prompt:
        return Prompt((), (), (), (self.answer_line,))

    def fallback(self) -> Errand:
        return Errand(do="rest", how={})


def test_a_schema_has_the_fields_of_all_variants_and_what_is_shared_may_be_what_either_allows() -> None:
    assert Run(player="A").schema()["properties"]["how"]["properties"] == {
        "good": {"type": ["string", "null"], "enum": ["tin", "corn", "hay", None]},
        "price": {"type": ["integer", "null"], "minimum": 1},
        "text": {"type": ["string", "null"], "maxLength": 20},
    }


def test_the_shape_names_the_fields_by_value() -> None:
    assert Run(player="A").form() == (
        '{"do": "<rest, buy, sell or say>", "how": {<of buy or sell: "good", "price"; of say: "text"; else none>}}'
    )


def test_a_person_is_asked_for_the_fields_of_what_it_chose_alone() -> None:
    request = Run(player="A")
    assert request.form_schema("how", {}, {"do": "say"})["required"] == ["text"]
    assert request.form_schema("how", {}, {"do": "rest"})["properties"] == {}


def test_closed_choices_are_among_the_legal_values_by_path() -> None:
    assert list(Run(player="A").legal) == ["do", "how.good"]


def test_a_random_answer_has_the_fields_of_what_it_chose() -> None:
    drawn = [random_decision(Run(player="A"), Stream(str(number))) for number in range(50)]
    kinds = {(each.do, *each.how) for each in drawn if isinstance(each, Errand)}
    assert kinds == {("rest",), ("buy", "good", "price"), ("sell", "good", "price"), ("say", "text")}
