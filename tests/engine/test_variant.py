"""A variant: what is asked for goes by another field, and schema, shape, form and random answers follow from that."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from agentsim.engine import Choice, Number, Options, Text, Variant
from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.menu import MenuItem, described, variant
from agentsim.engine.options import JsonObject
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Request
from agentsim.engine.wording import Prompt
from agentsim.errors import IllegalDecision, UnreadableReply
from tests.amounts import each_row

ERRANDS = Variant(
    "do",
    {
        "buy": {"good": Choice(("tin", "corn")), "price": Number(1, 9, about="of silver")},
        "sell": {"good": Choice(("corn", "hay")), "price": Number(2, None)},
        "say": {"text": Text(20, "your words", empty=False)},
    },
)
MENU = variant("do", (MenuItem(name, "", fields) for name, fields in ERRANDS.fields.items()))


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


class Listed(Run):
    def options(self) -> Options:
        return {**super().options(), "how": MENU}


class Dotted(Run):
    def options(self) -> Options:
        return {**super().options(), "how.price": Number(1, 9)}


class Paid(Decision):
    do: Annotated[Literal["pay", "give"], Choice(("pay", "give"), if_null="pay")]
    how: dict[str, int] = Field(default={})


class Pay(Request[Paid]):
    def options(self) -> Options:
        fields = {"give": {"points": Number(1, 9)}, "ask": {"more": Number(1, 9)}}
        return {**super().options(), "how": Variant("do", fields)}


def test_a_schema_has_the_fields_of_all_variants_and_what_is_shared_may_be_what_either_allows() -> None:
    assert Run(player="A").schema()["properties"]["how"]["properties"] == {
        "good": {"type": ["string", "null"], "enum": ["tin", "corn", "hay", None]},
        "price": {"type": ["integer", "null"], "minimum": 1},
        "text": {"type": ["string", "null"], "maxLength": 20},
    }


def test_the_shape_has_the_fields_by_value_with_what_is_legal() -> None:
    assert Run(player="A").form() == (
        '{"do": "<rest, buy, sell or say>", "how": {<of buy: "good": "<tin or corn>", "price": <a whole number from 1 '
        'to 9, of silver>; of sell: "good": "<corn or hay>", "price": <a whole number, 2 or more>; of say: "text": '
        '"<your words, at most 20 characters>"; else none>}}'
    )


def test_of_a_menu_that_the_prompt_lists_the_shape_has_the_names_and_the_rules_judge_the_values() -> None:
    menu = Listed(player="A")
    assert menu.form() == (
        '{"do": "<rest, buy, sell or say>", "how": {<of buy or sell: "good", "price"; of say: "text"; else none>}}'
    )
    menu.check(Errand(do="buy", how={"price": 500}))


def test_of_a_menu_the_texts_that_a_value_does_not_take_are_not_judged_and_those_that_it_takes_are() -> None:
    menu, idle = Listed(player="A"), {"text": "<mind>hm</plan> I say <|im_end|>"}
    for how in ({"good": "tin", "price": 1, **idle}, idle):
        assert menu.parse(json.dumps({"do": "buy", "how": how})).decision == Errand(do="buy", how=how)
    for words in ("<mind>hm</mind> I say nothing.", "I say [INST] nothing."):
        with pytest.raises(UnreadableReply):
            menu.parse(json.dumps({"do": "say", "how": {"text": words}}))


@each_row(
    "do, how, why",
    [
        ("buy", {"good": "tin", "price": 10}, r"how\.price must be a whole number from 1 to 9\."),
        ("buy", {"good": "hay", "price": 1}, r"how\.good must be one of: tin, corn\."),
        ("buy", {"good": "tin"}, r"how\.price is missing\."),
        ("buy", {"good": "tin", "price": None}, r"how\.price must be"),
        ("buy", {"good": "tin", "price": 1, "text": "x"}, r"how must have no keys but good, price\."),
        ("rest", {"price": 1}, r"how must be empty\."),
        ("say", {"text": 5}, r"how\.text must be words\."),
        ("say", {"text": " "}, r"how\.text must be words\."),
    ],
)
def test_a_decision_has_exactly_the_fields_of_its_value_each_of_them_legal(
    do: str, how: dict[str, Any], why: str
) -> None:
    with pytest.raises(IllegalDecision, match=f"^{why}"):
        Run(player="A").check(Errand(do=do, how=how))


def test_a_reply_may_have_null_for_what_is_not_asked_for_whatever_the_values_type_is() -> None:
    said = {"do": "pay", "how": {"points": None, "more": None}}
    assert Pay(player="A").parse(json.dumps(said)).decision == Paid(do="pay", how={})
    said = {"do": "give", "how": {"points": 3, "more": None}}
    assert Pay(player="A").parse(json.dumps(said)).decision == Paid(do="give", how={"points": 3})
    with pytest.raises(UnreadableReply, match=r"how\.points"):
        Pay(player="A").parse('{"do": "give", "how": {"points": null, "more": null}}')


def test_options_for_what_the_answer_has_not_are_an_error() -> None:
    with pytest.raises(TypeError, match=r"^Dotted\.options: Errand has no how\.price; it has do, how$"):
        Dotted(player="A").schema()


def test_a_person_is_asked_for_the_fields_of_what_it_chose_alone() -> None:
    request = Run(player="A")
    how = request.answer_fields.parts["how"]
    assert request.form_field("how", how, {"do": "say"}).option == JsonObject(ERRANDS.fields["say"])
    assert request.form_field("how", how, {"do": "rest"}).option == JsonObject({})


def test_closed_choices_are_among_the_legal_values_by_path() -> None:
    assert list(Run(player="A").legal) == ["do", "how.good"]


def test_a_random_answer_has_the_fields_of_what_it_chose() -> None:
    drawn = [random_decision(Run(player="A"), Stream(str(number))) for number in range(50)]
    kinds = {(each.do, *each.how) for each in drawn if isinstance(each, Errand)}
    assert kinds == {("rest",), ("buy", "good", "price"), ("sell", "good", "price"), ("say", "text")}


def test_a_parameter_that_capabilities_share_is_described_once_and_one_that_differs_for_each() -> None:
    price, few, many = Number(1, 9, about="of silver"), Number(1, 3, about="units"), Number(1, None, about="units")
    buy = MenuItem("buy", "buys", {"price": price, "units": few}, optional=("units",))
    assert list(
        described(
            [
                buy,
                MenuItem("sell", "sells", {"price": price, "units": many}),
                MenuItem("go", "goes", {"far": Number(1, 1)}),
            ]
        )
    ) == [
        "- buy(price, units): buys",
        "- sell(price, units): sells",
        "- go(far): goes",
        "    price: whole number, 1 to 9; of silver",
        "    units of buy: whole number, 1 to 3, may be left out; units",
        "    units of sell: whole number, 1 or more; units",
        "    far: always 1",
    ]
