"""A part of many bodies is written once, and reads in each as if it had been written there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from agentsim.engine.spelt import SpeltObject, json_of

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@given(st.dictionaries(st.text(), VALUES), st.dictionaries(st.text(), VALUES))
def test_a_body_with_a_spelt_part_is_the_same_bytes(body: dict[str, Any], part: dict[str, Any]) -> None:
    assert json_of({**body, "part": SpeltObject(part)}) == to_json({**body, "part": part})
    assert SpeltObject(part) == part


def test_a_number_that_json_has_no_word_for_is_written_as_the_writer_does() -> None:
    endless = {"maximum": float("inf")}
    assert SpeltObject(endless, to_json).json == to_json(endless)
    with pytest.raises(ValueError, match="Out of range"):
        SpeltObject(endless)
