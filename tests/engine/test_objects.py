"""The JSON objects of a text: where they stand, and how whole they are."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.reading.text import Object, scan, strict_spans
from agentsim.errors import AmbiguousReply
from tests.amounts import each_row


def found(text: str) -> list[tuple[str, str, Any]]:
    return [(each.state, text[each.start : each.end], each.value) for each in scan(text)]


@each_row(
    "text, expected",
    [
        ('a {"b": {"c": 1}} d', [("strict", '{"b": {"c": 1}}', {"b": {"c": 1}})]),
        ("{ {} {{}} }{ {", [("strict", "{}", {}), ("strict", "{}", {})]),
        ('{{"b": 1}}', [("strict", '{"b": 1}', {"b": 1})]),
        ('{"b": "} {", "c": 2}', [("strict", '{"b": "} {", "c": 2}', {"b": "} {", "c": 2})]),
        ("{'b': 1,} {\"c\": 2}", [("repaired", "{'b': 1,}", {"b": 1}), ("strict", '{"c": 2}', {"c": 2})]),
        ('{"b": 1, "c": 2', [("cut", '{"b": 1, "c": 2', None)]),
        ('{"b": 1, "c": "2"', [("cut", '{"b": 1, "c": "2"', {"b": 1, "c": "2"})]),
        ('{"b": 1, "c": "2', [("cut", '{"b": 1, "c": "2', None)]),
        ('{"b": 1 2} {"c": 2}', [("broken", '{"b": 1 2}', None), ("strict", '{"c": 2}', {"c": 2})]),
        ("in {1, 2} and {x}", []),
    ],
)
def test_objects_are_found_with_their_state_and_place(text: str, expected: list[tuple[str, str, Any]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "fenced"),
    [
        ('```json\n{"b": 1}\n```', True),
        ('```{"b": 1}```', True),
        ('```\n{"b": 1}', False),
        ('```\nprint()\n```\n{"b": 1}', False),
    ],
)
def test_an_object_that_is_all_of_a_fence_says_so(text: str, fenced: bool) -> None:
    (each,) = scan(text)
    assert each.fenced is fenced


@pytest.mark.parametrize("text", ['{"b": 1, // so I say\n "c": 2}', '{"b": 1 /* or not */}', '{"b": 1} # or not'])
def test_an_object_with_a_comment_is_not_mended(text: str) -> None:
    assert [each.state for each in scan(text)] == (["strict"] if text.startswith('{"b": 1}') else ["broken"])


def objects(text: str) -> list[Object]:
    with suppress(AmbiguousReply):
        return scan(text)
    return []


@given(st.text(st.sampled_from('{}":,ab1 '), max_size=80))
def test_found_objects_stand_where_they_say(text: str) -> None:
    each = objects(text)
    for one, two in pairwise(each):
        assert one.end <= two.start
    for entry in each:
        assert text[entry.start] == "{"
        if entry.state == "strict":
            assert json.loads(text[entry.start : entry.end]) == entry.value


@given(st.text(alphabet='{}"\\\\a', max_size=30))
def test_what_is_whole_is_found_where_it_stands_between_anything(text: str) -> None:
    """Broken objects before it may take it into themselves, and never a part of it."""
    whole = '{"b": 1}'
    place = len(text) + 1
    for start, end in strict_spans(f"{text}\n{whole}\n{text}"):
        assert end <= place or start >= place + len(whole) or (start, end) == (place, place + len(whole))
