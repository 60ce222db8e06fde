"""Reading: which replies are a decision, which one, and how they were found."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from agentsim.engine.braces import MAX_TEXT
from agentsim.engine.reading import Decision, Pick, find_objects, read, without_thinking
from agentsim.errors import AmbiguousReply, DecisionError, UnreadableReply


class Deal(Decision):
    price: int
    words: str = ""
    extra: Any = None


def _read(text: str, pick: Pick = "last") -> tuple[int, str, int]:
    reading = read(text, Deal, pick)
    return reading.decision.price, reading.stage, reading.candidates


READ: dict[str, tuple[str, tuple[int, str, int]]] = {
    "whole": ('{"price": 5}', (5, "json", 1)),
    "whole with space around": ('\n\t {"price": 5}  \n', (5, "json", 1)),
    "unknown keys": ('{"price": 5, "mood": [1, {"a": {}}]}', (5, "json", 1)),
    "number as text": ('{"price": "5"}', (5, "json", 1)),
    "negative": ('{"price": -5}', (-5, "json", 1)),
    "whole float": ('{"price": 5.0}', (5, "json", 1)),
    "non-ascii words": ('{"price": 5, "words": "größer — 五"}', (5, "json", 1)),
    "fenced": ('```json\n{"price": 5}\n```', (5, "fenced", 1)),
    "fenced, no language": ('```\n{"price": 5}\n```', (5, "fenced", 1)),
    "fenced on one line": ('```json {"price": 5}```', (5, "fenced", 1)),
    "fenced in prose": ('Here it is:\n```json\n{"price": 5}\n```\nGood luck!', (5, "fenced", 1)),
    "two fences": ('```\n{"price": 5}\n```\nor\n```\n{"price": 6}\n```', (6, "fenced", 2)),
    "fence of prose then object": ('```\nprint()\n```\n{"price": 5}', (5, "embedded", 1)),
    "fence that never closes": ('```json\n{"price": 5}\n', (5, "embedded", 1)),
    "prose before": ('I will pay {"price": 5}', (5, "embedded", 1)),
    "prose after": ('{"price": 5} is my answer', (5, "embedded", 1)),
    "prose around": ('So: {"price": 5}, no more.', (5, "embedded", 1)),
    "in a list": ('[{"price": 5}]', (5, "embedded", 1)),
    "two objects": ('{"price": 5} {"price": 6}', (6, "embedded", 2)),
    "example of another shape first": ('{"cost": 5} {"price": 6}', (6, "embedded", 1)),
    "another shape last": ('{"price": 5} {"cost": 6}', (5, "embedded", 1)),
    "placeholder first": ('{"price": <n>} {"price": 6}', (6, "embedded", 1)),
    "template braces": ('{{"price": 5}}', (5, "embedded", 1)),
    "set in prose": ('prices in {1, 2, 3}: {"price": 3}', (3, "embedded", 1)),
    "lone brace before": ('a { b {"price": 5}', (5, "embedded", 1)),
    "lone brace after": ('{"price": 5} }', (5, "embedded", 1)),
    "empty object before": ('{} {"price": 5}', (5, "embedded", 1)),
    "braces in strings": ('{"words": "} {\\"price\\": 9} {", "price": 5}', (5, "json", 1)),
    "object inside is no decision": ('{"price": 5, "extra": {"price": 9}}', (5, "json", 1)),
    "fence in a string": ('{"words": "```json {\\"price\\": 9} ```", "price": 5}', (5, "json", 1)),
    "same key, same value": ('{"price": 5, "price": 5}', (5, "json", 1)),
    "thinking before": ('<think>{"price": 9}</think>{"price": 5}', (5, "json", 1)),
    "thinking after": ('{"price": 5}<think>{"price": 9}</think>', (5, "json", 1)),
    "thinking in capitals": ('<THINKING>\n{"price": 9}\n</THINKING>\n{"price": 5}', (5, "json", 1)),
    "two thoughts": ('<think>a</think><think>{"price": 9}</think> {"price": 5}', (5, "json", 1)),
    "thought in a thought": ('<think>a<think>b</think>{"price": 9}</think>{"price": 5}', (5, "json", 1)),
    "an answer of before the thinking": ('or {"price": 9} <think>a</think> b</think>{"price": 5}', (5, "json", 1)),
    "30 digits": ('{"price": ' + "9" * 30 + "}", (10**30 - 1, "json", 1)),
    "only the end of the thinking": ('hm {"price": 9} or</think>{"price": 5}', (5, "json", 1)),
    "thinking that begins behind an answer": ('{"price": 5}<think>{"price": 9}', (5, "json", 1)),
    "thinking as a word of an answer": ('{"price": 5, "words": "</think> <think>"}', (5, "json", 1)),
    "a beginning as a word in prose": ('Sure. {"words": "<think> is a tag", "price": 5}', (5, "embedded", 1)),
    "an end as a word in a fence": ('```json\n{"words": "a </think>", "price": 5}\n```', (5, "fenced", 1)),
    "a word of an answer, then thinking": ('So {"words": "<think>", "price": 5}<think>9</think>', (5, "embedded", 1)),
    "a word of what was thought": ('<think>or {"words": "<think>", "price": 9}</think>{"price": 5}', (5, "json", 1)),
    "a word in what ends as thinking": ('or {"words": "<think>", "price": 9}</think>{"price": 5}', (5, "json", 1)),
    "thought": ('<thought>{"price": 9}</thought>{"price": 5}', (5, "json", 1)),
    "thoughts": ('<thoughts>{"price": 9}</thoughts>{"price": 5}', (5, "json", 1)),
    "scratchpad": ('<scratchpad>{"price": 9}</scratchpad>{"price": 5}', (5, "json", 1)),
    "analysis": ('<Analysis>{"price": 9}</Analysis>{"price": 5}', (5, "json", 1)),
    "reflection": ('<reflection>{"price": 9}</reflection>{"price": 5}', (5, "json", 1)),
    "thinking in triangles": ('◁think▷{"price": 9}◁/think▷{"price": 5}', (5, "json", 1)),
    "only the end of triangles": ('hm {"price": 9}◁/think▷{"price": 5}', (5, "json", 1)),
    "broken object before": ('{"price": 9,} {"price": 5}', (5, "embedded", 1)),
    "object inside a broken one": ('{"a": oops, "b": {"price": 9}} {"price": 5}', (5, "embedded", 1)),
    "NaN in one of two": ('{"price": 5, "extra": NaN} {"price": 6}', (6, "embedded", 1)),
    "deep but readable": ('{"price": 5, "extra": ' + "[" * 100 + "]" * 100 + "}", (5, "json", 1)),
}


@pytest.mark.parametrize(("text", "expected"), READ.values(), ids=READ)
def test_is_read(text: str, expected: tuple[int, str, int]) -> None:
    assert _read(text) == expected


NOT_READ: dict[str, tuple[str, type[DecisionError], str]] = {
    "empty": ("", UnreadableReply, "empty"),
    "white space": (" \n\t ", UnreadableReply, "empty"),
    "only thinking": ('<think>{"price": 9}</think>', UnreadableReply, "empty"),
    "thinking cut off": ('<think>perhaps {"price": 9} but', UnreadableReply, "empty"),
    "analysis cut off": ('<analysis>perhaps {"price": 9} but', UnreadableReply, "empty"),
    "triangles cut off": ('◁think▷perhaps {"price": 9} but', UnreadableReply, "empty"),
    "prose": ("I pay five.", UnreadableReply, "no complete JSON object"),
    "truncated in a value": ('{"price": 5', UnreadableReply, "no complete JSON object"),
    "truncated in a string": ('{"price": 5, "words": "and', UnreadableReply, "no complete JSON object"),
    "truncated after an inner object": ('{"extra": {"price": 9}, "pri', UnreadableReply, "no complete JSON object"),
    "truncated fence": ('```json\n{"extra": {"price": 9},\n', UnreadableReply, "no complete JSON object"),
    "trailing comma": ('{"price": 5,}', UnreadableReply, "no complete JSON object"),
    "single quotes": ("{'price': 5}", UnreadableReply, "no complete JSON object"),
    "a list": ("[5]", UnreadableReply, "no complete JSON object"),
    "a number": ("5", UnreadableReply, "no complete JSON object"),
    "missing field": ('{"cost": 5}', UnreadableReply, "price: Field required"),
    "wrong type": ('{"price": "five"}', UnreadableReply, "price: Input should be a valid integer"),
    "null": ('{"price": null}', UnreadableReply, "price: Input should be a valid integer"),
    "fraction": ('{"price": 5.5}', UnreadableReply, "price: Input should be a valid integer"),
    "NaN": ('{"price": NaN}', UnreadableReply, "no complete JSON object"),
    "Infinity": ('{"price": -Infinity}', UnreadableReply, "no complete JSON object"),
    "1e999": ('{"price": 1e999}', UnreadableReply, "no complete JSON object"),
    "1e999 where anything goes": ('{"price": 5, "extra": [1e999]}', UnreadableReply, "no complete JSON object"),
    "31 digits": ('{"price": ' + "9" * 31 + "}", UnreadableReply, "no complete JSON object"),
    "5000 digits": ('{"price": ' + "9" * 5000 + "}", UnreadableReply, "no complete JSON object"),
    "5000 digits as text": ('{"price": "' + "9" * 5000 + '"}', UnreadableReply, "price: "),
    "too deep": ('{"price": 5, "extra": ' + "[" * 100_000 + "]" * 100_000 + "}", UnreadableReply, "no complete"),
    "too deep to be written": ('{"price": 5, "extra": ' + "[" * 200 + "]" * 200 + "}", UnreadableReply, "no complete"),
    "objects too deep": ('{"price":' * 25_000, UnreadableReply, "no complete JSON object"),
    "key twice": ('{"price": 5, "price": 6}', AmbiguousReply, "'price' stands twice"),
    "key twice, true and one": ('{"price": 1, "price": true}', AmbiguousReply, "'price' stands twice"),
    "key twice, spelt with an escape": ('{"price": 5, "pric\\u0065": 6}', AmbiguousReply, "'price' stands twice"),
    "key twice inside": ('{"price": 5, "extra": {"a": 1, "a": 2}}', AmbiguousReply, "'a' stands twice"),
}


@pytest.mark.parametrize(("text", "error", "reason"), NOT_READ.values(), ids=NOT_READ)
def test_is_not_read_and_says_why(text: str, error: type[DecisionError], reason: str) -> None:
    with pytest.raises(error) as caught:
        _read(text)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 200, "a reason is a line for the model, not a copy of its reply"


@pytest.mark.parametrize(
    ("text", "last", "first", "leading"),
    [
        ('{"price": 5} {"price": 6}', 6, 5, 5),
        ('  {"price": 5} and then {"price": 6}', 6, 5, 5),
        ('First {"price": 5} then {"price": 6}', 6, 5, None),
        ('{"cost": 1} {"price": 6}', 6, 6, None),
        ('{"price": 5} {"cost": 1}', 5, 5, 5),
        ('```json\n{"price": 5}\n```', 5, 5, None),
    ],
    ids=["two", "space before", "prose before", "another shape first", "another shape last", "fenced"],
)
def test_pick_says_which_object_counts(text: str, last: int, first: int, leading: int | None) -> None:
    assert _read(text, "last")[0] == last
    assert _read(text, "first")[0] == first
    if leading is None:
        with pytest.raises(UnreadableReply):
            _read(text, "leading")
    else:
        assert _read(text, "leading")[0] == leading


class Wish(Decision):
    """An answer that says nothing by force."""

    colour: str = "any"
    size: int = 0


COUNTS: dict[str, tuple[str, Pick, tuple[int, int] | None]] = {
    "last does not fit": ('{"price": 5} {"price": "much"}', "last", None),
    "last is null": ('{"price": 5} or nothing: {"price": null}', "last", None),
    "last lacks a field": ('{"price": 5} {"words": "or not"}', "last", None),
    "last fits": ('{"price": "much"} {"price": 5}', "last", (5, 2)),
    "first does not fit": ('{"price": "much"} {"price": 5}', "first", None),
    "first fits": ('{"price": 5} {"price": "much"}', "first", (5, 2)),
    "leading does not fit": ('{"price": "much"} {"price": 5}', "leading", None),
    "leading fits": ('{"price": 5} {"price": "much"}', "leading", (5, 1)),
    "last is spelt otherwise": ('{"price": 5} no, {"Price": 6}', "last", None),
    "first is spelt otherwise": ('{"PRICE": 6} {"price": 5}', "first", None),
    "spelt otherwise, but not the last": ('{"Price": 6} {"price": 5}', "last", (5, 2)),
    "spelt in two ways": ('{"price": 5, "Price": 6}', "last", None),
    "spelt in two ways, said once": ('{"price": 5, "Price": 5}', "last", (5, 1)),
    "others are passed over": ('{"cost": 1} {"price": 5} {"state": {"price": 9}} {}', "last", (5, 1)),
    "others are passed over, first": ('{"cost": 1} {} {"price": 5}', "first", (5, 1)),
    "fenced, last does not fit": ('```\n{"price": 5}\n```\n```\n{"price": []}\n```', "last", None),
    # what cannot be decoded names its keys all the same
    "last is cut off": ('{"price": 5} no, {"price": 6', "last", None),
    "last is cut off in another key": ('{"price": 5} no, {"words": "a } b", "price": 6', "last", None),
    "last has a comma too many": ('{"price": 5} {"price": 6,}', "last", None),
    "last in single quotes": ("{\"price\": 5} {'price': 6}", "last", None),
    "last in curly quotes": ('{"price": 5} {“price”: 6}', "last", None),
    "last without quotes": ('{"price": 5} { price : 6}', "last", None),
    "last is NaN": ('{"price": 5} {"price": NaN}', "last", None),
    "last is endless": ('{"price": 5} {"price": ' + "9" * 5000 + "}", "last", None),
    "first is broken": ('{"price": 6,} {"price": 5}', "first", None),
    "broken, but not the last": ('{"price": 6,} {"price": 5}', "last", (5, 1)),
    "broken, but not the first": ('{"price": 5} {"price": 6', "first", (5, 1)),
    "broken, of another shape": ('{"price": 5} {"cost": 6,} { priceless: 6 }', "last", (5, 1)),
    "prose about the key": ('{"price": 5}\n"price": what I pay, price: five', "last", (5, 1)),
    "the key behind braces": ('{"price": 5} {x}, "price": "', "last", (5, 1)),
    "the key inside another object": ('{"price": 5} {"echo": {"price": 6}} end', "last", (5, 1)),
}


@pytest.mark.parametrize(("text", "pick", "expected"), COUNTS.values(), ids=COUNTS)
def test_the_object_that_counts_is_not_passed_over_for_another(
    text: str, pick: Pick, expected: tuple[int, int] | None
) -> None:
    if expected is None:
        with pytest.raises(UnreadableReply):
            _read(text, pick)
    else:
        price, _, candidates = _read(text, pick)
        assert (price, candidates) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", Wish()),
        ('{"mood": 1}', Wish()),
        ('{"colour": "red"} {"mood": 1}', Wish(colour="red")),
        ('{"mood": 1} {"size": 3} {}', Wish(size=3)),
        ('{"colour": "red"} {"size": 3}', Wish(size=3)),
    ],
    ids=["empty", "names none", "one names one", "one of three names one", "each names another"],
)
def test_where_every_field_is_optional_an_object_without_any_counts_only_alone(text: str, expected: Wish) -> None:
    assert read(text, Wish, "last").decision == expected


def test_where_every_field_is_optional_one_that_is_spelt_otherwise_is_not_left_out() -> None:
    with pytest.raises(UnreadableReply, match="'Colour' must be spelt 'colour'"):
        read('{"Colour": "red"}', Wish, "last")
    assert read('{"Colour": "red", "size": 3}', Wish, "last").decision == Wish(size=3)


def test_an_object_counts_that_names_a_field_by_its_alias_or_by_its_name() -> None:
    class Aliased(Decision):
        kind: str = Field("none", alias="class")

    assert read('{"class": "a"} {"mood": 1}', Aliased, "last").decision.kind == "a"
    assert read('{"class": "a"} {"kind": "b"}', Aliased, "last").candidates == 2


def test_an_object_can_be_respelt_or_left_out_before_it_counts() -> None:
    def respelt(value: dict[str, Any]) -> dict[str, Any]:
        return {} if "example" in value else {key.lower(): given for key, given in value.items()}

    reading = read('{"PRICE": 5} {"price": 9, "example": true}', Deal, "last", respelt)
    assert (reading.decision.price, reading.candidates) == (5, 1)


HOSTILE = {
    "opening braces": "{" * 100_000,
    "opening keys": '{"' * 100_000,
    "half objects": '{"a":' * 50_000,
    "broken objects": '{"a"}' * 50_000,
    "escaped quotes": '{"' + '\\"' * 100_000,
    "quotes and braces": '{"\\"{' * 50_000,
    "thoughts that never end": "<think>" * 36_000,
    "ends of thoughts": "{" + "</think>" * 30_000,
    "thoughts in a string": '{"a": "' + "<think>" * 30_000 + '"}',
    "thoughts in strings": '{"a": "<think></think>"}' * 3_000,
    "fences": "```" * 80_000,
    "fences of half objects": '```{"```' * 30_000,
    "fences of braces": "```{\n```" * 30_000,
    "brackets": '{"a":' + "[" * 200_000,
    "digits": '{"a":1' + "0" * 200_000 + "}",
    "decimals": '{"a":1.' + "0" * 200_000 + "}",
    "exponent": '{"a":1e' + "9" * 200_000 + "}",
    "spaces": '{"a":' + " " * 250_000,
    "a price, then spaces": '{"price": 5} {' + " " * 100_000 + '{"price"' + " " * 100_000 + ": x",
    "a price, then pairs": '{"price": 5} ' + "{x}" * 80_000 + '{"price":',
    "a price, then commas": '{"price": 5} {"price":' + ', "' * 80_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_reply_takes_long(text: str) -> None:
    """A generous bound: what is quadratic in a quarter of a million characters takes minutes."""
    started = time.process_time()
    with pytest.raises(UnreadableReply):
        _read(text)
    assert time.process_time() - started < 5


def test_what_stands_beyond_the_bound_is_not_looked_at() -> None:
    with pytest.raises(UnreadableReply):
        _read(" " * MAX_TEXT + '{"price": 5}')


@pytest.mark.parametrize(
    ("escape", "expected"),
    [("\\u001b[31mred", "red"), ("\\u0000", ""), ("\\ud83d\\ude00", "😀"), ("\\ud800", "\ufffd"), ("\\u202e", "")],
    ids=["ansi", "nul", "surrogate pair", "lone surrogate", "bidi"],
)
def test_escapes_cannot_smuggle_what_the_door_refuses(escape: str, expected: str) -> None:
    """Replies are cleaned as text; a JSON escape becomes its character only afterwards."""
    decision = read(
        f'{{"price": 5, "words": "{escape}", "extra": {{"{escape}": ["{escape}"]}}}}', Deal, "last"
    ).decision
    assert decision.words == expected
    assert decision.extra == {expected: [expected]}


NOISE = st.text(st.characters(exclude_characters='{}"`<', exclude_categories=["Cs"]), max_size=60)
DEALS = st.builds(
    Deal, price=st.integers(-(10**12), 10**12), words=st.text(st.sampled_from('ab {}[]"\\\n`ü'), max_size=30)
)


@given(DEALS, NOISE, NOISE)
def test_noise_around_an_object_never_changes_it(deal: Deal, before: str, after: str) -> None:
    assert read(before + deal.model_dump_json() + after, Deal, "last").decision == deal


def test_a_whole_thought_in_a_string_is_not_said_aloud() -> None:
    deal = read('{"words": "<think>They must not know.</think>Hello.", "price": 5}', Deal, "last").decision
    assert deal.words == "Hello."


@given(DEALS, NOISE, NOISE)
def test_a_fence_around_an_object_never_changes_it(deal: Deal, before: str, after: str) -> None:
    assert read(f"{before}\n```json\n{deal.model_dump_json()}\n```\n{after}", Deal, "last").decision == deal


@given(DEALS, st.data())
def test_a_truncated_object_is_never_read(deal: Deal, data: st.DataObject) -> None:
    text = json.dumps({"extra": {"price": 9}, **deal.model_dump(exclude={"extra"})})
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(UnreadableReply):
        read(text[:cut], Deal, "last")


@given(st.text(st.sampled_from('{}[]",:\\ \nab1-.eE`<>/think'), max_size=200))
def test_any_text_is_a_decision_or_a_decision_error(text: str) -> None:
    with suppress(DecisionError):
        assert isinstance(read(text, Deal, "last").decision, Deal)


@given(st.text(st.sampled_from('{}":,ab1 '), max_size=80))
def test_found_objects_stand_where_they_say(text: str) -> None:
    try:
        _, found = find_objects(text)
    except AmbiguousReply:
        return
    for one, two in pairwise(found):
        assert one.end <= two.start
    for entry in found:
        assert json.loads(text[entry.start : entry.end]) == entry.value


@given(st.text(st.sampled_from('ab{}" \n'), max_size=40))
def test_text_without_thinking_is_left_alone(text: str) -> None:
    assert without_thinking(text) == text


@given(st.integers(min_value=1, max_value=199), st.booleans())
def test_what_is_read_can_be_written_as_json_again(depth: int, lists: bool) -> None:
    opening, closing = ("[", "]") if lists else ('{"a":', "}")
    inner = f"{opening * depth}{'' if lists else 1}{closing * depth}"
    decision = read(f'{{"price": 5, "extra": {inner}}}', Deal, "last").decision
    assert Deal.model_validate_json(decision.model_dump_json()) == decision
