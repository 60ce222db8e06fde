"""WholeNumber: which spellings are a whole number, and that none changes its value."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from agentsim.engine.decision import MAX_DIGITS, Decision, Real, WholeNumber, whole
from agentsim.errors import DecisionError, UnreadableReply
from tests.amounts import each_row
from tests.engine.small import Terms


class Offer(Decision):
    amount: WholeNumber


class Make(Terms[Offer]):
    """How much?"""


MAKE = Make(player="A")


def _read(literal: str) -> int:
    """The amount of a reply in which it is written like this, quotes included."""
    return MAKE.parse(f'{{"amount": {literal}}}').decision.amount


ACCEPTED: dict[str, tuple[str, int]] = {
    "integer": ("150", 150),
    "zero": ("0", 0),
    "minus zero": ("-0", 0),
    "negative": ("-5", -5),
    "real": ("150.0", 150),
    "real with more zeros": ("150.000", 150),
    "negative real": ("-5.0", -5),
    "18 digits": ("9" * 18, 10**18 - 1),
    "18 digits and a fraction": ("9" * 18 + ".0", 10**18 - 1),
    "minus and 18 digits": ("-" + "9" * 18, 1 - 10**18),
    "text": ('"150"', 150),
    "text, zero": ('"0"', 0),
    "text with space around": ('" \\n150\\t "', 150),
    "text, real": ('"150.0"', 150),
    "text, with cents": ('"150.00"', 150),
    "text, plus": ('"+5"', 5),
    "text, minus": ('"-5"', -5),
    "text, 18 digits": ('"' + "9" * 18 + '"', 10**18 - 1),
    "comma": ('"1,000"', 1000),
    "two commas": ('"1,000,000"', 1_000_000),
    "comma and cents": ('"1,000.00"', 1000),
    "space": ('"12 000"', 12_000),
    "no-break space": ('"1\u00a0000"', 1000),
    "narrow no-break space": ('"1\u202f000"', 1000),
    "thin space": ('"1\u2009000"', 1000),
    "underscore": ('"1_000"', 1000),
    "apostrophe": ('"1\'000"', 1000),
    "curly apostrophe": ('"1’000"', 1000),
    "18 digits in groups": ('"' + ",".join(["999"] * 6) + '"', 10**18 - 1),
    "dollar before": ('"$150"', 150),
    "dollar and space before": ('"$ 150"', 150),
    "euro behind": ('"150€"', 150),
    "euro and space behind": ('"1 500 €"', 1500),
    "minus, dollar": ('"-$5"', -5),
    "dollar, minus": ('"$-5"', -5),
    "minus, euro behind": ('"-5 €"', -5),
    "yen": ('"¥150"', 150),
    "list of one": ("[150]", 150),
    "in an object": ('{"amount": 150}', 150),
    "dot last": ('"150."', 150),
    "currency in letters": ('"150 USD"', 150),
    "brackets": ('"(150)"', 150),
    "a unit": ('"150 credits"', 150),
    "euro by escape": ('"\\u20ac150"', 150),
    "fullwidth digits": ('"１５０"', 150),
    "fullwidth digits in groups": ('"１，５００"', 1500),
    "Arabic digits": ('"١٥٠"', 150),
}


@each_row("literal, expected", ACCEPTED.values())
def test_is_a_whole_number(literal: str, expected: int) -> None:
    amount = _read(literal)
    assert amount == expected
    assert type(amount) is int, "what is journalled and compared is a plain int"


REFUSED = {
    "true": "true",
    "false": "false",
    "list of two": "[150, 160]",
    "another object": '{"mood": 150, "amount": 160}',
    "fraction": "150.5",
    "tiny fraction": "150.0000000000000000001",
    "exponent": "1e9",
    "small exponent": "1e2",
    "exponent in capitals": "15E1",
    "real with exponent": "1.5e2",
    "negative exponent": "1500e-1",
    "19 digits": "1" + "0" * 18,
    "minus and 19 digits": "-1" + "0" * 18,
    "19 digits and a fraction": "1" + "0" * 18 + ".0",
    "empty": '""',
    "white space": '"  "',
    "word": '"much"',
    "true as text": '"true"',
    "null as text": '"null"',
    "NaN as text": '"NaN"',
    "Infinity as text": '"Infinity"',
    "exponent as text": '"1e9"',
    "fraction as text": '"150.5"',
    "decimal comma": '"1,5"',
    "decimal comma, two places": '"1,50"',
    "dot that may part thousands": '"1.000"',
    "dots that part thousands": '"1.000.000"',
    "continental": '"1.000,00"',
    "group of two": '"1,00,000"',
    "group of four": '"1,0000"',
    "first group of four": '"1000,000"',
    "first group empty": '",000"',
    "group of zero": '"0,150"',
    "two separators": '"1,000 000"',
    "double separator": '"1,,000"',
    "separator last": '"1,000,"',
    "leading zero": '"0150"',
    "dot first": '".0"',
    "hex": '"0x96"',
    "hex letters": '"ff"',
    "superscript": '"15²"',
    "typographic minus": '"−5"',
    "two signs": '"--5"',
    "sign behind": '"5-"',
    "sign, space": '"- 5"',
    "sign alone": '"-"',
    "currency alone": '"$"',
    "sign and currency alone": '"-$"',
    "currency on both sides": '"$150€"',
    "currency twice": '"$$150"',
    "sign on both sides of the currency": '"-$-5"',
    "currency in the middle": '"1$50"',
    "percent": '"150%"',
    "sum": '"100+50"',
    "two numbers": '"100 or 150"',
    "range": '"100-150"',
    "number of 19 digits as text": '"1' + "0" * 18 + '"',
    "19 digits in groups": '"1' + ",000" * 6 + '"',
    "5000 digits as text": '"' + "9" * 5000 + '"',
    "200000 digits as text": '"' + "9" * 200_000 + '"',
    "200000 groups as text": '"1' + ",000" * 50_000 + 'x"',
}


@pytest.mark.parametrize("literal", REFUSED.values(), ids=REFUSED)
def test_is_none_and_the_reason_is_a_line(literal: str) -> None:
    with pytest.raises(UnreadableReply, match=r"amount must be a whole number\b") as caught:
        _read(literal)
    assert len(str(caught.value)) < 120, "a reason is a line for the model, not a copy of its reply"


@each_row("literal", ["null", "NaN", "Infinity", "-Infinity", "1e999", "0150", "0x96", "9" * 5000])
def test_what_is_no_json_number_is_no_whole_number(literal: str) -> None:
    with pytest.raises(UnreadableReply):
        _read(literal)


@pytest.mark.parametrize("value", [150.0, 1e9, float("nan"), float("inf")])
def test_a_float_that_lost_its_spelling_is_none(value: float) -> None:
    with pytest.raises(ValidationError):
        Offer(amount=value)  # type: ignore[arg-type]  # what a careless caller may do


def test_its_schema_is_a_plain_integer() -> None:
    assert TypeAdapter(WholeNumber).json_schema() == {"type": "integer"}


@given(st.integers(1 - 10**MAX_DIGITS, 10**MAX_DIGITS - 1))
def test_every_number_survives_the_journal(amount: int) -> None:
    offer = Offer(amount=amount)
    assert Offer.model_validate_json(offer.model_dump_json()) == offer
    assert hash(offer) == hash(Offer(amount=amount))


@given(
    st.integers(1 - 10**MAX_DIGITS, 10**MAX_DIGITS - 1),
    st.sampled_from(["", ",", "_", "'", "’", " ", "\u00a0", "\u2009", "\u202f"]),
    st.sampled_from(["", ".0", ".00"]),
    st.sampled_from([("", ""), ("$", ""), ("€ ", ""), ("", "$"), ("", "\u00a0€")]),
    st.sampled_from(["", " ", "\n", "\u202f"]),
)
def test_every_number_survives_every_accepted_spelling(
    amount: int, separator: str, fraction: str, currency: tuple[str, str], space: str
) -> None:
    sign = "-" if amount < 0 else ""
    digits = f"{abs(amount):,}".replace(",", separator) + fraction
    before, behind = currency
    for spelling in (f"{sign}{before}{digits}{behind}", f"{before}{sign}{digits}{behind}"):
        assert _read(json.dumps(space + spelling + space)) == amount
        assert _read(json.dumps(space + spelling + space, ensure_ascii=False)) == amount
    assert _read(f"{amount}{fraction}") == amount


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.sampled_from("019+-.,_ '$€ex"), max_size=12),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


@given(ANYTHING)
def test_nothing_accepted_changes_its_value(value: Any) -> None:
    try:
        amount = Offer.model_validate({"amount": value}).amount
    except ValidationError:
        return
    assert abs(amount) < 10**MAX_DIGITS
    if isinstance(value, str):
        plain = "".join(letter for letter in value if letter in "0123456789.-")
        assert float(plain) == float(amount)
    else:
        assert type(value) is int
        assert amount == value


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,4})?([eE][+-]?[0-9]{1,2})?", fullmatch=True))
def test_no_json_number_changes_its_value(literal: str) -> None:
    try:
        amount = _read(literal)
    except DecisionError:
        return
    assert "e" not in literal.casefold()
    before, _, behind = literal.partition(".")
    assert int(before) == amount
    assert not behind.strip("0")


def test_a_real_remembers_how_it_was_written() -> None:
    real = Real("1.50")
    assert (real, real.text) == (1.5, "1.50")
    for again in (copy.copy(real), copy.deepcopy(real), pickle.loads(pickle.dumps(real))):
        assert (again, again.text) == (1.5, "1.50")
    assert json.dumps([real]) == "[1.5]"


def test_an_int_subclass_becomes_a_plain_int() -> None:
    class Count(int):
        pass

    assert type(whole(Count(5))) is int
