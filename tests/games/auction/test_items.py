"""Items files: what is one, what is none and what is said of it, and that writing and reading are inverse."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.games.auction.items import MOST, THEMES, Item, read_items, written
from tests.amounts import each_row

REQUIRED = THEMES["blaster"].required

SEED_EXAMPLE = """\
[
  {
    "Name": "The Visionary Compass",
    "Quality": 85,
    "IsRequired": true
  },
  {
    "Name": "Rusty Gear",
    "Quality": 15,
    "IsRequired": false
  },
  {
    "Name": "The Resilience Gyroscope",
    "Quality": 92,
    "IsRequired": true
  }
]
"""
THREE = (
    Item("The Visionary Compass", 85, True),
    Item("Rusty Gear", 15, False),
    Item("The Resilience Gyroscope", 92, True),
)


def entry(**changes: Any) -> dict[str, Any]:
    """One good item, changed; `...` takes a key away."""
    fields = {"Name": "Rusty Gear", "Quality": 15, "IsRequired": False} | changes
    return {key: value for key, value in fields.items() if value is not ...}


def third(**changes: Any) -> str:
    """A list whose third item is changed."""
    return json.dumps([entry(), entry(), entry(**changes)])


def test_the_specifications_example_is_read_and_written_byte_for_byte() -> None:
    assert read_items(SEED_EXAMPLE) == THREE
    assert written(THREE) == SEED_EXAMPLE


def test_the_set_has_ten_names() -> None:
    assert len(set(REQUIRED)) == 10


# The last planes hold nothing but what no one can see.
visible = st.characters(codec="utf-8", exclude_categories=["C", "Z"], max_codepoint=0xDFFFF)
names = st.text(visible, min_size=1, max_size=80)


@given(st.lists(st.builds(Item, names, st.integers(1, 100), st.just(False)), min_size=1, max_size=20))
def test_what_is_written_is_read(items: list[Item]) -> None:
    assert read_items(written(items)) == tuple(items)


def test_names_are_written_as_they_are_read_by_people() -> None:
    assert "Zębatka — 齿轮" in written([Item("Zębatka — 齿轮", 1, False)])


@pytest.mark.parametrize("count", [1, MOST])
def test_a_list_may_be_as_short_as_one_and_as_long_as_five_hundred(count: int) -> None:
    assert len(read_items(json.dumps([entry()] * count))) == count


def test_equal_items_are_several_and_required_names_are_free() -> None:
    text = json.dumps([entry(), entry(), entry(Name="My own component", IsRequired=True)])
    assert read_items(text)[2] == Item("My own component", 15, True)


def test_a_name_may_have_eighty_characters_of_any_script() -> None:
    assert read_items(third(Name="ż" * 80))[2].name == "ż" * 80
    assert read_items(third(Name="Gear \U0001f527"))[2].name == "Gear \U0001f527"


KEYS = "Name, Quality and IsRequired"
NAME = "Name must be 1 to 80 visible characters on one line, without space at its ends"
QUALITY = "item 3: Quality must be a whole number from 1 to 100, found"
BAD: dict[str, tuple[str, str]] = {
    "nothing": ("", "line 1, column 1: not JSON: Expecting value"),
    "cut off": (
        '[\n  {"Name": "x",\n',
        "line 3, column 1: not JSON: Expecting property name enclosed in double quotes",
    ),
    "byte order mark": ("\ufeff[]", "line 1, column 1: not JSON: Unexpected UTF-8 BOM (decode using utf-8-sig)"),
    "two documents": ("[]\n[]", "line 2, column 1: not JSON: Extra data"),
    "object": ("{}", "must be a list of 1 to 500 items, found an object"),
    "a number without end": ("NaN", "must be a list of 1 to 500 items, found nan"),
    "empty list": ("[]", "must be a list of 1 to 500 items, found an empty list"),
    "too many": (json.dumps([entry()] * 501), "must be a list of 1 to 500 items, found a list of 501"),
    "too deep": ("[" * 100_000, "nested too deep; must be a list of items"),
    "a word for an item": ('["Rusty Gear"]', f"item 1: must be an object with {KEYS}, found 'Rusty Gear'"),
    "a list for an item": (json.dumps([entry(), [[[]]]]), f"item 2: must be an object with {KEYS}, found a list of 1"),
    "null for an item": ("[null]", f"item 1: must be an object with {KEYS}, found null"),
    "missing key": (third(Quality=...), "item 3: Quality is missing"),
    "missing keys": (third(Quality=..., Name=...), "item 3: Name and Quality are missing"),
    "an item of nothing": ("[{}]", f"item 1: {KEYS} are missing"),
    "near key": (third(quality=5), "item 3: unknown key 'quality' (did you mean Quality?)"),
    "renamed key": (third(Required=True, IsRequired=...), "item 3: unknown key 'Required' (did you mean IsRequired?)"),
    "far key": (third(Colour="red"), f"item 3: unknown key 'Colour' (valid: {KEYS})"),
    "same key twice": (
        '[{"Name": "a", "Quality": 1, "Quality": 2, "IsRequired": false}]',
        "item 1: Quality is there 2 times; once would be valid",
    ),
    "too good": (third(Quality=150), f"{QUALITY} 150"),
    "worthless": (third(Quality=0), f"{QUALITY} 0"),
    "a fraction": (third(Quality=85.5), f"{QUALITY} 85.5"),
    "a float": (third(Quality=85.0), f"{QUALITY} 85.0"),
    "a boolean": (third(Quality=True), f"{QUALITY} true"),
    "digits in quotes": (third(Quality="85"), f"{QUALITY} '85'"),
    "no number": (third(Quality=float("nan")), f"{QUALITY} nan"),
    "no end": (third(Quality=float("inf")), f"{QUALITY} inf"),
    "more digits than Python reads": (third().replace("15", "9" * 5000), f"{QUALITY} {'9' * 27}...".replace("3", "1")),
    "an object for a number": (third(Quality={"x": 1}), f"{QUALITY} an object"),
    "a number for yes": (third(IsRequired=1), "item 3: IsRequired must be true or false, found 1"),
    "a word for no": (third(IsRequired="false"), "item 3: IsRequired must be true or false, found 'false'"),
    "nothing for no": (third(IsRequired=None), "item 3: IsRequired must be true or false, found null"),
    "no name": (third(Name=""), f"item 3: {NAME}, found ''"),
    "blank name": (third(Name="  "), f"item 3: {NAME}, found '  '"),
    "space at the end": (third(Name="Gear "), f"item 3: {NAME}, found 'Gear '"),
    "long name": (third(Name="x" * 81), f"item 3: {NAME}, found '{'x' * 57}...'"),
    "two lines": (third(Name="Gear\nBid 0"), f"item 3: {NAME}, found 'Gear\\nBid 0'"),
    "tab": (third(Name="Gear\t1"), f"item 3: {NAME}, found 'Gear\\t1'"),
    "escape sequence": (third(Name="\x1b[31mGear"), f"item 3: {NAME}, found '\\x1b[31mGear'"),
    "override": (third(Name="Gear\u202e1"), f"item 3: {NAME}, found 'Gear\\u202e1'"),
    "half a character": (third(Name="Gear\ud800"), f"item 3: {NAME}, found 'Gear\\ud800'"),
    "a number for a name": (third(Name=7), f"item 3: {NAME}, found 7"),
    "required and not": (
        third(IsRequired=True),
        "item 3: IsRequired is true, but item 1 of the same name 'Rusty Gear' says false; all of one name must say the "
        "same",
    ),
    "eleven required": (
        json.dumps([entry(Name=name, IsRequired=True) for name in (*REQUIRED, *REQUIRED, "Eleventh")]),
        "item 21: 'Eleventh' is a required name too many; at most 10 different ones would be valid",
    ),
}


@each_row("text, problem", BAD.values())
def test_what_is_no_items_file_is_told_where_and_what_would_be(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)) as raised:
        read_items(text)
    assert str(raised.value) == problem
    assert problem.isprintable(), "one line, nothing hidden"


@given(
    st.text(max_size=50) | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps)
)
def test_no_text_does_more_than_be_refused_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        read_items(text)
    assert type(raised.value) is ValueError
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 300
