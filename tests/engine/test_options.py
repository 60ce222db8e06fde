"""Options, every kind of them: what one says of its legal values in one place holds in all the others."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from agentsim.engine import Choice, Number, Options, Order, PerKey, Subset, Text, Variant, options
from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.options import (
    LONGEST,
    LOWEST,
    MISSING,
    Amount,
    Anything,
    Either,
    Fixed,
    FormField,
    JsonObject,
    Kinds,
    LegalValues,
    List,
    Nullable,
    Probabilities,
    RealNumber,
    Schema,
    Several,
    Types,
    YesNo,
    called_value,
    of_schema,
    typed_record,
)
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Request
from agentsim.engine.wording import Prompt
from agentsim.players.page_form import Form, PageField, PageForm
from tests.amounts import examples

NAMES = st.lists(
    st.sampled_from(["Ada", "Bo", "Cy", "Dora", "Ella", "Finn", "Gus", "Hal"]), min_size=1, unique=True
).map(tuple)
WHOLE = st.integers(-50, 50)
CHOICES = st.builds(Choice, NAMES) | st.builds(Choice, st.lists(st.integers(0, 50), min_size=1, unique=True).map(tuple))
NUMBERS = st.builds(
    lambda low, more: Number(low, None if more is None else low + more), WHOLE, st.none() | WHOLE.map(abs)
)
TEXTS = st.builds(Text, st.integers(20, 99), empty=st.booleans())
SUBSETS = st.builds(lambda names, least: Subset(names, min(least, len(names))), NAMES, st.integers(0, 2))
SINGLE = CHOICES | NUMBERS | TEXTS
FIELDS = st.dictionaries(st.sampled_from(["good", "price", "when"]), SINGLE, min_size=1)
EACH = st.builds(PerKey, FIELDS)
VARIANTS = st.dictionaries(st.sampled_from(["a", "b", "c"]), FIELDS, min_size=1).map(
    lambda fields: Variant("do", fields)
)
BELIEFS = st.builds(
    lambda names: PerKey({"who": Probabilities(names)}),
    st.permutations(["Ada", "Bo", "Cy", "Dora"]).map(lambda names: tuple(names[:3])),
)
DECLARED = SINGLE | SUBSETS | st.builds(Order, NAMES) | EACH | VARIANTS | BELIEFS
RECORDS = st.builds(JsonObject, FIELDS)
TYPED = (
    st.sampled_from(
        [
            YesNo(),
            RealNumber(),
            RealNumber(2.5),
            Number(LOWEST, None),
            Text(LONGEST),
            Types((Number(LOWEST, None), Text(LONGEST))),
        ]
    )
    | st.builds(Several, SINGLE, st.just(1), st.none() | st.integers(3, 5))
    | st.builds(lambda *both: Either(both), CHOICES, NUMBERS)
    | st.builds(Nullable, SINGLE)
    | RECORDS
    | RECORDS.map(lambda record: Kinds("do", {"say": JsonObject({"do": Choice(("say",)), **record.parts})}))
)
SEEDS = st.integers(0, 999).map(lambda seed: Stream(str(seed)))


class Answer(Decision):
    do: str
    how: Any


class Ask(Request[Answer]):
    """What do you do, and how?"""

    how: Any

    def options(self) -> Options:
        fields = self.how.fields if isinstance(self.how, Variant) else ("a",)
        return {"do": Choice(tuple(fields)), "how": self.how}

    def prompt(self) -> Prompt:
        return Prompt((), (), (), (self.answer_line,))


TYPES: Mapping[Any, type[Any]] = {
    "string": str,
    "integer": int,
    "number": int,
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}


def validates(value: Any, schema: Schema) -> bool:
    """Check a value by the keywords of JSON Schema that options use; any other is an error."""
    if "anyOf" in schema:
        return any(validates(value, branch) for branch in schema["anyOf"])
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    size = value if type(value) is int else 0 if value is None or type(value) is bool else len(value)
    judges: Mapping[str, Callable[[Any], bool]] = {
        "type": lambda _: type(value) in [TYPES[each] for each in types],
        "enum": lambda values: value in values,
        "minimum": lambda least: value is None or size >= least,
        "maximum": lambda most: value is None or size <= most,
        "maxLength": lambda most: size <= most,
        "minItems": lambda least: size >= least,
        "maxItems": lambda most: size <= most,
        "items": lambda items: all(validates(each, items) for each in value),
        "properties": lambda parts: all(validates(value[name], part) for name, part in parts.items()),
        "required": lambda names: value.keys() == set(names),
        "additionalProperties": lambda more: more is False,
    }
    return all(judges[keyword](limit) for keyword, limit in schema.items())


def test_every_kind_of_option_is_gone_through_here() -> None:
    """A new one is added to `DECLARED` or `TYPED`."""
    kinds = {each for _, each in inspect.getmembers(options, inspect.isclass) if issubclass(each, LegalValues)}
    declared = {Choice, Number, Text, Subset, Order, PerKey, Variant, Probabilities}
    typed = {YesNo, RealNumber, Several, JsonObject, Either, Kinds, Nullable, Types, Amount}
    assert kinds - {LegalValues, List, Anything, Fixed} == declared | typed


@examples(30)
@given(DECLARED, SEEDS)
def test_a_random_value_is_legal_validates_and_is_read_again(option: LegalValues, rng: Stream) -> None:
    request = Ask(player="A", how=option)
    decision = random_decision(request, rng)
    assert isinstance(decision, Answer)
    request.check(decision)
    said = decision.model_dump(mode="json")
    assert request.parse(json.dumps(said)).decision == decision
    if isinstance(option, Variant):  # what is not asked for is null
        said["how"] = {**dict.fromkeys(option.parts), **said["how"]}
    assert validates(said, request.schema())
    assert request.knows(said)
    assert request.parse(json.dumps(said)).decision == decision


@given(TYPED, SEEDS)
def test_a_random_value_of_a_type_validates(option: LegalValues, rng: Stream) -> None:
    drawn = option.random(rng)
    assert isinstance(option, RealNumber) or validates(drawn, option.schema())
    assert option.knows(drawn)


class Limited(Decision):
    share: Annotated[float, Field(gt=0, le=5)]
    lots: Annotated[int, Field(ge=1, multiple_of=5)]
    code: Annotated[str, Field(min_length=2, max_length=9, pattern="^x")]
    pair: tuple[int, str]
    above: Annotated[int, Field(gt=0, lt=9)]


def test_a_schema_keeps_every_limit_of_a_type() -> None:
    assert typed_record(Limited).schema()["properties"] == {
        "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 5},
        "lots": {"type": "integer", "minimum": 1, "multipleOf": 5},
        "code": {"type": "string", "maxLength": 9, "minLength": 2, "pattern": "^x"},
        "pair": {
            "type": "array",
            "items": {},
            "minItems": 2,
            "maxItems": 2,
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
        },
        "above": {"type": "integer", "minimum": 1, "maximum": 8},
    }


@given(SINGLE | TYPED)
def test_a_schema_stands_for_its_option(option: LegalValues) -> None:
    assert of_schema(option.schema()).schema() == option.schema()


@given(SINGLE, SEEDS)
def test_what_stands_for_a_value_on_a_form_is_that_value(option: LegalValues, rng: Stream) -> None:
    value = option.random(rng)
    assert FormField(option).parse(called_value(value)) == value


@given(st.builds(Subset, NAMES) | st.builds(Order, NAMES), SEEDS)
def test_a_list_is_the_same_picked_typed_and_read(option: Subset, rng: Stream) -> None:
    value = option.redrawn([], {}, rng)
    assert option.picked(value) == option.parse(", ".join(map(str, value))) == value
    assert option.read(", ".join(map(str, value)) or "none", ()) in (value, ())


@given(CHOICES | NUMBERS, SEEDS)
def test_a_value_is_read_from_its_words_and_what_is_not_legal_is_named(option: Any, rng: Stream) -> None:
    value = option.random(rng)
    assert option.read(str(value)) == option.read(value) == value
    if isinstance(option, Number) or isinstance(value, str):  # a parameter that is chosen is a text
        assert option.accepted(value) == value
    assert not option.why_not(value)
    assert option.read("Zebedee") is MISSING
    assert option.why_not("Zebedee").startswith("must be ")
    with pytest.raises(ValueError, match="please"):
        option.parse("Zebedee")


@examples(30)
@given(DECLARED, SEEDS)
def test_a_page_takes_a_decision_that_is_sent_from_it(option: LegalValues, rng: Stream) -> None:
    request = Ask(player="A", how=option)
    said = random_decision(request, rng).model_dump(mode="json")
    page = PageForm(Form(request))
    sent: dict[str, list[str]] = {}
    for each in _all(page.fields):
        value: Any = said
        for name in each.path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        sent[each.name] = [called_value(entry) for entry in (value if isinstance(value, list) else [value])]
    assert page.answered(sent) == said


def _all(fields: Any) -> list[PageField]:
    return [
        inner for each in fields for inner in (each, *(below for then in each.then.values() for below in _all(then)))
    ]
