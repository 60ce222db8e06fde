"""JSON lines: what `json` would write, and nothing that JSON cannot express."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.codec import canonical, json_line

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
)


@given(VALUES)
def test_a_line_reads_back_as_what_was_written(value: Any) -> None:
    line = json_line(value)
    assert b"\n" not in line
    again = json.loads(line)
    assert json.dumps(again) == json.dumps(value), "to the last bit of a number, keys in their order"


def test_words_for_what_is_no_number_are_words() -> None:
    assert json.loads(json_line({"said": "NaN, or -Infinity"})) == {"said": "NaN, or -Infinity"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), [{"cost": float("nan")}], "\ud800"])
def test_what_json_has_no_word_for_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever the two encoders say
        json_line(value)


@given(VALUES | st.dictionaries(st.integers(), TEXTS, max_size=3))
def test_fingerprints_hash_json_with_sorted_keys(value: Any) -> None:
    assert canonical(value) == json.dumps(value, sort_keys=True)
