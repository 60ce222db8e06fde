"""A part of many bodies is written once, and reads in each as if it had been written there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from agentsim.engine.spelt import SpeltObject, json_of
from agentsim.models.base import Call, Sampling
from agentsim.models.openai_compatible import request_body
from agentsim.models.profiles import BUILT_IN

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
CALL = Call((("system", "Rules."), ("user", 'ä \u2028 "go"')), schema=SCHEMA, schema_name="say")


@given(st.dictionaries(st.text(), VALUES), st.dictionaries(st.text(), VALUES))
def test_a_body_with_a_spelt_part_is_the_same_bytes(body: dict[str, Any], part: dict[str, Any]) -> None:
    assert json_of({**body, "part": SpeltObject(part)}) == to_json({**body, "part": part})
    assert SpeltObject(part) == part


def test_a_number_that_json_has_no_word_for_is_written_as_the_writer_does() -> None:
    endless = {"maximum": float("inf")}
    assert SpeltObject(endless, to_json).json == to_json(endless)
    with pytest.raises(ValueError, match="Out of range"):
        SpeltObject(endless)


def test_what_a_scenario_merges_into_it_is_sent_and_spoils_no_other_body() -> None:
    profile = replace(BUILT_IN["openai"], structured="json_schema")
    plain = request_body(profile, "m", CALL, Sampling(max_tokens=8))
    asked = {"response_format": {"json_schema": {"strict": True, "name": "mine"}}}
    merged = request_body(profile, "m", CALL, Sampling(max_tokens=8, extra=asked))
    again = request_body(profile, "m", CALL, Sampling(max_tokens=8))
    assert json_of(merged) == to_json(merged)
    assert merged["response_format"]["json_schema"] == {"name": "mine", "schema": SCHEMA, "strict": True}
    assert json_of(plain) == json_of(again) == to_json(plain)
    assert again["response_format"]["json_schema"]["name"] == "say"


def test_a_schema_is_spelt_once_for_everybody_who_is_asked_the_same() -> None:
    profile = replace(BUILT_IN["openai"], structured="json_schema")
    one, other = (request_body(profile, "m", CALL, Sampling(max_tokens=8))["response_format"] for _ in range(2))
    assert one is other
